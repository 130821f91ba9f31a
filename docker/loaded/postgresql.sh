#!/usr/bin/env bash
# Entry point of an image that has databases inside. At the first start it fills an empty volume with them and
# gives the administrator the password that is asked for; then, and at every later start, the plain image's entry
# point goes on. A volume counts as filled only when the password is set, so a container that is killed half-way
# starts over.
#
# With --pack FOLDER, while the image is made: takes every role's password away and copies the folder into the
# image.
set -Eeuo pipefail
shopt -s nullglob

snapshot=/usr/local/share/bird-harness/data

say() { printf '%s [loaded] %s\n' "$(date --utc --iso-8601=seconds)" "$*" >&2; }

fail() {
    say "ERROR: $*"
    exit 1
}

literal() { printf "'%s'" "${1//\'/\'\'}"; }

# Runs the statements of standard input on the data in $1, in single-user mode: without a server that anybody
# could reach. Each ends with a semicolon and an empty line. https://www.postgresql.org/docs/current/app-postgres.html
run_statements() {
    local data=$1 log as=() said
    if [[ $(id -u) == 0 ]]; then
        as=(setpriv --reuid=postgres --regid=postgres --init-groups)
    fi
    log=$(mktemp)
    if ! "${as[@]}" postgres --single -j -D "$data" -c exit_on_error=on -c log_statement=none \
        -c log_min_error_statement=panic -c max_wal_size=32MB -c min_wal_size=32MB \
        -c wal_level=minimal -c max_wal_senders=0 postgres >"$log" 2>&1; then
        said=$(<"$log")
        rm -f "$log"
        fail "the server did not start on the loaded data: ${said##*$'\n'}"
    fi
    rm -f "$log"
}

# Without a password nobody logs in: all accounts are asked for one, those on the socket, too.
pack() {
    local data=$1 role
    {
        for role in postgres bird_reader; do
            printf 'ALTER ROLE %s PASSWORD NULL;\n\n' "$role"
        done
        printf 'CHECKPOINT;\n\n'
    } | run_statements "$data"
    rm -f "$data/postmaster.opts"
    mkdir -p "${snapshot%/*}"
    cp --archive "$data" "$snapshot"
    chmod 0755 "$0"
}

fill() {
    local staging=$PGDATA/.filling name password entry
    [[ ${POSTGRES_USER:-postgres} == postgres ]] || fail 'POSTGRES_USER: the administrator of these databases is postgres'
    [[ ${POSTGRES_DB:-postgres} == postgres ]] || fail 'POSTGRES_DB is for an empty image, and this one has databases inside'
    [[ -z ${POSTGRES_HOST_AUTH_METHOD:-} ]] || fail 'POSTGRES_HOST_AUTH_METHOD is for an empty image'
    for entry in /docker-entrypoint-initdb.d/*; do
        fail "$entry is for an empty image, and this one has databases inside; do not mount it"
    done
    password=${POSTGRES_PASSWORD:-}
    if [[ -n ${POSTGRES_PASSWORD_FILE:-} ]]; then
        password=$(<"$POSTGRES_PASSWORD_FILE")
    fi
    [[ -n $password ]] || fail 'the volume is empty: set POSTGRES_PASSWORD'

    say "filling $PGDATA with the databases of the image"
    mkdir -p "$PGDATA"
    rm -rf "$staging"
    cp --archive "$snapshot" "$staging" || fail "$PGDATA could not be filled: is its disk full?"
    printf 'ALTER ROLE postgres PASSWORD %s;\n\n' "$(literal "$password")" | run_statements "$staging"
    # The file PG_VERSION is what makes a volume count as initialised: it is moved last.
    for entry in "$staging"/*; do
        name=${entry##*/}
        [[ $name != PG_VERSION ]] || continue
        rm -rf "${PGDATA:?}/$name"
        mv "$entry" "$PGDATA/$name"
    done
    mv "$staging/PG_VERSION" "$PGDATA/PG_VERSION"
    rm -rf "$staging"
    say 'filled'
}

# Whether the arguments start a server.
serves() {
    local argument
    [[ ${1:-} == postgres || ${1:-} == -* ]] || return
    for argument; do
        case $argument in
            -'?' | --help | --describe-config | -V | --version) return 1 ;;
        esac
    done
}

if [[ ${1:-} == --pack ]]; then
    pack "$2"
    exit
fi
if serves "$@" && [[ ! -s $PGDATA/PG_VERSION ]]; then
    fill
fi
exec docker-entrypoint.sh "$@"
