#!/bin/sh
# `make release-test`: what takes minutes. Two releases of one commit have the same package and the same image digests;
# the bundle protects a site in a fresh Debian without a network within 60 seconds; a Debian whose process 1 is systemd
# restarts and upgrades without a refused connection. Each part says why it is left out.
# shellcheck disable=SC2016 # commands in single quotes are for an inner shell
set -eu
cd "$(dirname "$0")/../.."
scratch=$(mktemp -d "${TMPDIR:-/tmp}/gatehouse-release-test.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0 skipped=0
check() { # NAME COMMAND…
  name=$1
  shift
  if "$@"; then passed=$((passed + 1)); echo "ok   $name"; else failed=$((failed + 1)); echo "FAIL $name"; fi
}
left_out() { skipped=$((skipped + 1)); echo "skip $1: $2"; }

key=${GATEHOUSE_RELEASE_KEY:-$scratch/key.pem}
node=${NODE:-node}
if [ -n "${GATEHOUSE_RELEASE:-}" ]; then
  cp -a "$GATEHOUSE_RELEASE" "$scratch/one"
  mkdir "$scratch/two"
  cp -a "$scratch"/one/gatehouse-*/ "$scratch/two/"
  left_out 'two builds compared' 'GATEHOUSE_RELEASE names one that was built before'
else
  for turn in one two; do
    "$node" build/deploy/release/main.js --out "$scratch/$turn" --key "$key"
  done
fi
first=$(echo "$scratch"/one/gatehouse-*/)
second=$(echo "$scratch"/two/gatehouse-*/)
if [ -z "${GATEHOUSE_RELEASE:-}" ]; then
  check 'two builds have one package' cmp "$first"/gatehouse_*.deb "$second"/gatehouse_*.deb
  check 'two builds have one set of image digests' cmp "$first/RELEASE" "$second/RELEASE"
  check 'two builds have one bill of materials' cmp "$first/sbom.cdx.json" "$second/sbom.cdx.json"
fi
# the commands are those of the page
deploy/testing/page-commands.sh docs/install.md '## Check a bundle by hand' >"$scratch/by-hand.sh"
check 'the signature verifies by hand' sh -c 'cd "$1" && sh -eu "$2/by-hand.sh" >"$2/by-hand.log" && rm sig digest &&
  grep -q "^Signature Verified Successfully" "$2/by-hand.log"' sh "$first" "$scratch"
echo x >>"$second/RELEASE"
check 'a changed file does not' sh -c 'cd "$1" && ! sh -eu "$2/by-hand.sh" >/dev/null 2>&1' sh "$second" "$scratch"
if command -v lintian >/dev/null; then
  check 'lintian has nothing to say' sh -c '[ -z "$(lintian --allow-root "$1"/gatehouse_*.deb 2>/dev/null)" ]' sh "$first"
else left_out lintian 'apt-get install lintian'; fi

if [ "$(id -u)" != 0 ]; then left_out 'fresh Debian' 'needs root'
elif ! command -v debootstrap >/dev/null; then left_out 'fresh Debian' 'apt-get install debootstrap'
elif ! unshare -n -m -p -f true 2>/dev/null; then left_out 'fresh Debian' 'no namespaces here'
else
  rootfs=${GATEHOUSE_ROOTFS:-$scratch/rootfs}
  [ -d "$rootfs" ] || debootstrap --variant=minbase bookworm "$rootfs" >"$scratch/debootstrap.log"
  log=$scratch/chroot.log
  deploy/testing/chroot-install.sh "$rootfs" "$scratch"/one/gatehouse-*.tar "$scratch/chroot" | tee "$log"
  check 'an attack is blocked' grep -q '^attack: 403' "$log"
  check 'an ordinary request passes' grep -q '^ordinary: 200' "$log"
  check 'there was no interface but loopback' grep -q '^interfaces: lo:$' "$log"
  check 'a second run changed nothing' grep -q '^again: the same' "$log"
  check 'purged: nothing stays' grep -q '^purged: nothing stays' "$log"
  check 'within 60 seconds' sh -c '[ "$(sed -n "s/^installed-ms: //p" "$1")" -le 60000 ]' sh "$log"
  rm -rf "$scratch/chroot"
  # the images start from their own files, without a shell
  for plane in data-plane control-plane; do
    image=$scratch/image-$plane
    mkdir -p "$image/layout" "$image/root"
    tar -xf "$first/images/$plane.tar" -C "$image/layout"
    "$node" -e 'const fs=require("node:fs");const at=process.argv[1];const [m]=JSON.parse(fs.readFileSync(at+"/manifest.json"));console.log(m.Layers.join("\n"))' "$image/layout" |
      while read -r layer; do tar -xzf "$image/layout/$layer" -C "$image/root"; done
    check "$plane: no shell, no package manager" sh -c '[ -z "$(find "$1" -type f \( -name "*sh" -o -name busybox -o -name dpkg -o -name "apt*" \) -path "*bin/*")" ]' sh "$image/root"
    check "$plane: no setuid file" sh -c '[ -z "$(find "$1" -perm /6000 -type f)" ]' sh "$image/root"
    check "$plane: its user is 10001" sh -c 'grep -q "\"User\":\"10001:10001\"" "$1"/blobs/sha256/*' sh "$image/layout"
    check "$plane: runs its own command" chroot --userspec=10001:10001 "$image/root" \
      /usr/lib/gatehouse/runtime/node /usr/lib/gatehouse/bin/gatehouse help
    if command -v skopeo >/dev/null; then
      check "$plane: skopeo reads the digest that RELEASE names" sh -c 'grep -qx "image_$2=$(skopeo inspect --format "{{.Digest}}" "oci-archive:$1/images/$3.tar")" "$1/RELEASE"' \
        sh "$first" "$(echo "$plane" | tr - _)" "$plane"
    else left_out "$plane: skopeo" 'apt-get install skopeo'; fi
    rm -rf "$image"
  done

  # a machine whose process 1 is systemd
  machine=${GATEHOUSE_SYSTEMD_ROOTFS:-$scratch/machine}
  [ -d "$machine" ] || debootstrap --variant=minbase --include=systemd,dbus,openssl,curl,libhyperscan5,libmodsecurity3 \
    bookworm "$machine" >"$scratch/debootstrap.log"
  "$node" build/deploy/release/main.js --out "$scratch/newer" --key "$key" --version 999.0.0 --without-images --without-debs
  newer=$(echo "$scratch"/newer/gatehouse-*/)
  "$node" build/deploy/testing/break-bundle.js "$newer" "$scratch/broken" 999.0.1 "$key"
  for part in systemd upgrade runbooks; do
    cp -a "$machine" "$scratch/$part"
    cp deploy/testing/steady-client.mjs deploy/testing/page-commands.sh deploy/testing/api.sh "$scratch/$part/root/"
    cp -a docs "$scratch/$part/root/docs"
  done
  for part in systemd runbooks; do cp "$first"/gatehouse_*.deb "$scratch/$part/root/gatehouse.deb"; done
  # the bundles of an upgrade, in the machine that it is made on
  give() { # PART OLD
    mkdir "$scratch/$1/root/old" "$scratch/$1/root/new"
    cp -a "$2"/. "$scratch/$1/root/old/"
    cp -a "$newer"/. "$scratch/$1/root/new/"
  }
  give upgrade "$first"
  cp -a "$scratch/broken" "$scratch/upgrade/root/broken"
  for part in systemd upgrade runbooks; do
    log=$scratch/$part.log
    check "$part: every step" deploy/testing/boot-systemd.sh "$scratch/$part" "deploy/testing/inside-$part.sh" "$log"
    cat "$log"
    [ $part = runbooks ] || check "$part: no client was refused" sh -c 'grep -q "failed 0," "$1" && ! grep -v "^release that" "$1" | grep -q ECONNREFUSED' sh "$log"
  done
  log=$scratch/systemd.log
  check 'dpkg installs it' grep -q '^dpkg: installed' "$log"
  # a crash and a hang break off what was under way, and nothing else does
  check 'restarts and a restore break nothing off' sh -c '! grep -v "^crash:\|^hang:" "$1" | grep "failed [1-9]"' sh "$log"
  check 'all services are ready' grep -q '^active: *4 active' "$log"
  check 'a node that hangs is started again' grep -q '^watchdog: 1 restarts' "$log"
  check 'dpkg purges it' grep -q '^purged: nothing stays' "$log"
  check_upgrade() { # NAME LOG
    check "$1: an upgrade breaks nothing off, and no request is answered by other rules" grep -q '^upgrade: asked [0-9]*, failed 0,' "$2"
    check "$1: the newer release runs" grep -q '^running: .*releases/999.0.0' "$2"
    check "$1: settings stay over an upgrade" grep -q '^settings: the same' "$2"
    check "$1: rules stay over an upgrade" grep -q '^own rules: 1' "$2"
    check "$1: the older release is refused in words" grep -q '^downgrade: refused: of release 999.0.0' "$2"
    check "$1: and changes nothing" grep -q '^after the downgrade: releases/999.0.0, 403' "$2"
  }
  log=$scratch/upgrade.log
  check_upgrade upgrade "$log"
  # the console is away until the old release is back
  check 'a release that does not start is not noticed at protected sites' sh -c '! grep "^release that does not start:" "$1" | grep ":8080/"' sh "$log"
  check 'the release before it serves again by itself' grep -q '^returned: releases/999.0.0, nothing left half done' "$log"
  check 'with its rules' grep -q '^own rules after it: 1' "$log"
  # releases that were made before, signed by the same key
  for older in ${GATEHOUSE_OLDER_RELEASES:-}; do
    name=older-$(sed -n 's/^version=//p' "$older/RELEASE")
    cp -a "$machine" "$scratch/$name"
    cp deploy/testing/steady-client.mjs deploy/testing/api.sh "$scratch/$name/root/"
    give "$name" "$older"
    check "$name: every step" deploy/testing/boot-systemd.sh "$scratch/$name" deploy/testing/inside-upgrade.sh "$scratch/$name.log"
    cat "$scratch/$name.log"
    check_upgrade "$name" "$scratch/$name.log"
    rm -rf "${scratch:?}/$name"
  done
  [ -n "${GATEHOUSE_OLDER_RELEASES:-}" ] || left_out 'upgrades from older releases' 'GATEHOUSE_OLDER_RELEASES names none'
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
