#!/bin/sh
# Runs as a service of the machine of boot-systemd.sh: the commands of docs/backup.md as they stand there, on an installed
# package, with the names of files put in and -y where the page has a person answer.
set -eu
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive
cd /root
dpkg -i ./gatehouse.deb >dpkg.log 2>&1 || { cat dpkg.log; exit 1; }
install -d -o gatehouse -g gatehouse -m 0700 /mnt/copies
key=/mnt/key
commands() { # HEADING: without remarks, with the installed command
  sh page-commands.sh docs/backup.md "$1" | sed -e 's/  *#.*$//' -e 's,^bin/gatehouse,gatehouse,'
}
run() { # COMMAND
  echo "runs: $1"
  sh -c "$1" >output 2>&1 || { cat output; echo "FAILED: $1"; exit 1; }
}
commands '## Make the key, once' >lines
while read -r line; do run "$line"; done <lines
grep -o 'AGE-SECRET-KEY-[0-9A-Z]*' output >$key
chown gatehouse $key
chmod 0600 $key
commands '## Back up' >lines
while read -r line; do
  file=$(find /var/lib/gatehouse/backups -name 'gatehouse-*.tar' 2>/dev/null | sort | tail -n 1)
  run "$(echo "$line" | sed -e "s,FILE,$file," -e "s,KEY$,$key,")"
done <lines
find /mnt/copies -name 'gatehouse-*.age' | grep -q . && echo 'the sealed copy is there'
commands '## Restore' | grep restore >lines
while read -r line; do run "$(echo "$line" | sed -e "s,FILE,$file," -e "s,KEY$,$key -y,")"; done <lines
grep '^restored' output
until curl -sf http://127.0.0.1:8095/api/live >/dev/null; do sleep 0.5; done
echo 'runbook: every command succeeded'
