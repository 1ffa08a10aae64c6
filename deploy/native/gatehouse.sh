#!/bin/sh
# /usr/bin/gatehouse: the command line of an installed release. Started by root it becomes the user of the service, so
# that no file below /var/lib/gatehouse belongs to anybody else; `harden` alone needs root.
set -eu
# The link may lead into a release directory: resolved once, a process keeps its own release after an upgrade.
program=$(readlink -f "$0")
home=${program%/bin/gatehouse}/lib/gatehouse
state=${GATEHOUSE_STATE:-/var/lib/gatehouse}
: "${GATEHOUSE_ENV_FILE:=${GATEHOUSE_CONFIG:-/etc/gatehouse}/.env}"
: "${GATEHOUSE_DATA:=$state}"
export GATEHOUSE_ENV_FILE GATEHOUSE_DATA NODE_ENV=production
user=${GATEHOUSE_USER-gatehouse}
if [ "${1:-}" != harden ] && [ -n "$user" ] && [ "$(id -u)" = 0 ] && id "$user" >/dev/null 2>&1; then
  HOME=$state
  export HOME
  exec setpriv --reuid "$user" --regid "$user" --init-groups -- \
    "$home/runtime/node" "$home/bin/gatehouse" "$@"
fi
exec "$home/runtime/node" "$home/bin/gatehouse" "$@"
