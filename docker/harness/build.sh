#!/usr/bin/env bash
# Builds the image of the harness, bird-harness/harness, of Debian packages and of what requirements/run.txt locks:
# `docker/harness/build.sh`, in a checkout in which `make` has installed the project. It needs what `make images`
# needs, no registry among it: apt with a Debian mirror, a package index, and the right to use Docker.
set -euo pipefail
cd "$(dirname "$0")/../.."

python=.venv/bin/python
[ -x "$python" ] && [ -f requirements/run.txt ] || {
    echo 'docker/harness/build.sh: needs a checkout; `make status` installs the project into .venv' >&2
    exit 2
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The same way that the images of the servers come to be, libstdc++ for the wheels of NumPy and SciPy.
read -r root version < <("$python" -c '
from harness.provision import images, packages

root = packages.unpacked("Python", ("python3", "ca-certificates", "libstdc++6", *images.SYSTEM))
print(root.folder, root.version)
')
uv=$(command -v uv || echo .venv/bin/uv)
"$uv" pip install --quiet --target "$scratch/site" --python-version "$version" --only-binary :all: \
    --require-hashes -r requirements/run.txt
"$python" -m hatchling build --target wheel --directory "$scratch" 2>/dev/null
"$python" -m zipfile --extract "$scratch"/bird_harness-*.whl "$scratch/site"
cp docker/harness/Dockerfile "$scratch"

image="bird-harness/harness:$("$python" -c 'import harness; print(harness.__version__)')"
tar --create --directory "$root" --owner=0 --group=0 --numeric-owner . | docker import - bird-harness/harness-base >/dev/null
docker build --quiet --build-arg BASE=bird-harness/harness-base --tag "$image" --tag bird-harness/harness:latest "$scratch" >/dev/null
docker image rm bird-harness/harness-base >/dev/null
echo "$image is built; \`docker compose run --rm harness eval --dialect all\` uses it"
