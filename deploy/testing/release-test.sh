#!/bin/sh
# `make release-test`: what takes minutes. Two releases of one commit have the same package and the same image digests;
# the bundle protects a site in a fresh Debian without a network within 60 seconds. Each part says why it is left out.
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

key=$scratch/key.pem
node=${NODE:-node}
for turn in one two; do
  "$node" build/deploy/release/main.js --out "$scratch/$turn" --key "$key"
done
first=$(echo "$scratch"/one/gatehouse-*/)
second=$(echo "$scratch"/two/gatehouse-*/)
check 'two builds have one package' cmp "$first"/gatehouse_*.deb "$second"/gatehouse_*.deb
check 'two builds have one set of image digests' cmp "$first/RELEASE" "$second/RELEASE"
check 'two builds have one bill of materials' cmp "$first/sbom.cdx.json" "$second/sbom.cdx.json"
check 'the signature verifies' sh -c 'cd "$1" && sed -n 2p SHA256SUMS.minisig | base64 -d | tail -c 64 >"$2/sig" &&
  openssl dgst -blake2b512 -binary SHA256SUMS >"$2/digest" && openssl pkeyutl -verify -rawin -pubin \
  -inkey gatehouse-release.pem -sigfile "$2/sig" -in "$2/digest" && sha256sum --quiet -c SHA256SUMS' sh "$first" "$scratch"
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
  # the data plane's image starts from its own files, without a shell
  image=$scratch/image
  mkdir -p "$image/layout" "$image/root"
  tar -xf "$first/images/data-plane.tar" -C "$image/layout"
  "$node" -e 'const fs=require("node:fs");const at=process.argv[1];const [m]=JSON.parse(fs.readFileSync(at+"/manifest.json"));console.log(m.Layers.join("\n"))' "$image/layout" |
    while read -r layer; do tar -xzf "$image/layout/$layer" -C "$image/root"; done
  check 'the image has no shell' sh -c '[ ! -e "$1/bin/sh" ] && [ ! -e "$1/usr/bin/sh" ]' sh "$image/root"
  check 'the image has no setuid file' sh -c '[ -z "$(find "$1" -perm /6000 -type f)" ]' sh "$image/root"
  check 'the image runs its own command' chroot --userspec=10001:10001 "$image/root" \
    /usr/lib/gatehouse/runtime/node /usr/lib/gatehouse/bin/gatehouse help
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
