#!/usr/bin/env bash
# Entry point with the interface of the official PostgreSQL image: initialises an empty volume once, as the
# POSTGRES_* variables say, then becomes the server. A volume counts as initialised only when all of that is
# done, so a container that is killed half-way starts over.
set -Eeuo pipefail
shopt -s nullglob

say() { printf '%s [entrypoint] %s\n' "$(date --utc --iso-8601=seconds)" "$*" >&2; }

fail() {
    say "ERROR: $*"
    exit 1
}

# The value of variable $1, or the content of the file that $1_FILE names, ends up in $1.
from_file() {
    local name=$1 file=${1}_FILE
    if [[ -n ${!file:-} ]]; then
        [[ -z ${!name:-} ]] || fail "$name and $file are both set; set one of them"
        [[ -r ${!file} ]] || fail "$file names ${!file}, which cannot be read"
        export "$name=$(<"${!file}")"
    fi
    unset "$file"
}

# For *.sql and for sourced *.sh files in /docker-entrypoint-initdb.d.
docker_process_sql() {
    PGPASSWORD=${POSTGRES_PASSWORD:-} psql --no-psqlrc --no-password --set=ON_ERROR_STOP=1 \
        --host=/run/postgresql --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" "$@"
}

run_scripts() {
    local script
    for script; do
        say "running $script"
        case $script in
            *.sql) docker_process_sql --file="$script" ;;
            *.sh)
                if [[ -x $script ]]; then
                    "$script"
                else
                    # shellcheck source=/dev/null
                    . "$script"
                fi
                ;;
            *) say "ignored: $script is neither *.sh nor *.sql" ;;
        esac
    done
}

create_database_and_run() {
    if [[ $POSTGRES_DB != postgres ]]; then
        docker_process_sql --dbname=postgres --set=name="$POSTGRES_DB" <<<'CREATE DATABASE :"name"'
    fi
    run_scripts "$@"
}

# Scripts talk to a server that nobody else can reach: it has a socket and no port.
with_initial_server() {
    local data=$1 settings
    shift
    settings=$(printf '%q ' "${options[@]}" -c listen_addresses=)
    pg_ctl --pgdata="$data" --wait --silent --options="$settings" start
    "$@"
    pg_ctl --pgdata="$data" --wait --silent --mode=fast stop
}

initialise() {
    local staging=$PGDATA/.initialising password arguments=() entry name scripts=(/docker-entrypoint-initdb.d/*)
    local method=${POSTGRES_HOST_AUTH_METHOD:-scram-sha-256}
    if [[ -z ${POSTGRES_PASSWORD:-} && $method != trust ]]; then
        fail 'the volume is empty: set POSTGRES_PASSWORD (or POSTGRES_HOST_AUTH_METHOD=trust, which lets everybody in)'
    fi

    say "initialising $PGDATA"
    rm -rf "$staging"
    # The variable holds words as a shell would read them, quotes included.
    eval "arguments=(${POSTGRES_INITDB_ARGS:-})"
    if [[ -n ${POSTGRES_PASSWORD:-} ]]; then
        password=$(mktemp)
        printf '%s\n' "$POSTGRES_PASSWORD" >"$password"
        arguments+=(--pwfile="$password")
    fi
    initdb --pgdata="$staging" --username="$POSTGRES_USER" --set=listen_addresses='*' "${arguments[@]}"
    rm -f "${password:-}"
    printf '\nhost all all all %s\n' "$method" >>"$staging/pg_hba.conf"

    if [[ $POSTGRES_DB != postgres ]] || ((${#scripts[@]})); then
        with_initial_server "$staging" create_database_and_run "${scripts[@]}"
    fi

    # The file PG_VERSION is what makes a volume count as initialised: it is moved last.
    for entry in "$staging"/*; do
        name=${entry##*/}
        [[ $name != PG_VERSION ]] || continue
        rm -rf "${PGDATA:?}/$name"
        mv "$entry" "$PGDATA/$name"
    done
    mv "$staging/PG_VERSION" "$PGDATA/PG_VERSION"
    rm -rf "$staging"
    say 'initialised'
}

if [[ ${1:-} == -* ]]; then
    set -- postgres "$@"
fi
asks_only=
for argument; do
    case $argument in
        -'?' | --help | --describe-config | -V | --version) asks_only=yes ;;
    esac
done
if [[ ${1:-} != postgres || -n $asks_only ]]; then
    exec "$@"
fi
options=("${@:2}")

for variable in POSTGRES_PASSWORD POSTGRES_USER POSTGRES_DB POSTGRES_INITDB_ARGS; do
    from_file "$variable"
done
if [[ $(id -u) == 0 ]]; then
    mkdir -p "$PGDATA"
    find /var/lib/postgresql "$PGDATA" /run/postgresql \! -user postgres -exec chown postgres: {} +
    exec setpriv --reuid=postgres --regid=postgres --init-groups "$0" "$@"
fi
export POSTGRES_USER=${POSTGRES_USER:-postgres}
export POSTGRES_DB=${POSTGRES_DB:-$POSTGRES_USER}
mkdir -p "$PGDATA"
chmod 0700 "$PGDATA"
if [[ ! -s $PGDATA/PG_VERSION ]]; then
    initialise
fi
# The server needs it no more, and whatever it starts should not find it.
unset POSTGRES_PASSWORD
exec postgres "${options[@]}"
