#!/bin/sh
# A machine of its own as far as systemd can tell: boots ROOTFS (a directory with systemd in it) as process 1 of new
# namespaces without a network but loopback, runs SCRIPT in it as a service, and ends with the machine.
#   boot-systemd.sh ROOTFS SCRIPT RESULT
# RESULT gets what the script says, with `rc N` as the last line.
set -eu
rootfs=$1 script=$2 result=$3
cp "$script" "$rootfs/root/inside.sh"
: >"$rootfs/root/result"
cat >"$rootfs/etc/systemd/system/gatehouse-test.service" <<'UNIT'
[Unit]
After=multi-user.target dbus.service
[Service]
Type=oneshot
TimeoutStartSec=infinity
ExecStart=/bin/sh -c 'sh /root/inside.sh >/root/result 2>&1; echo rc $? >>/root/result'
ExecStopPost=/bin/systemctl --force --force --no-block poweroff
UNIT
mkdir -p "$rootfs/etc/systemd/system/multi-user.target.wants"
ln -sf ../gatehouse-test.service "$rootfs/etc/systemd/system/multi-user.target.wants/gatehouse-test.service"
# a group of its own, so that the host's are never touched
groups=
for hierarchy in /sys/fs/cgroup/systemd /sys/fs/cgroup/unified /sys/fs/cgroup; do
  [ -f "$hierarchy/cgroup.procs" ] || continue
  mkdir "$hierarchy/gatehouse-test-$$"
  groups="$groups $hierarchy/gatehouse-test-$$"
done
# shellcheck disable=SC2317 # called by the trap
leave() {
  for group in $groups; do
    find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null || true
  done
}
trap leave EXIT
# shellcheck disable=SC2016,SC2086 # the inner shell expands it; one word a group
sh -euc '
  root=$1; shift
  for group in "$@"; do echo $$ >"$group/cgroup.procs"; done
  exec unshare -n -m -u -i -C -p -f --kill-child sh -euc "
    mount --make-rprivate /
    mount --bind \"\$1\" \"\$1\"
    cd \"\$1\"
    ip link set lo up
    mount -t proc proc proc
    mount -t sysfs -o ro sys sys
    for at in run tmp; do mount -t tmpfs tmpfs \$at; done
    mount -t tmpfs -o mode=755 dev dev
    mkdir dev/pts dev/shm
    mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
    mount -t tmpfs shm dev/shm
    for at in null zero full random urandom tty; do touch dev/\$at; mount --bind /dev/\$at dev/\$at; done
    ln -s pts/ptmx dev/ptmx; ln -s /proc/self/fd dev/fd
    ln -s fd/0 dev/stdin; ln -s fd/1 dev/stdout; ln -s fd/2 dev/stderr
    if [ -d /sys/fs/cgroup/systemd ]; then
      mount -t tmpfs cgroup sys/fs/cgroup
      mkdir sys/fs/cgroup/systemd sys/fs/cgroup/unified
      mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd
      mount -t cgroup2 cgroup2 sys/fs/cgroup/unified
    else mount -t cgroup2 cgroup2 sys/fs/cgroup; fi
    mkdir -p old
    pivot_root . old
    umount -l /old
    exec env -i container=gatehouse PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb \
      /lib/systemd/systemd --system --unit=multi-user.target --log-target=null
  " sh "$root"
' sh "$rootfs" $groups </dev/null >/dev/null 2>&1 || true
cp "$rootfs/root/result" "$result"
grep -q '^rc 0$' "$result"
