#!/bin/sh
# Removes what install.sh installed. Data, settings and backups stay, unless --purge says otherwise: then everything
# that is deleted is named first.
set -eu

usage() {
  cat <<'USAGE'
usage: uninstall.sh [--purge] [-y] [--root DIR]
  --purge     delete settings, secrets, database, logs and backups, too
  -y          no questions
  --root DIR  as given to install.sh
USAGE
}
purge=no yes=no root=''
while [ $# -gt 0 ]; do
  case $1 in
  --purge) purge=yes; shift ;;
  -y | --yes) yes=yes; shift ;;
  --root)
    [ $# -ge 2 ] || { usage >&2; exit 2; }
    root=${2%/}
    shift 2
    ;;
  -h | --help) usage; exit 0 ;;
  *) printf 'uninstall: there is no option %s.\n' "$1" >&2; usage >&2; exit 2 ;;
  esac
done
[ -n "$root" ] || [ "$(id -u)" = 0 ] || { echo 'uninstall: this needs root; run it with sudo.' >&2; exit 1; }

prefix=$root/opt/gatehouse
services='gatehouse-console gatehouse-data-plane gatehouse-control-plane gatehouse-demo'
programs="$prefix"
links="/usr/lib/gatehouse /usr/bin/gatehouse /usr/share/bash-completion/completions/gatehouse
/usr/share/man/man8/gatehouse.8.gz /etc/logrotate.d/gatehouse"
for service in $services; do links="$links /etc/systemd/system/$service.service"; done
data="$root/etc/gatehouse $root/var/lib/gatehouse $root/var/lib/gatehouse-installer $root/var/log/gatehouse $root/var/backups/gatehouse"

list() { # WORD PATHS…: what is there, with its size
  word=$1
  shift
  for path in "$@"; do
    if [ -e "$path" ] || [ -L "$path" ]; then printf '  %-8s %-45s %s\n' "$word" "$path" "$(du -sh "$path" 2>/dev/null | cut -f 1)"; fi
  done
}
ours() { # whether a link leads into this installation, so that a package's own files stay
  case $(readlink "$1" 2>/dev/null || true) in /opt/gatehouse/*) return 0 ;; *) return 1 ;; esac
}

if [ -d "$root/usr/lib/gatehouse" ] && [ ! -L "$root/usr/lib/gatehouse" ]; then
  echo 'uninstall: the package gatehouse is installed here; nothing was deleted.' >&2
  echo '  Fix: apt-get remove gatehouse (data stay), or apt-get purge gatehouse' >&2
  exit 1
fi
found=
for path in $programs $data; do [ ! -e "$path" ] || found=yes; done
[ -n "$found" ] || { echo 'Nothing of Gatehouse is installed here.'; exit 0; }
engine=$(cat "$prefix/engine" 2>/dev/null || true)
echo 'These will be deleted:'
# shellcheck disable=SC2086 # one word a path; none has white space but --root's own
list delete $programs
for path in $links; do if ours "$root$path"; then printf '  %-8s %s\n' delete "$root$path"; fi; done
[ -n "$root" ] || [ ! -e /etc/gatehouse-harden ] || echo '  delete   the limits of this host (gatehouse harden)'
[ -z "$engine" ] || echo "  delete   the containers of $prefix/compose.yaml ($engine)"
if [ $purge = yes ]; then
  # shellcheck disable=SC2086
  list delete $data
  [ -z "$engine" ] || echo '  delete   the volumes of those containers: database, settings, artifacts'
  [ -n "$root" ] || ! id gatehouse >/dev/null 2>&1 || echo '  delete   the user gatehouse'
else
  # shellcheck disable=SC2086
  list keep $data
fi
if [ $yes = no ]; then
  [ -t 0 ] || { echo 'uninstall: there is nobody to ask; add -y.' >&2; exit 1; }
  printf 'Delete them? [y/N] '
  read -r answer
  case $answer in [yY]*) ;; *) echo 'Nothing was deleted.'; exit 1 ;; esac
fi

# while the program is still here; what it set otherwise stays for good
if [ -z "$root" ] && [ -e /etc/gatehouse-harden ] && [ -x /usr/bin/gatehouse ]; then
  /usr/bin/gatehouse harden --remove || echo 'uninstall: the limits of this host stay: nft delete table inet gatehouse_harden' >&2
fi
if [ -d /run/systemd/system ] && [ -z "$root" ]; then
  for service in $services; do systemctl disable --quiet --now "$service.service" 2>/dev/null || true; done
fi
pid=$(cat "$root/run/gatehouse/up.pid" 2>/dev/null || true)
if [ -n "$pid" ] && tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -q 'gatehouse.* up'; then
  kill -TERM "$pid" 2>/dev/null || true
  tries=0
  while kill -0 "$pid" 2>/dev/null && [ $tries -lt 300 ]; do sleep 0.2; tries=$((tries + 1)); done
  kill -KILL "$pid" 2>/dev/null || true
fi
if [ -n "$engine" ]; then
  # as install.sh does it: Compose reads the whole file, and takes IPv6 addresses to publish in brackets
  for name in ADMIN_BIND WAF_BIND; do
    address=$(sed -n "s/^$name=//p" "$root/etc/gatehouse/.env" 2>/dev/null | tail -n 1)
    case $address in *:*:*) export "$name=[$address]" ;; esac
  done
  set -- down --remove-orphans
  [ $purge = no ] || set -- "$@" --volumes
  set -- --profile small --profile full "$@"
  [ ! -f "$root/etc/gatehouse/compose.override.yaml" ] || set -- -f "$root/etc/gatehouse/compose.override.yaml" "$@"
  (cd "$prefix" && GATEHOUSE_VERSION=$(cat version) "$engine" compose -p gatehouse --env-file "$root/etc/gatehouse/.env" -f compose.yaml "$@") || { echo 'uninstall: the containers could not be removed; nothing else was deleted.' >&2; exit 1; }
fi
for path in $links; do if ours "$root$path"; then rm -f "$root$path"; fi; done
rm -rf "$prefix" "$root/run/gatehouse"
if [ $purge = yes ]; then
  # shellcheck disable=SC2086
  rm -rf $data
  [ -n "$root" ] || ! id gatehouse >/dev/null 2>&1 || userdel gatehouse 2>/dev/null || true
  echo 'Gatehouse and all of its data are deleted.'
else
  echo "Gatehouse is removed; settings and data stay in $root/etc/gatehouse and $root/var/lib/gatehouse."
fi
if [ -d /run/systemd/system ] && [ -z "$root" ]; then systemctl daemon-reload; fi
