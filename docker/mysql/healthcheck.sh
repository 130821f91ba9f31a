#!/usr/bin/env bash
# Healthy: the real server answers a query by TCP. The one that runs while a volume is initialised has no port.
set -euo pipefail

password=${MYSQL_ROOT_PASSWORD:-}
if [[ -n ${MYSQL_ROOT_PASSWORD_FILE:-} ]]; then
    password=$(<"$MYSQL_ROOT_PASSWORD_FILE")
fi
# A server that refuses the password (it was changed, or generated) is up as well: error 1045 is its answer.
answer=$(MYSQL_PWD=$password mysql --protocol=TCP --host=127.0.0.1 --user=root --execute='SELECT 1' 2>&1) ||
    [[ $answer == *'ERROR 1045'* ]]
