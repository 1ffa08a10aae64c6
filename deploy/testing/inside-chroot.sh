#!/bin/sh
# Runs inside the chroot of chroot-install.sh.
set -eu
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
cd /root
mkdir bundle
tar -xf bundle.tar -C bundle --strip-components=1
began=$(date +%s%N)
bundle/install.sh -y --native --offline /root/bundle.tar
echo "installed-ms: $((($(date +%s%N) - began) / 1000000))"
node=/usr/lib/gatehouse/runtime/node
status() { $node -e 'fetch(process.argv[1]).then((r)=>console.log(r.status),(e)=>console.log(String(e.cause?.code??e)))' "$1"; }
echo "attack: $(status "http://127.0.0.1:8080/search?q=1%27%20OR%20%271%27=%271%27%20--%20")"
echo "ordinary: $(status 'http://127.0.0.1:8080/search?q=lamp')"
echo "console: $(status http://127.0.0.1:3010/)"
echo "interfaces: $(tail -n +3 /proc/net/dev | awk '{ printf "%s", $1 }')"
echo "owner: $(stat -c '%U %a' /etc/gatehouse/.env) $(stat -c '%U' /proc/"$(cat /run/gatehouse/up.pid)")"
sum=$(sha256sum /etc/gatehouse/.env)
bundle/install.sh -y --native
[ "$sum" = "$(sha256sum /etc/gatehouse/.env)" ] && echo 'again: the same'
gatehouse backup --without-secrets --to /var/lib/gatehouse/backups/try.tar
bundle/uninstall.sh -y
test -f /etc/gatehouse/.env && echo 'uninstalled: settings stay'
test ! -e /opt/gatehouse
bundle/uninstall.sh --purge -y
test ! -e /etc/gatehouse && test ! -e /var/lib/gatehouse && echo 'purged: nothing stays'
