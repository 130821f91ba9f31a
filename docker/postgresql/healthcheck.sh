#!/usr/bin/env bash
# Healthy: the real server answers a query by TCP. The one that runs while a volume is initialised has no port.
set -euo pipefail

user=${POSTGRES_USER:-postgres}
password=${POSTGRES_PASSWORD:-}
if [[ -n ${POSTGRES_USER_FILE:-} ]]; then
    user=$(<"$POSTGRES_USER_FILE")
fi
if [[ -n ${POSTGRES_PASSWORD_FILE:-} ]]; then
    password=$(<"$POSTGRES_PASSWORD_FILE")
fi
# A server that refuses the password (it was changed) is up as well.
answer=$(PGPASSWORD=$password psql --no-psqlrc --no-password --host=127.0.0.1 --username="$user" \
    --dbname=postgres --command='SELECT 1' 2>&1) || [[ $answer == *'authentication failed'* ]]
