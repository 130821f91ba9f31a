#!/usr/bin/env bash
# Initialises an empty volume once, with root's password from MARIADB_ROOT_PASSWORD or the file that
# MARIADB_ROOT_PASSWORD_FILE names, then becomes the server. A volume counts as initialised only when that is done,
# so a container that is killed half-way starts over.
set -Eeuo pipefail
shopt -s nullglob

say() { printf '%s [entrypoint] %s\n' "$(date --utc --iso-8601=seconds)" "$*" >&2; }

fail() {
    say "ERROR: $*"
    exit 1
}

literal() {
    local text=${1//\\/\\\\}
    text=${text//\'/\'\'}
    printf "'%s'" "${text//$'\n'/\\n}"
}

if [[ ${1:-} == -* ]]; then
    set -- mariadbd "$@"
fi
if [[ ${1:-} != mariadbd || " $* " == *' --version '* || " $* " == *' --help '* ]]; then
    exec "$@"
fi
datadir=/var/lib/mysql
if [[ $(id -u) == 0 ]]; then
    find "$datadir" /run/mysqld \! -user mysql -exec chown mysql: {} +
    exec setpriv --reuid=mysql --regid=mysql --init-groups "$0" "$@"
fi

if [[ ! -d $datadir/mysql ]]; then
    password=${MARIADB_ROOT_PASSWORD:-}
    if [[ -n ${MARIADB_ROOT_PASSWORD_FILE:-} ]]; then
        password=$(<"$MARIADB_ROOT_PASSWORD_FILE")
    fi
    [[ -n $password ]] || fail 'the volume is empty: set MARIADB_ROOT_PASSWORD'
    say "initialising $datadir"
    staging=$datadir/initialising
    rm -rf "$staging"
    mkdir "$staging"
    shares=(/usr/share/mariadb /usr/share/mysql)
    share=$(for each in "${shares[@]}"; do [[ ! -d $each ]] || echo "$each"; done | head -n 1)
    {
        printf '%s\n' 'CREATE DATABASE mysql;' 'USE mysql;'
        cat "$share"/mariadb_system_tables.sql "$share"/mariadb_system_tables_data.sql "$share"/mariadb_performance_tables.sql
        printf '%s\n' "DELETE FROM mysql.global_priv WHERE User = 'root';" 'FLUSH PRIVILEGES;' \
            "CREATE USER 'root'@'%' IDENTIFIED BY $(literal "$password");" \
            "GRANT ALL ON *.* TO 'root'@'%' WITH GRANT OPTION;"
    } | mariadbd "${@:2}" --datadir="$staging" --bootstrap
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
fi
# The server does not need it, and whatever it starts should not find it.
unset MARIADB_ROOT_PASSWORD
exec "$@"
