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
# A restore needs the control plane stopped, which root can do here. The data plane goes on serving, and begins anew on its
# sockets with what was restored. Whatever becomes of the restore, the control plane comes back.
run=${GATEHOUSE_RUN:-/run}
mark=$run/gatehouse-restoring
restores_itself() {
  [ "${1:-}" = restore ] && [ -z "${GATEHOUSE_RESTORING:-}" ] && [ "$(id -u)" = 0 ] && [ -d "$run/systemd/system" ] || return 1
  case " $* " in *' -y '* | *' --yes '*) ;; *) return 1 ;; esac
  # one that was killed has left its mark, and the control plane stopped
  systemctl is-active --quiet gatehouse-control-plane.service || [ -e "$mark" ]
}
if restores_itself "$@"; then
  : >"$mark"
  trap 'systemctl start gatehouse-control-plane.service && rm -f "$mark"' EXIT
  trap 'exit 130' HUP INT TERM
  systemctl stop gatehouse-control-plane.service
  GATEHOUSE_RESTORING=1 "$0" "$@"
  systemctl try-restart gatehouse-data-plane.service
  echo 'It runs again, with what was restored.'
  exit 0
fi
user=${GATEHOUSE_USER-gatehouse}
if [ "${1:-}" != harden ] && [ -n "$user" ] && [ "$(id -u)" = 0 ] && id "$user" >/dev/null 2>&1; then
  HOME=$state
  export HOME
  set -- "$home/runtime/node" "$home/bin/gatehouse" "$@"
  # Ports below 1024, as the units have them (AmbientCapabilities=); where there is nothing to give it goes without.
  case ${3:-} in up | data-plane)
    low='--inh-caps=-all,+net_bind_service --ambient-caps=-all,+net_bind_service --bounding-set=-all,+net_bind_service'
    # shellcheck disable=SC2086 # one word an option
    if setpriv --reuid "$user" --regid "$user" --init-groups $low -- true 2>/dev/null; then
      exec setpriv --reuid "$user" --regid "$user" --init-groups $low -- "$@"
    fi
    ;;
  esac
  exec setpriv --reuid "$user" --regid "$user" --init-groups -- "$@"
fi
exec "$home/runtime/node" "$home/bin/gatehouse" "$@"
