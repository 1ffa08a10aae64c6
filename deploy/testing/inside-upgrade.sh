#!/bin/sh
# Runs as a service of the machine of boot-systemd.sh: install.sh from one bundle, then an upgrade by install.sh from a
# newer one, both without a network, under clients that never stop.
set -eu
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
cd /root
began=$(date +%s%N)
old/install.sh -y --native >install.log 2>&1 || { cat install.log; exit 1; }
echo "installed-ms: $((($(date +%s%N) - began) / 1000000)), load $(cut -d ' ' -f 1 /proc/loadavg)"
node=/usr/lib/gatehouse/runtime/node
cp "$(readlink -f "$node")" node
cp /etc/gatehouse/.env before.env
mkfifo input
./node steady-client.mjs 'http://127.0.0.1:8080/search?q=1%27%20OR%20%271%27=%271%27%20--%20' 403 \
  'http://127.0.0.1:8080/search?q=lamp' 200 http://127.0.0.1:3010/ 200 <input >figures 2>&1 &
client=$!
exec 7>input
sleep 2
new/install.sh -y --native >upgrade.log 2>&1 || { cat upgrade.log; exit 1; }
sleep 2
exec 7>&-
wait $client
echo "upgrade: $(cat figures), load $(cut -d ' ' -f 1 /proc/loadavg)"
echo "current: $(readlink /opt/gatehouse/current)"
# a newer release may add lines, and loses or changes none; names only are told: values are secrets
lost=$(diff before.env /etc/gatehouse/.env | sed -n 's/^< \([A-Z0-9_]*\).*/\1/p' | tr '\n' ' ')
echo "settings: ${lost:-the same}"
echo "running: $(tr '\0' ' ' <"/proc/$(systemctl show -p MainPID --value gatehouse-data-plane)/cmdline")"
new/uninstall.sh --purge -y >uninstall.log 2>&1 || { cat uninstall.log; exit 1; }
systemctl list-units --all --no-legend 'gatehouse-*' | grep -v gatehouse-test || echo 'uninstalled: no unit left'
