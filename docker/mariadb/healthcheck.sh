#!/usr/bin/env bash
# Healthy: the server answers a query by TCP. None runs while a volume is initialised.
set -euo pipefail

password=${MARIADB_ROOT_PASSWORD:-}
if [[ -n ${MARIADB_ROOT_PASSWORD_FILE:-} ]]; then
    password=$(<"$MARIADB_ROOT_PASSWORD_FILE")
fi
# A server that refuses the password (it was changed) is up as well: error 1045 is its answer.
answer=$(MYSQL_PWD=$password mariadb --protocol=TCP --host=127.0.0.1 --user=root --execute='SELECT 1' 2>&1) ||
    [[ $answer == *'ERROR 1045'* ]]
