#!/usr/bin/env bash
# Entry point of an image that has databases inside. At the first start it fills an empty volume with them and
# gives root the password that is asked for; then, and at every later start, the plain image's entry point goes
# on. A volume counts as filled only when root's password is set, so a container that is killed half-way starts
# over.
#
# With --pack FOLDER, while the image is made: takes every account's password away and copies the folder into the
# image.
set -Eeuo pipefail
shopt -s nullglob

snapshot=/usr/local/share/bird-harness/data
datadir=/var/lib/mysql

say() { printf '%s [loaded] %s\n' "$(date --utc --iso-8601=seconds)" "$*" >&2; }

fail() {
    say "ERROR: $*"
    exit 1
}

literal() {
    local text=${1//\\/\\\\}
    text=${text//\'/\'\'}
    printf "'%s'" "${text//$'\n'/\\n}"
}

# Runs the statements of standard input, one a line, on the data in $1 by a server that nobody else can reach: it
# has no port, and ends before it accepts its first connection.
run_statements() {
    local data=$1 place said
    place=$(mktemp -d)
    cat >"$place/statements"
    echo 'SHUTDOWN;' >>"$place/statements"
    [[ $(id -u) != 0 ]] || chown -R mysql: "$place"
    if ! mysqld --user=mysql --datadir="$data" --init-file="$place/statements" --skip-networking --mysqlx=OFF \
        --socket="$place/socket" --pid-file="$place/pid" --innodb-redo-log-capacity=8M \
        --innodb-buffer-pool-size=64M >"$place/log" 2>&1; then
        said=$(grep -F '[ERROR]' "$place/log" | tail -n 1)
        rm -rf "$place"
        fail "the server did not start on the loaded data: $said"
    fi
    rm -rf "$place"
}

random() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }

# Nobody knows the passwords that are left: they are made up here and kept nowhere. root is locked besides.
# Identity and keys of the server are made anew in every volume.
pack() {
    local data=$1 host
    {
        for host in localhost %; do
            echo "ALTER USER 'root'@'$host' IDENTIFIED BY '$(random)' ACCOUNT LOCK;"
        done
        echo "ALTER USER IF EXISTS 'bird_reader'@'%' IDENTIFIED BY '$(random)';"
        echo 'SET GLOBAL innodb_fast_shutdown = 0;'
    } | run_statements "$data"
    rm -f "$data"/*.pem "$data"/auto.cnf "$data"/ib_buffer_pool
    mkdir -p "${snapshot%/*}"
    cp --archive "$data" "$snapshot"
    chmod 0755 "$0"
}

fill() {
    # Not a hidden folder: InnoDB does not look for its files in one.
    local staging=$datadir/filling name password entry host
    for name in MYSQL_DATABASE MYSQL_USER MYSQL_ROOT_HOST MYSQL_RANDOM_ROOT_PASSWORD MYSQL_ALLOW_EMPTY_PASSWORD; do
        [[ -z ${!name:-} ]] || fail "$name is for an empty image, and this one has databases inside; unset it"
    done
    for entry in /docker-entrypoint-initdb.d/*; do
        fail "$entry is for an empty image, and this one has databases inside; do not mount it"
    done
    password=${MYSQL_ROOT_PASSWORD:-}
    if [[ -n ${MYSQL_ROOT_PASSWORD_FILE:-} ]]; then
        password=$(<"$MYSQL_ROOT_PASSWORD_FILE")
    fi
    [[ -n $password ]] || fail 'the volume is empty: set MYSQL_ROOT_PASSWORD'

    say "filling $datadir with the databases of the image"
    mkdir -p "$datadir"
    rm -rf "$staging"
    cp --archive "$snapshot" "$staging" || fail "$datadir could not be filled: is its disk full?"
    for host in localhost %; do
        echo "ALTER USER 'root'@'$host' IDENTIFIED BY $(literal "$password") ACCOUNT UNLOCK;"
    done | run_statements "$staging"
    # The folder `mysql` is what makes a volume count as initialised: it is moved last.
    for entry in "$staging"/*; do
        name=${entry##*/}
        [[ $name != mysql ]] || continue
        rm -rf "${datadir:?}/$name"
        mv "$entry" "$datadir/$name"
    done
    mv "$staging/mysql" "$datadir/mysql"
    rm -rf "$staging"
    say 'filled'
}

# Whether the arguments start a server that stores where the databases belong.
serves() {
    local argument
    [[ ${1:-} == mysqld || ${1:-} == -* ]] || return
    for argument; do
        case $argument in
            -'?' | --help | --print-defaults | -V | --version | --datadir | --datadir=*) return 1 ;;
        esac
    done
}

if [[ ${1:-} == --pack ]]; then
    pack "$2"
    exit
fi
if serves "$@" && [[ ! -d $datadir/mysql ]]; then
    fill
fi
exec docker-entrypoint.sh "$@"
