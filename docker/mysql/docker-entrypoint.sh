#!/usr/bin/env bash
# Entry point with the interface of the official MySQL image: initialises an empty volume once, as the MYSQL_*
# variables say, then becomes the server. A volume counts as initialised only when all of that is done, so a
# container that is killed half-way starts over.
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

literal() {
    local text=${1//\\/\\\\}
    text=${text//\'/\'\'}
    printf "'%s'" "${text//$'\n'/\\n}"
}

# shellcheck disable=SC2016 # backquotes are MySQL's quotes
identifier() { printf '`%s`' "${1//\`/\`\`}"; }

# One statement a line: the server reads this file while it initialises, and no query is ever answered by an
# account without its password.
accounts_and_databases() {
    local password root_host=${MYSQL_ROOT_HOST-%}
    password=$(literal "${MYSQL_ROOT_PASSWORD:-}")
    echo "ALTER USER 'root'@'localhost' IDENTIFIED BY $password;"
    if [[ -n $root_host && $root_host != localhost ]]; then
        echo "CREATE USER 'root'@$(literal "$root_host") IDENTIFIED BY $password;"
        echo "GRANT ALL ON *.* TO 'root'@$(literal "$root_host") WITH GRANT OPTION;"
    fi
    if [[ -n ${MYSQL_DATABASE:-} ]]; then
        echo "CREATE DATABASE IF NOT EXISTS $(identifier "$MYSQL_DATABASE");"
    fi
    if [[ -n ${MYSQL_USER:-} && -n ${MYSQL_PASSWORD:-} ]]; then
        echo "CREATE USER $(literal "$MYSQL_USER")@'%' IDENTIFIED BY $(literal "$MYSQL_PASSWORD");"
        if [[ -n ${MYSQL_DATABASE:-} ]]; then
            # An underscore in a grant stands for any character.
            echo "GRANT ALL ON $(identifier "${MYSQL_DATABASE//_/\\_}").* TO $(literal "$MYSQL_USER")@'%';"
        fi
    fi
    if [[ -z ${MYSQL_INITDB_SKIP_TZINFO:-} ]]; then
        echo 'USE mysql;'
        mysql_tzinfo_to_sql /usr/share/zoneinfo 2>/dev/null | tr '\n' ' ' | sed 's/; */;\n/g'
    fi
}

# For *.sql and for sourced *.sh files in /docker-entrypoint-initdb.d.
docker_process_sql() {
    MYSQL_PWD=${MYSQL_ROOT_PASSWORD:-} mysql --no-defaults --protocol=SOCKET --socket="$initial_socket" \
        --user=root --comments ${MYSQL_DATABASE:+--database="$MYSQL_DATABASE"} "$@"
}

run_scripts() {
    local script
    for script; do
        say "running $script"
        case $script in
            *.sql) docker_process_sql <"$script" ;;
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

# Scripts talk to a server that nobody else can reach: it has a socket and no port.
with_initial_server() {
    local data=$1 server
    shift
    mysqld "${options[@]}" --datadir="$data" --skip-networking --mysqlx=OFF --socket="$initial_socket" &
    server=$!
    until docker_process_sql --execute='DO 0' >/dev/null 2>&1; do
        kill -0 "$server" 2>/dev/null || fail 'the server stopped while the volume was being initialised'
        sleep 0.2
    done
    "$@"
    kill -TERM "$server"
    wait "$server"
}

initialise() {
    # Not a hidden folder: InnoDB does not look for its files in one.
    local staging=$datadir/initialising secret entry name scripts=(/docker-entrypoint-initdb.d/*)
    if [[ -n ${MYSQL_RANDOM_ROOT_PASSWORD:-} ]]; then
        MYSQL_ROOT_PASSWORD=$(od -An -N18 -tx1 /dev/urandom | tr -d ' \n')
        export MYSQL_ROOT_PASSWORD
        say "GENERATED ROOT PASSWORD: $MYSQL_ROOT_PASSWORD"
    elif [[ -z ${MYSQL_ROOT_PASSWORD:-} && -z ${MYSQL_ALLOW_EMPTY_PASSWORD:-} ]]; then
        fail 'the volume is empty: set MYSQL_ROOT_PASSWORD, MYSQL_ALLOW_EMPTY_PASSWORD or MYSQL_RANDOM_ROOT_PASSWORD'
    fi
    [[ ${MYSQL_USER:-} != root ]] || fail 'MYSQL_USER is for a further account; root is there in any case'

    say "initialising $datadir"
    rm -rf "$staging"
    secret=$(mktemp)
    accounts_and_databases >"$secret"
    mysqld "${options[@]}" --datadir="$staging" --initialize-insecure --init-file="$secret"
    rm "$secret"
    if ((${#scripts[@]})); then
        with_initial_server "$staging" run_scripts "${scripts[@]}"
    fi
    # The folder `mysql` is what makes a volume count as initialised: it is moved last.
    for entry in "$staging"/*; do
        name=${entry##*/}
        [[ $name != mysql ]] || continue
        rm -rf "${datadir:?}/$name"
        mv "$entry" "$datadir/$name"
    done
    mv "$staging/mysql" "$datadir/mysql"
    rm -rf "$staging"
    say 'initialised'
}

if [[ ${1:-} == -* ]]; then
    set -- mysqld "$@"
fi
asks_only=
for argument; do
    case $argument in
        -'?' | --help | --print-defaults | -V | --version) asks_only=yes ;;
    esac
done
if [[ ${1:-} != mysqld || -n $asks_only ]]; then
    exec "$@"
fi
options=("${@:2}")
initial_socket=/run/mysqld/initialising.sock

# The server knows best where a configuration file or an argument puts its data.
datadir=$(mysqld "${options[@]}" --verbose --help 2>/dev/null | sed -n 's/^datadir  *//p')
datadir=${datadir%/}
[[ -n $datadir ]] || fail "mysqld does not accept its settings: $(mysqld "${options[@]}" --verbose --help 2>&1 >/dev/null | tail -n 1)"

for variable in MYSQL_ROOT_HOST MYSQL_ROOT_PASSWORD MYSQL_DATABASE MYSQL_USER MYSQL_PASSWORD; do
    from_file "$variable"
done
if [[ $(id -u) == 0 ]]; then
    mkdir -p "$datadir"
    find "$datadir" /run/mysqld \! -user mysql -exec chown mysql: {} +
    exec setpriv --reuid=mysql --regid=mysql --init-groups "$0" "$@"
fi
if [[ ! -d $datadir/mysql ]]; then
    initialise
fi
# The server needs none of them, and whatever it starts should not find them.
unset MYSQL_ROOT_PASSWORD MYSQL_PASSWORD
exec mysqld "${options[@]}"
