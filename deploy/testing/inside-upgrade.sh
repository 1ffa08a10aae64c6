#!/bin/sh
# Runs as a service of the machine of boot-systemd.sh: install.sh from one bundle with rules of its own, an upgrade to a
# newer one, one to a release that never is healthy, and the older one once more; all without a network, under clients
# that never stop.
set -eu
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
cd /root
# shellcheck disable=SC1091 # it lies beside this script in the machine
. ./api.sh
load() { cut -d ' ' -f 1 /proc/loadavg; }
began=$(date +%s%N)
old/install.sh -y --native >install.log 2>&1 || { cat install.log; exit 1; }
echo "installed-ms: $((($(date +%s%N) - began) / 1000000)), load $(load)"
node=/usr/lib/gatehouse/runtime/node
cp "$(readlink -f "$node")" node
cp /etc/gatehouse/.env before.env
# rules that no release has of its own: with others the word would pass, and the address would be let in
own='{"custom_rules":[{"id":1000001,"name":"zorkmid","kind":"visual","variable":"ARGS","operator":"contains","value":"zorkmid","action":"block","phase":2}]}'
log_in
ask PATCH /api/settings "$own" >/dev/null
ask POST /api/apply >/dev/null
word='http://127.0.0.1:8080/search?q=zorkmid'
until [ "$(curl -s -o /dev/null -w '%{http_code}' "$word")" = 403 ]; do sleep 0.5; done

# Runs a command while clients ask; prints their figures.
steadily() { # NAME COMMAND…
  name=$1
  shift
  mkfifo input
  ./node steady-client.mjs 'http://127.0.0.1:8080/search?q=1%27%20OR%20%271%27=%271%27%20--%20' 403 "$word" 403 \
    'http://127.0.0.1:8080/search?q=lamp' 200 http://127.0.0.1:3010/ 200 <input >figures 2>&1 &
  client=$!
  exec 7>input
  sleep 2
  code=0
  "$@" || code=$?
  sleep 2
  exec 7>&-
  wait $client
  rm input
  echo "$name: $(cat figures), load $(load)"
  return "$code"
}
newer() { new/install.sh -y --native >upgrade.log 2>&1; }
steadily 'upgrade' newer || { cat upgrade.log; journalctl -q -n 60 -u 'gatehouse-*'; exit 1; }
echo "current: $(readlink /opt/gatehouse/current)"
# a newer release may add lines, and loses or changes none; names only are told: values are secrets
lost=$(diff before.env /etc/gatehouse/.env | sed -n 's/^< \([A-Z0-9_]*\).*/\1/p' | tr '\n' ' ')
echo "settings: ${lost:-the same}"
echo "running: $(tr '\0' ' ' <"/proc/$(systemctl show -p MainPID --value gatehouse-data-plane)/cmdline")"
log_in
echo "own rules: $(ask GET /api/settings | grep -c '"value":"zorkmid"')"
if old/install.sh -y --native >downgrade.log 2>&1; then echo 'downgrade: done'
else echo "downgrade: refused: $(sed -n 's/^ *FAIL data *//p' downgrade.log | tr -s ' ')"; fi
echo "after the downgrade: $(readlink /opt/gatehouse/current), $(curl -s -o /dev/null -w '%{http_code}' "$word")"
if [ -d broken ]; then
  export GATEHOUSE_HEALTH_SECONDS="${BROKEN_SECONDS:-30}"
  spoilt() { broken/install.sh -y --native >broken.log 2>&1; }
  steadily 'release that does not start' spoilt && { cat broken.log; exit 1; }
  grep 'going back\|serves again' broken.log || cat broken.log
  echo "returned: $(readlink /opt/gatehouse/current), $(ls /opt/gatehouse/upgrade 2>/dev/null || echo 'nothing left half done')"
  log_in
  echo "own rules after it: $(ask GET /api/settings | grep -c '"value":"zorkmid"')"
fi
new/uninstall.sh --purge -y >uninstall.log 2>&1 || { cat uninstall.log; exit 1; }
systemctl list-units --all --no-legend 'gatehouse-*' | grep -v gatehouse-test || echo 'uninstalled: no unit left'
