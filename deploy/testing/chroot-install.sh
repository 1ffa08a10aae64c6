#!/bin/sh
# A fresh Debian without the internet: unpacks ROOTFS (a directory that debootstrap made, copied) and runs the bundle's
# installer in it, in a network namespace that has a loopback and nothing else. Prints seconds to the blocked attack.
#   chroot-install.sh ROOTFS BUNDLE.tar SCRATCH
set -eu
rootfs=$1 bundle=$2 scratch=$3
mkdir -p "$scratch/root"
cp -a "$rootfs/." "$scratch/root/"
cp "$bundle" "$scratch/root/root/bundle.tar"
cp "$(dirname "$0")/inside-chroot.sh" "$scratch/root/root/inside.sh"
# shellcheck disable=SC2016 # the inner shell expands it
# the namespaces end with this process, and with them whatever was started in them
exec unshare -n -m -p -f --kill-child sh -euc '
  ip link set lo up
  mount -t proc proc "$1/proc"
  mount -t sysfs sys "$1/sys" 2>/dev/null || true
  mount --bind /dev "$1/dev"
  mount -t tmpfs shm "$1/dev/shm"
  # a fresh machine, not the variables of this one: TMPDIR names a directory that is not there
  exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb chroot "$1" /bin/sh /root/inside.sh
' sh "$scratch/root"
