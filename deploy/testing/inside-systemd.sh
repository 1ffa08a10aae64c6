#!/bin/sh
# Runs as a service of the machine of boot-systemd.sh: the package under dpkg, restarts and a crash under a client that
# never stops, the watchdog.
set -eu
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive
cd /root
node=/usr/lib/gatehouse/runtime/node
dpkg -i ./gatehouse.deb >dpkg.log 2>&1 || { cat dpkg.log; exit 1; }
echo "dpkg: $(dpkg-query -W -f '${db:Status-Status}' gatehouse)"
services='gatehouse-demo gatehouse-control-plane gatehouse-console gatehouse-data-plane'
# shellcheck disable=SC2086 # one word a service
systemctl start $services
# shellcheck disable=SC2086
echo "active: $(systemctl is-active $services | sort | uniq -c | tr -s ' \n' ' ')"
for service in $services; do
  echo "$service: $(systemctl show -p Type -p NFileDescriptorStore -p User --value "$service" | tr '\n' ' ')"
done
attack='http://127.0.0.1:8080/search?q=1%27%20OR%20%271%27=%271%27%20--%20'
ordinary='http://127.0.0.1:8080/search?q=lamp'

# Runs a command while clients ask; prints their figures.
steadily() { # NAME COMMAND…
  name=$1
  shift
  mkfifo input
  # shellcheck disable=SC2086 # one word an address or status
  "$node" steady-client.mjs "$attack" 403 "$ordinary" 200 $others <input >figures 2>&1 &
  client=$!
  exec 7>input
  sleep 1
  "$@"
  sleep 1
  exec 7>&-
  wait $client
  rm input
  echo "$name: $(cat figures), load $(cut -d ' ' -f 1 /proc/loadavg)"
}
others='http://127.0.0.1:3010/ 200 http://127.0.0.1:8095/api/live 200'
restarts() { for _ in 1 2 3; do systemctl restart gatehouse-data-plane; done; }
# what a crash breaks off is lost; no client that comes afterwards is refused
crash() {
  before=$(systemctl show -p NRestarts --value gatehouse-data-plane)
  systemctl kill -s KILL gatehouse-data-plane
  until [ "$(systemctl show -p NRestarts --value gatehouse-data-plane)" -gt "$before" ] &&
    systemctl is-active --quiet gatehouse-data-plane; do sleep 0.2; done
}
sleep 3
steadily 'idle' sleep 2
steadily 'three restarts' restarts
steadily 'restart of control plane and console' systemctl restart gatehouse-control-plane gatehouse-console
steadily 'crash' crash
mkdir -p /run/systemd/system/gatehouse-data-plane.service.d
printf '[Service]\nWatchdogSec=4\n' >/run/systemd/system/gatehouse-data-plane.service.d/watchdog.conf
systemctl daemon-reload
systemctl restart gatehouse-data-plane
hang() {
  before=$(systemctl show -p NRestarts --value gatehouse-data-plane)
  kill -STOP "$(systemctl show -p MainPID --value gatehouse-data-plane)"
  until [ "$(systemctl show -p NRestarts --value gatehouse-data-plane)" -gt "$before" ] &&
    systemctl is-active --quiet gatehouse-data-plane; do sleep 0.2; done
}
sleep 6
echo "watchdog: $(systemctl show -p NRestarts -p WatchdogUSec --value gatehouse-data-plane | tr '\n' ' ')before the hang"
steadily 'hang' hang
echo "watchdog: $(systemctl show -p NRestarts --value gatehouse-data-plane) restarts after it"
backup=/var/lib/gatehouse/backups/try.tar
gatehouse backup --without-secrets --to "$backup" >backup.log || { cat backup.log; exit 1; }
restore() { gatehouse restore "$backup" -y >restore.log 2>&1 || cat restore.log; }
others='' steadily 'restore while it runs' restore
grep '^restored\|^It runs' restore.log
echo x >/var/lib/gatehouse/backups/broken.tar
gatehouse restore /var/lib/gatehouse/backups/broken.tar -y >restore.log 2>&1 && exit 1
# shellcheck disable=SC2086
echo "active: $(systemctl is-active $services | sort | uniq -c | tr -s ' \n' ' ')after a restore that was refused"
echo "journal: $(journalctl -q -u 'gatehouse-*' | grep -ci 'denied\|not permitted' || true) words of a denial"
dpkg --purge gatehouse >dpkg.log 2>&1 || { cat dpkg.log; exit 1; }
ls -d /etc/gatehouse /var/lib/gatehouse /usr/lib/gatehouse 2>/dev/null || echo 'purged: nothing stays'
