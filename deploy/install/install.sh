#!/bin/sh
# Installs Gatehouse, or upgrades what is installed, from an unpacked bundle or from the bundle's archive.
#
#   ./install.sh [-y] [--native|--containers] [--bind ADDR] [--domain FQDN] [--upstream URL] [--offline BUNDLE]
#
# Every step can be repeated: whoever is interrupted at any place runs the same command again and ends at the same
# state. What is not finished lies under a name of its own (.part) and is renamed when it is. An upgrade keeps .env and
# data, makes a backup first, and goes back by itself when the new release is not healthy within two minutes.
set -eu
# Directories and programs are read by the user gatehouse, whatever mask the caller has; secrets get modes of their own.
umask 022

usage() {
  cat <<'USAGE'
usage: install.sh [options]
  --native          systemd services from the package (default where neither docker nor podman is there)
  --containers      containers by docker compose or podman compose
  --profile NAME    of containers: small (embedded database, default) or full (PostgreSQL and Redis)
  --bind ADDR       address of console and API (default 127.0.0.1; 0.0.0.0 = reachable from the network)
  --domain FQDN     name of the console for automatic HTTPS; its address must lead to this host. A first installation
                    then takes ports 80 and 443 where they are free
  --harden          limits of this host in front of the protected ports, too (gatehouse harden; nftables, sysctl)
  --upstream URL    application to protect, such as http://127.0.0.1:3000 (default: a demo shop)
  --offline BUNDLE  bundle to install from, an archive or an unpacked directory; nothing is downloaded
  --key FILE        public key (minisign) that the bundle has to be signed with
  --run MODE        without systemd: background (default), foreground, or none
  --root DIR        everything below this directory (for images and tests)
  --check           only the preflight table
  -y                no questions
  -h, --help        this text
USAGE
}

say() { printf '%s\n' "$*"; }
warn() { printf 'install: %s\n' "$*" >&2; }
die() { # MESSAGE [FIX]
  printf 'install: %s\n' "$1" >&2
  [ $# -lt 2 ] || printf '  Fix: %s\n' "$2" >&2
  exit 1
}
bad_usage() {
  printf 'install: %s\n' "$1" >&2
  usage >&2
  exit 2
}
is_port() { case $1 in '' | *[!0-9]* | ??????*) return 1 ;; esac; [ "$1" -ge 1 ] && [ "$1" -le 65535 ]; }
has() { command -v "$1" >/dev/null 2>&1; }

# ---------------------------------------------------------------- options
way='' bind='' domain='' upstream='' bundle='' key='' yes=no root='' mode=background check=no profile='' harden=no
while [ $# -gt 0 ]; do
  case $1 in
  --bind | --domain | --upstream | --offline | --key | --run | --root | --profile)
    [ $# -ge 2 ] || bad_usage "$1 needs a value."
    case $1 in
    --bind) bind=$2 ;;
    --domain) domain=$2 ;;
    --upstream) upstream=$2 ;;
    --offline) bundle=$2 ;;
    --key) key=$2 ;;
    --run) mode=$2 ;;
    --root) root=${2%/} ;;
    --profile) profile=$2 ;;
    esac
    shift 2
    ;;
  --native | --containers)
    [ -z "$way" ] || [ "$way" = "${1#--}" ] || bad_usage "--native and --containers cannot be had together."
    way=${1#--}
    shift
    ;;
  --check) check=yes; shift ;;
  --harden) harden=yes; shift ;;
  -y | --yes) yes=yes; shift ;;
  -h | --help) usage; exit 0 ;;
  *) bad_usage "there is no option $1." ;;
  esac
done
case $mode in background | foreground | none) ;; *) bad_usage "--run is background, foreground or none; $mode is none of them." ;; esac
case $profile in '' | small | full) ;; *) bad_usage "--profile is small or full; $profile is none of them." ;; esac
is_address() { # IPv4 by its four numbers; IPv6 by its form
  case $1 in
  *:*:*) case $1 in *[!0-9a-fA-F:.]* | *:::*) return 1 ;; esac ;;
  *) printf '%s\n' "$1" | awk -F. '{ bad = NF != 4; for (i = 1; i <= NF; i++) if ($i !~ /^[0-9][0-9]?[0-9]?$/ || $i > 255) bad = 1; exit bad }' ;;
  esac
}
[ -z "$bind" ] || is_address "$bind" || bad_usage "--bind takes an IP address such as 127.0.0.1 or ::; $bind is none."
if [ -n "$domain" ]; then
  case $domain in
  *.*) ;;
  *) bad_usage "--domain takes a full name such as waf.example.org; $domain has no dot." ;;
  esac
  case $domain in
  *[!A-Za-z0-9.-]* | .* | *. | -* | *..* | *.[0-9] | *.[0-9][0-9] | *.[0-9][0-9][0-9]) bad_usage "--domain takes a name such as waf.example.org; $domain is none." ;;
  esac
fi
case $upstream in '' | http://?* | https://?*) ;; *) bad_usage "--upstream takes an address such as http://127.0.0.1:3000; $upstream is none." ;; esac
upstream_port=$(printf '%s\n' "$upstream" | sed -n 's|^[a-z]*://[^/]*:\([^]/]*\)\(/.*\)\{0,1\}$|\1|p')
[ -z "$upstream_port" ] || is_port "$upstream_port" ||
  bad_usage "--upstream takes an address such as http://127.0.0.1:3000; $upstream has no port of 1 to 65535."
case $upstream in *[[:space:]\"\'\$\`\\]*) bad_usage "--upstream takes an address without white space and quotes." ;; esac

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
prefix=$root/opt/gatehouse
config=$root/etc/gatehouse
env_file=$config/.env
state=$root/var/lib/gatehouse
backups=$root/var/backups/gatehouse
runtime=$root/run/gatehouse
journal=$prefix/upgrade
# What the installer remembers, and the key of the releases: root's own. Directories of the service may hold links that it made.
keep=$root/var/lib/gatehouse-installer
installer_log=$prefix/install.log
logs="$state/log, $root/var/log/gatehouse, journalctl -u 'gatehouse-*'"

# ---------------------------------------------------------------- the bundle
scratch=
cleanup() { [ -z "$scratch" ] || rm -rf "$scratch"; }
# A directory for this run. It is locked for as long as this process lives, so that a later run knows, and removes, what
# one that was killed has left; only what this user owns, for others may write there, too.
remove_left() {
  has flock || return 0
  for left in "${TMPDIR:-/tmp}"/gatehouse-install.??????; do
    if [ -d "$left" ] && [ ! -L "$left" ] && [ -O "$left" ]; then flock -n "$left" rm -rf "$left" || true; fi
  done
}
make_scratch() {
  remove_left
  tries=0
  while [ $tries -lt 5 ]; do
    scratch=$(mktemp -d "${TMPDIR:-/tmp}/gatehouse-install.XXXXXX")
    # a run beside this one takes it for left behind until it is locked, and may be removing it
    if { command exec 8<"$scratch"; } 2>/dev/null && { ! has flock || flock -n 8; } && [ -d "$scratch" ]; then return 0; fi
    rmdir "$scratch" 2>/dev/null || true
    tries=$((tries + 1))
  done
  # of a file system without locks
  scratch=$(mktemp -d "${TMPDIR:-/tmp}/gatehouse-install.XXXXXX")
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Sets $source: the directory of the bundle.
find_bundle() {
  source=$here
  if [ -n "$bundle" ]; then
    if [ -d "$bundle" ]; then
      source=$(CDPATH='' cd -- "$bundle" && pwd)
    elif [ -f "$bundle" ]; then
      mkdir "$scratch/bundle"
      tar -xf "$bundle" -C "$scratch/bundle" || die "$bundle cannot be unpacked." "copy it again; compare its SHA-256 with the one published beside it"
      source=$scratch/bundle
      [ -f "$source/SHA256SUMS" ] || source=$(dirname "$(find "$source" -maxdepth 2 -name SHA256SUMS | head -n 1)")
    else
      die "$bundle is neither a file nor a directory." "name the bundle that you copied to this host"
    fi
  fi
  [ -f "$source/SHA256SUMS" ] || die "there is no bundle in $source (no SHA256SUMS)." "run install.sh inside an unpacked bundle, or name one with --offline"
}

# The signature of minisign with openssl alone: Ed25519 over BLAKE2b-512 of the file.
verify_signature() { # PUBLIC-KEY-FILE FILE
  check_dir=$scratch/verify
  rm -rf "$check_dir"
  mkdir "$check_dir"
  # minisign: base64 of 2 bytes algorithm, 8 bytes key id, then the 32 bytes of the key or 64 of the signature
  sed -n 2p "$1" | openssl base64 -d -A >"$check_dir/key" 2>/dev/null
  sed -n 2p "$2.minisig" | openssl base64 -d -A >"$check_dir/sig" 2>/dev/null
  verdict=bad
  if [ "$(wc -c <"$check_dir/key")" -eq 42 ] && [ "$(wc -c <"$check_dir/sig")" -eq 74 ] &&
    [ "$(head -c 2 "$check_dir/sig")" = ED ]; then
    { printf '\060\052\060\005\006\003\053\145\160\003\041\000'; tail -c 32 "$check_dir/key"; } >"$check_dir/key.der"
    tail -c 64 "$check_dir/sig" >"$check_dir/sig.raw"
    openssl dgst -blake2b512 -binary "$2" >"$check_dir/digest"
    if openssl pkeyutl -verify -rawin -pubin -keyform DER -inkey "$check_dir/key.der" \
      -sigfile "$check_dir/sig.raw" -in "$check_dir/digest" >/dev/null 2>&1; then verdict=good; fi
  fi
  [ $verdict = good ]
}

# Whether a file of the bundle is one of the signed list: what lies beside them has another origin.
listed() { awk -v name="$1" '{ sub(/^[0-9a-f]+ [ *]/, ""); if ($0 == name) found = 1 } END { exit !found }' "$source/SHA256SUMS"; }
# The files of a directory of the bundle, as the signed list has them.
listed_below() { sed -n "s,^[0-9a-f]\{64\} [ *]\($1/[A-Za-z0-9._+~%-]*\)\$,\1,p" "$source/SHA256SUMS"; }

verify_bundle() {
  pinned=$keep/release.pub
  # of an installation from before root's own directory
  if [ ! -f "$pinned" ] && [ -f "$config/release.pub" ] && [ ! -L "$config/release.pub" ]; then pinned=$config/release.pub; fi
  wanted=${key:-$source/gatehouse-release.pub}
  [ -n "$key" ] || [ ! -f "$pinned" ] || wanted=$pinned
  [ -f "$wanted" ] || die "$wanted: there is no such key." "name the public key of the releases with --key"
  if ! has openssl; then
    if [ -n "$key" ] || [ -f "$pinned" ]; then die "openssl is needed to check the signature of the bundle." "install the package openssl (version 3 or newer)"; fi
    warn "!! there is no openssl here: the SIGNATURE of the bundle was NOT checked, only that its files are complete"
  else verify_signature "$wanted" "$source/SHA256SUMS" ||
    die "the bundle in $source is not signed by the key in $wanted; nothing was changed." "get the bundle again from where releases are published; a new key is given with --key"
  fi
  (cd "$source" && sha256sum --quiet --strict -c SHA256SUMS >/dev/null 2>&1) ||
    die "files of the bundle differ from its signed list; nothing was changed." "copy the bundle again: $(cd "$source" && sha256sum -c SHA256SUMS 2>/dev/null | grep -v ': OK$' | head -n 3 | tr '\n' ' ')"
  if [ -n "$key" ] || [ -f "$pinned" ]; then say "bundle          signed by the key in $wanted, every file as signed"
  elif has openssl; then say "bundle          complete; signed by the key that came with it (compare it with the published one: $(sed -n 2p "$wanted"))"; fi
  for name in RELEASE install.sh $([ "$way" = native ] && sed -n 's/^package=//p' "$source/RELEASE" || echo compose.yaml prepare-host.sh); do
    listed "$name" || die "$name of the bundle is not in its signed list; nothing was changed." "get the bundle again from where releases are published"
  done
  version=$(sed -n 's/^version=//p' "$source/RELEASE")
  case $version in '' | *[!0-9A-Za-z.+~-]*) die "the bundle names no version." "get the bundle again" ;; esac
}

# ---------------------------------------------------------------- preflight
failures=0
row() { # STATE WHAT FOUND WANTED FIX
  printf '  %-4s %-22s %-34s %s\n' "$1" "$2" "$3" "$4"
  if [ "$1" != ok ]; then printf '       %-22s fix: %s\n' '' "$5"; fi
  if [ "$1" = FAIL ]; then failures=$((failures + 1)); fi
}
# By the grammar of .env (settings/environment/file.ts): white space around it and one pair of quotes are no part of it.
value() { # NAME DEFAULT: of .env
  found=
  [ ! -f "$env_file" ] || found=$(sed -n "s/^[[:space:]]*\(export[[:space:]][[:space:]]*\)\{0,1\}$1[[:space:]]*=[[:space:]]*//p" "$env_file" |
    tail -n 1 | sed "s/[[:space:]]*\$//; s/^\([\"']\)\(.*\)\1\$/\2/")
  printf '%s' "${found:-$2}"
}
noted() { # NAME: what this installer wrote down; before there was a place for it, it lay among the data
  if [ -f "$keep/$1" ]; then cat "$keep/$1"
  elif [ -f "$state/.$1" ] && [ ! -L "$state/.$1" ]; then head -c 100 "$state/.$1"; fi
}
note() { # NAME VALUE
  printf '%s\n' "$2" >"$keep/$1.part"
  mv "$keep/$1.part" "$keep/$1"
}
newer_or_same() { # A B: whether A >= B by numbers
  [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}
port_taken() { # PORT: by anything that listens, IPv4 or IPv6
  hex=$(printf '%04X' "$1")
  awk -v port="$hex" '$4 == "0A" { n = split($2, part, ":"); if (part[n] == port) found = 1 } END { exit !found }' \
    /proc/net/tcp /proc/net/tcp6 2>/dev/null
}
# The process of `gatehouse up` that this installer started; a number that another program has by now does not count.
up_runs() {
  pid=$(cat "$runtime/up.pid" 2>/dev/null || true)
  [ -n "$pid" ] && tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -q 'gatehouse.* up'
}
is_ours() {
  if up_runs; then return 0; fi
  has systemctl && systemctl is-active --quiet gatehouse-data-plane.service 2>/dev/null
}

# HTTPS is asked for at 443, and proved at 80: a first installation with a name takes these ports where they are free.
# What was chosen is noted before .env is made, so that a run after an interruption makes the same one.
web_ports=no
choose_ports() {
  [ -n "$domain" ] || return 0
  if [ -n "$(value WAF_PORT '')$(value JA3_PORT '')" ] && [ "$(noted web-ports)" != yes ]; then return 0; fi
  if ! port_taken 80 && ! port_taken 443; then web_ports=yes; fi
}
port_of() { # NAME DEFAULT
  case $web_ports:$1 in
  yes:WAF_PORT) echo 80 ;;
  yes:JA3_PORT) echo 443 ;;
  *) value "$1" "$2" ;;
  esac
}
# Neither stands in the way: a name may be made afterwards, and a router or a balancer may be in front.
check_domain() {
  addresses=$(timeout 5 getent ahosts "$domain" 2>/dev/null | awk '!seen[$1]++ { print $1 }' | head -n 4 | tr '\n' ' ')
  # a small system has no ip; the kernel names its IPv4 addresses, and hostname those of IPv6
  own=$(ip -o addr show 2>/dev/null | awk '{ sub(/\/.*/, "", $4); print $4 }' || true)
  [ -n "$own" ] || own=$(awk '/[|]--/ { at = $2 } /32 host LOCAL/ { print at }' /proc/net/fib_trie 2>/dev/null
    hostname -I 2>/dev/null | tr ' ' '\n')
  leads=no
  for address in $addresses; do if printf '%s\n' "$own" | grep -qxF "$address"; then leads=yes; fi; done
  if [ -z "$addresses" ]; then
    row warn 'name' "$domain has no address" 'one of this host' 'add an A or AAAA record for it; the certificate is ordered again by itself'
  elif [ $leads = yes ]; then row ok 'name' "${addresses% }" 'an address of this host' ''
  else row warn 'name' "${addresses% }" 'an address of this host' 'right behind a router or a balancer; else correct the record'; fi
  for pair in WAF_PORT:8080:80 JA3_PORT:8443:443; do
    name=${pair%%:*} public=${pair##*:} default=${pair#*:}
    port=$(port_of "$name" "${default%:*}")
    [ "$port" = "$public" ] || row warn "port $public" "$name is $port" "port $public of $domain here" \
      "lead port $public to $port (router, balancer), or write $name=$public into $env_file once $public is free"
  done
}

preflight() {
  say 'preflight       what, found, wanted'
  if [ "$way" = native ]; then
    libc=$(getconf GNU_LIBC_VERSION 2>/dev/null | awk '{print $2}')
    if [ -n "$libc" ] && newer_or_same "$libc" 2.36; then row ok 'C library' "glibc $libc" '2.36 or newer' ''
    else row FAIL 'C library' "${libc:-no glibc}" '2.36 or newer' 'use Debian 12, Ubuntu 24.04 or newer, or --containers'; fi
    if has dpkg-deb; then row ok 'package tools' dpkg-deb dpkg-deb ''
    else row FAIL 'package tools' 'no dpkg-deb' 'dpkg-deb' 'use Debian or Ubuntu, or --containers'; fi
    machine=$(uname -m)
    wanted_machine=$(sed -n 's/^machine=//p' "$source/RELEASE")
    if [ "$machine" = "$wanted_machine" ]; then row ok 'processor' "$machine" "$wanted_machine" ''
    else row FAIL 'processor' "$machine" "$wanted_machine" "get the bundle for $machine"; fi
    if [ "$(id -u)" = 0 ] || [ -n "$root" ]; then row ok 'rights' "user $(id -un)" root ''
    else row FAIL 'rights' "user $(id -un)" root 'run it with sudo'; fi
    if [ -d /run/systemd/system ] && [ -z "$root" ]; then row ok 'service manager' systemd systemd ''
    else row warn 'service manager' 'no systemd here' systemd "services run under 'gatehouse up' (--run $mode) and do not come back after a reboot"; fi
  else
    if [ -n "$engine" ]; then row ok 'containers' "$engine" 'docker or podman with compose' ''
    else row FAIL 'containers' 'neither works' 'docker or podman with compose' 'install docker with its compose plug-in, or use --native'; fi
  fi
  if [ "$(uname -m)" = x86_64 ]; then
    if grep -qw ssse3 /proc/cpuinfo 2>/dev/null; then row ok 'CPU' ssse3 'ssse3 (Hyperscan)' ''
    else row FAIL 'CPU' 'no ssse3' 'ssse3 (Hyperscan)' 'use another machine type; in a virtual machine pass the host CPU through'; fi
  fi
  memory=$(awk '/^MemTotal/ { print int($2 / 1024) }' /proc/meminfo 2>/dev/null || echo 0)
  if [ "$memory" -ge 1900 ]; then row ok 'memory' "$memory MiB" '1900 MiB' ''
  elif [ "$memory" -ge 900 ]; then row warn 'memory' "$memory MiB" '1900 MiB' 'works for one site; imports of scanner reports may be refused'
  else row FAIL 'memory' "$memory MiB" '900 MiB at least' 'give the machine more memory'; fi
  for pair in "$prefix:2000" "$state:500" "$backups:500"; do
    place=${pair%:*}
    space=$(df -Pm "$(existing_parent "$place")" | awk 'NR == 2 { print $4 }')
    if [ "$space" -ge "${pair##*:}" ]; then row ok 'disk' "$space MiB free" "${pair##*:} MiB ($place)" ''
    else row FAIL 'disk' "$space MiB free" "${pair##*:} MiB ($place)" "free some space where $place lies"; fi
  done
  case $(timeout 5 timedatectl show -p NTPSynchronized --value 2>/dev/null || true) in
  no) row warn 'time' 'not synchronised' 'synchronised' 'timedatectl set-ntp true: certificates and logins go by the time' ;;
  yes) row ok 'time' synchronised synchronised '' ;;
  esac
  files=$(awk '/^Max open files/ { print $4 }' /proc/self/limits)
  if [ "$files" = unlimited ] || [ "$files" -ge 4096 ]; then row ok 'open files' "$files" '4096' ''
  else row warn 'open files' "$files" '4096' 'ulimit -n 65536 (systemd services set their own)'; fi
  set -- "$prefix" "$config" "$state" "$keep"
  [ "$way" = containers ] || set -- "$@" "$root/usr/lib/gatehouse" "$root/usr/bin/gatehouse"
  for place in "$@"; do
    parent=$(existing_parent "$place")
    if [ -w "$parent" ]; then row ok 'writable' "$place" 'writable' ''
    else row FAIL 'writable' "$parent" 'writable' "mount it for writing, or run as root"; fi
  done
  ports='WAF_PORT:8080 JA3_PORT:8443 UI_PORT:3010 API_PORT:8095'
  # in containers these two are inside
  [ "$way" = containers ] || ports="$ports GATEHOUSE_ADMIN_PORT:2019"
  [ "$way" = containers ] || [ -n "$upstream$(value UPSTREAM_CUSTOMER '')" ] || ports="$ports DEMO_PORT:8000"
  for pair in $ports; do
    port=$(port_of "${pair%%:*}" "${pair##*:}")
    same=
    for other in $ports; do [ "$other" = "$pair" ] || [ "$(port_of "${other%%:*}" "${other##*:}")" != "$port" ] || same=${other%%:*}; done
    if ! is_port "$port"; then row FAIL "${pair%%:*}" "$port" 'a port (1 to 65535)' "write ${pair%%:*}=N into $env_file"
    elif [ -n "$same" ]; then row FAIL "port $port" "also $same" "of ${pair%%:*} alone" "write ${pair%%:*}=N into $env_file"
    elif ! port_taken "$port"; then row ok "port $port" free "free (${pair%%:*})" ''
    elif is_ours || [ -f "$prefix/engine" ]; then row ok "port $port" 'this installation' "free (${pair%%:*})" ''
    else row FAIL "port $port" taken "free (${pair%%:*})" "stop what listens there, or write ${pair%%:*}=N into $env_file"; fi
  done
  if [ -n "$domain" ]; then check_domain; fi
  if [ $harden = yes ]; then
    if [ "$way" = containers ]; then row FAIL 'limits of the host' '--harden' 'native services' 'leave it out: the engine leads ports past these rules'
    elif has nft; then row ok 'limits of the host' nft nft ''
    else row FAIL 'limits of the host' 'no nft' nft 'apt-get install nftables, or leave --harden out'; fi
  fi
  data_version=$(noted release)
  if [ -z "$data_version" ]; then row ok 'data' none "none, or of $version or older" ''
  elif newer_or_same "$version" "$data_version"; then row ok 'data' "of release $data_version" "of $version or older" ''
  else row FAIL 'data' "of release $data_version" "of $version or older" "install $data_version or newer, or restore a backup of $version into an empty installation"; fi
  [ "$failures" -eq 0 ] || die "$failures of these stand in the way; nothing was changed."
}
existing_parent() {
  at=$1
  while [ ! -e "$at" ]; do at=$(dirname "$at"); done
  printf '%s' "$at"
}

# ---------------------------------------------------------------- settings
# Sets NAME in .env, atomically; the file keeps its owner and mode.
changed=no
set_value() { # NAME VALUE
  [ "$(value "$1" '')" != "$2" ] || return 0
  changed=yes
  cp -p "$env_file" "$env_file.part"
  awk -v name="$1" -v text="$2" 'index($0, name "=") == 1 { print name "=" text; done = 1; next } { print }
    END { if (!done) print name "=" text }' "$env_file" >"$env_file.part"
  mv "$env_file.part" "$env_file"
}
write_options() {
  [ -z "$bind" ] || set_value ADMIN_BIND "$bind"
  [ -z "$upstream" ] || set_value UPSTREAM_CUSTOMER "$upstream"
  [ -z "$domain" ] || set_value DASHBOARD_DOMAIN "$domain"
  if [ $web_ports = yes ]; then
    set_value WAF_PORT 80
    set_value JA3_PORT 443
  fi
  # also where one of them was taken meanwhile: the ports of this installation are chosen now, and stay
  rm -f "$keep/web-ports"
  if [ ! -f "$keep/release.pub" ] || [ -n "$key" ]; then
    cp "${key:-$source/gatehouse-release.pub}" "$keep/release.pub.part"
    chmod 0644 "$keep/release.pub.part"
    mv "$keep/release.pub.part" "$keep/release.pub"
  fi
}

# ---------------------------------------------------------------- health
host_of() { case $1 in 0.0.0.0) echo 127.0.0.1 ;; ::) echo '[::1]' ;; *:*) echo "[$1]" ;; *) echo "$1" ;; esac; }
status_of() { # URL: the status line's number, or nothing; curl where it is, else the shipped Node.js
  if has curl; then curl -q -s --noproxy '*' -o /dev/null -m 5 -w '%{http_code}' "$1" 2>/dev/null || true
  elif [ -x "$prefix/current/usr/lib/gatehouse/runtime/node" ]; then
    "$prefix/current/usr/lib/gatehouse/runtime/node" -e \
      'fetch(process.argv[1],{redirect:"manual",signal:AbortSignal.timeout(5000)}).then((r)=>process.stdout.write(String(r.status)),()=>{})' "$1" 2>/dev/null || true
  fi
}
attack="/search?q=1%27%20OR%20%271%27=%271%27%20--%20"
# What the operator may have configured says nothing of health: sites, hosts, modes. The parts themselves do.
is_healthy() {
  admin=$(host_of "$(value ADMIN_BIND 127.0.0.1)")
  [ "$(status_of "http://$admin:$(value API_PORT 8095)/api/health")" = 200 ] || return 1
  case $(status_of "http://$admin:$(value UI_PORT 3010)/") in 200 | 30[1278]) ;; *) return 1 ;; esac
  if [ "$way" = native ]; then [ "$(status_of "http://127.0.0.1:$(value GATEHOUSE_ADMIN_PORT 2019)/readyz")" = 200 ]
  else run_in data-plane health traffic >/dev/null 2>&1; fi
}
# Of a first installation, whose settings are known: an attack is really blocked.
try_attack() {
  entry="http://$(host_of "$(value WAF_BIND 0.0.0.0)"):$(value WAF_PORT 8080)"
  tries=0
  while [ $tries -lt 40 ]; do
    answered=$(status_of "$entry$attack")
    if [ "$answered" = 403 ]; then say 'checked         an attack is blocked'; return 0; fi
    sleep 0.5
    tries=$((tries + 1))
  done
  warn "!! everything runs, but an attack on $entry was answered ${answered:-nothing}, not 403: see the page Overview of the console"
}
health_seconds=${GATEHOUSE_HEALTH_SECONDS:-120}
wait_for_health() {
  deadline=$(($(date +%s) + health_seconds))
  until is_healthy; do
    if [ "$(date +%s)" -ge $deadline ] || ! still_running; then return 1; fi
    sleep 0.5
  done
}

# ---------------------------------------------------------------- native
has_systemd() { [ -d /run/systemd/system ] && [ -z "$root" ]; }
command_line() { # RELEASE-DIRECTORY ARGS…
  release=$1
  shift
  GATEHOUSE_ENV_FILE=$env_file GATEHOUSE_DATA=$state GATEHOUSE_STATE=$state \
    GATEHOUSE_USER=$([ -n "$root" ] || echo gatehouse) "$prefix/$release/usr/bin/gatehouse" "$@"
}
services() {
  printf 'gatehouse-data-plane gatehouse-control-plane gatehouse-console'
  [ -n "$(value UPSTREAM_CUSTOMER '')" ] || printf ' gatehouse-demo'
}
# The demo shop goes when there is an application to protect.
no_demo() {
  [ -z "$(value UPSTREAM_CUSTOMER '')" ] || systemctl disable --quiet --now gatehouse-demo.service 2>/dev/null || true
}
still_running() {
  if [ "$way" = containers ] || has_systemd; then return 0; fi
  up_runs
}
start_native() {
  if has_systemd; then
    systemctl daemon-reload
    # health is asked afterwards, and has its own end
    # shellcheck disable=SC2046 # one word a service
    systemctl enable --quiet $(services) && systemctl start --no-block $(services)
    no_demo
    return
  fi
  [ "$mode" != none ] || return 0
  mkdir -p "$runtime" "$root/var/log/gatehouse"
  chmod 0755 "$runtime"
  if still_running; then return 0; fi
  # the lock of this installation must not outlive it in what it starts
  # the process writes its own number before it is the program: whoever kills this script leaves nobody unknown
  rm -f "$runtime/up.pid"
  # shellcheck disable=SC2016 # the inner shell expands it
  GATEHOUSE_ENV_FILE=$env_file GATEHOUSE_DATA=$state GATEHOUSE_STATE=$state \
    GATEHOUSE_USER=$([ -n "$root" ] || echo gatehouse) \
    setsid sh -c 'echo $$ >"$1.part" && mv "$1.part" "$1" && exec "$2" up' sh "$runtime/up.pid" \
    "$prefix/current/usr/bin/gatehouse" 8<&- 9>&- </dev/null >>"$root/var/log/gatehouse/up.log" 2>&1 &
  tries=0
  while [ ! -f "$runtime/up.pid" ] && [ $tries -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
  # between this number and the program are a shell and setpriv
  tries=0
  while ! up_runs && [ $tries -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
}
# From one release to the other without a refused connection: systemd keeps the listening sockets over a restart, which
# it does not over a stop. The control plane goes first, and the data plane when it is calm again: so each is away for less long.
# Returns when all are ready, or the time for their health is over.
restart_native() {
  systemctl daemon-reload
  # shellcheck disable=SC2046 # one word a service
  systemctl enable --quiet $(services)
  no_demo
  restart_services gatehouse-control-plane gatehouse-console || return 1
  wait_for_control_plane || return 1
  wait_for_calm
  set -- gatehouse-data-plane
  [ -n "$(value UPSTREAM_CUSTOMER '')" ] || set -- "$@" gatehouse-demo
  restart_services "$@"
}
# One that does not start leaves the data plane as it is: protected sites notice nothing of such a release.
wait_for_control_plane() {
  deadline=$(($(date +%s) + health_seconds))
  until [ "$(status_of "http://$(host_of "$(value ADMIN_BIND 127.0.0.1)"):$(value API_PORT 8095)/api/live")" = 200 ]; do
    [ "$(date +%s)" -lt $deadline ] || return 1
    sleep 0.5
  done
}
# The control plane compiles the rules once after its start. Beside that the data plane starts for twice as long. A release
# that does not report it is not waited for.
wait_for_calm() {
  tries=0
  while [ $tries -lt 120 ]; do
    case $(systemctl show -p StatusText --value gatehouse-control-plane 2>/dev/null) in Compiling*) sleep 0.5 ;; *) return 0 ;; esac
    tries=$((tries + 1))
  done
}
# A service that fails is started again by systemd, and health is asked afterwards; one that never is ready ends this.
restart_services() { timeout "$health_seconds" systemctl restart "$@" || [ $? -ne 124 ]; }
stop_native() {
  if has_systemd; then
    systemctl stop gatehouse-console gatehouse-data-plane gatehouse-control-plane gatehouse-demo 2>/dev/null || true
    return 0
  fi
  if up_runs; then
    kill -TERM "$pid" 2>/dev/null || true
    tries=0
    while kill -0 "$pid" 2>/dev/null && [ $tries -lt 300 ]; do sleep 0.2; tries=$((tries + 1)); done
    kill -KILL "$pid" 2>/dev/null || true
  fi
  rm -f "$runtime/up.pid"
}
point_to() { # RELEASE: current → releases/RELEASE, in one step
  rm -f "$prefix/current.part"
  ln -s "releases/$1" "$prefix/current.part"
  mv -T "$prefix/current.part" "$prefix/current"
}
current_release() { basename "$(readlink "$prefix/current" 2>/dev/null || true)"; }
link() { # TARGET NAME
  mkdir -p "$(dirname "$root$2")"
  [ "$(readlink "$root$2" 2>/dev/null || true)" = "$1" ] && return 0
  rm -f "$root$2.part"
  ln -s "$1" "$root$2.part"
  mv -T "$root$2.part" "$root$2"
}
install_libraries() {
  [ -z "$root" ] || return 0
  missing=
  for library in libhs.so.5 libmodsecurity.so.3; do
    ldconfig -p | grep -q "$library" || missing="$missing $library"
  done
  [ -n "$missing" ] || return 0
  step "libraries ($missing )"
  dpkg --configure -a >>"$installer_log" 2>&1 || true
  # Those that are installed stay as they are: the bundle's may be older than what this system has.
  wanted=
  for file in $(listed_below debs); do
    name=$(dpkg-deb -f "$source/$file" Package)
    dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null | grep -qx installed || wanted="$wanted $file"
  done
  # shellcheck disable=SC2086 # one word a file; the bundle names them
  if [ -n "$wanted" ] && (cd "$source" && DEBIAN_FRONTEND=noninteractive dpkg -i $wanted) >>"$installer_log" 2>&1; then return 0; fi
  if [ -z "$bundle" ] && has apt-get && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends libhyperscan5 libmodsecurity3 >>"$installer_log" 2>&1; then return 0; fi
  die "the libraries$missing could not be installed ($installer_log says why)." "apt-get install libhyperscan5 libmodsecurity3, then run the same command again"
}
unpack_release() {
  target=$prefix/releases/$version
  if [ ! -d "$target" ]; then
    step "release $version"
    rm -rf "$prefix"/releases/.part-*
    dpkg-deb -x "$source/$(sed -n 's/^package=//p' "$source/RELEASE")" "$prefix/releases/.part-$version"
    sync -f "$prefix/releases" 2>/dev/null || true
    mv "$prefix/releases/.part-$version" "$target"
  fi
  # an earlier run may have had another mask
  chmod 0755 "$prefix" "$prefix/releases" "$target"
}
link_host() {
  inside=$prefix/current
  inside=${inside#"$root"}
  link "$inside/usr/lib/gatehouse" /usr/lib/gatehouse
  link "$inside/usr/bin/gatehouse" /usr/bin/gatehouse
  for unit in gatehouse-data-plane gatehouse-control-plane gatehouse-console gatehouse-demo; do
    link "$inside/usr/lib/systemd/system/$unit.service" "/etc/systemd/system/$unit.service"
  done
  link "$inside/usr/share/bash-completion/completions/gatehouse" /usr/share/bash-completion/completions/gatehouse
  link "$inside/usr/share/man/man8/gatehouse.8.gz" /usr/share/man/man8/gatehouse.8.gz
  link "$inside/etc/logrotate.d/gatehouse" /etc/logrotate.d/gatehouse
}
prepare_host() {
  GATEHOUSE_ROOT=$root sh "$prefix/releases/$version/usr/lib/gatehouse/bin/prepare-host" \
    "$prefix/releases/$version/usr/lib/gatehouse"
}

# ---------------------------------------------------------------- containers
find_engine() {
  engine=
  for program in docker podman; do
    if has "$program" && "$program" compose version >/dev/null 2>&1; then engine=$program; return 0; fi
  done
}
# With the file of the release that is in use: a newer one has services and variables that this one does not know.
compose() {
  used=$(cat "$prefix/version")
  file=$prefix/releases/$used/compose.yaml
  [ -f "$file" ] || file=$prefix/compose.yaml
  # what an operator adds of his own (files that are mounted, images from another registry) stays over upgrades
  if [ -f "$config/compose.override.yaml" ]; then set -- -f "$config/compose.override.yaml" --profile "$profile" "$@"
  else set -- --profile "$profile" "$@"; fi
  (cd "$prefix" && export_published && GATEHOUSE_VERSION=$used "$engine" compose -p gatehouse --env-file "$env_file" -f "$file" "$@")
}
# Compose takes IPv6 addresses to publish in brackets; .env has them without.
export_published() {
  for name in ADMIN_BIND WAF_BIND; do
    case $(value "$name" '') in *:*:*) export "$name=[$(value "$name" '')]" ;; esac
  done
}
start_containers() { compose up -d --remove-orphans >>"$installer_log" 2>&1 || return 1; }
own_services() { echo "console data-plane control-plane-$profile demo"; }
# A command of gatehouse in a container that runs. The images have no shell.
run_in() { # SERVICE ARGS…
  service=$1
  shift
  compose exec -T "$service" /usr/lib/gatehouse/runtime/node /usr/lib/gatehouse/bin/gatehouse "$@"
}
# A backup is made in the volume of the control plane, where the embedded database is in use, and copied to the host.
inside=/var/lib/gatehouse/backups/before-upgrade.tar
remove_inside() {
  compose exec -T "control-plane-$profile" /usr/lib/gatehouse/runtime/node -e \
    'require("node:fs").rmSync(process.argv[1],{force:true})' "$inside" >>"$installer_log" 2>&1
}
backup_containers() { # FILE
  remove_inside && run_in "control-plane-$profile" backup --without-secrets --to "$inside" >>"$installer_log" 2>&1 || return 1
  container=$(compose ps -q "control-plane-$profile" | head -n 1)
  [ -n "$container" ] && "$engine" cp "$container:$inside" "$1" >>"$installer_log" 2>&1 && [ -s "$1" ]
}
restore_containers() {
  compose run --rm --no-deps -T "control-plane-$profile" restore "$inside" -y >>"$installer_log" 2>&1
}
# Which of the two is installed stays so: the other one has another database.
find_profile() {
  kept=$(cat "$prefix/profile" 2>/dev/null || true)
  if [ -n "$kept" ] && [ -n "$profile" ] && [ "$kept" != "$profile" ]; then
    die "profile $kept is installed here; $profile has another database." "leave --profile out; to change it: back up, run uninstall.sh, install with --profile $profile, restore"
  fi
  profile=${profile:-${kept:-small}}
}
load_images() {
  step "images of $version"
  [ -n "$(listed_below images)" ] || die "the bundle holds no images." "use the bundle with images, or --native"
  for file in $(listed_below images); do
    "$engine" load -i "$source/$file" >>"$installer_log" 2>&1 || die "$engine cannot load $source/$file ($installer_log says why)."
  done
  mkdir -p "$prefix/releases/$version"
  cp "$source/compose.yaml" "$prefix/releases/$version/compose.yaml.part"
  mv "$prefix/releases/$version/compose.yaml.part" "$prefix/releases/$version/compose.yaml"
  printf '%s\n' "$profile" >"$prefix/profile"
  printf '%s\n' "$engine" >"$prefix/engine"
}
use_version() {
  if [ -f "$prefix/releases/$1/compose.yaml" ]; then
    cp "$prefix/releases/$1/compose.yaml" "$prefix/compose.yaml.part"
    mv "$prefix/compose.yaml.part" "$prefix/compose.yaml"
  fi
  printf '%s\n' "$1" >"$prefix/version.part"
  mv "$prefix/version.part" "$prefix/version"
}

# ---------------------------------------------------------------- the steps
step() { say "installing      $*"; }
switch_to() { if [ "$way" = native ]; then point_to "$1"; else use_version "$1"; fi; }
start() { if [ "$way" = native ]; then start_native; else start_containers; fi; }
stop() { if [ "$way" = native ]; then stop_native; else
  # the databases go on: a backup is restored into them
  # shellcheck disable=SC2046 # one word a service
  compose stop $(own_services) >>"$installer_log" 2>&1 || true
fi; }
installed_release() { if [ "$way" = native ]; then current_release; else cat "$prefix/version" 2>/dev/null || true; fi; }
entry() { sed -n "s/^$1=//p" "$journal" 2>/dev/null || true; }
write_journal() { # STEP
  printf 'from=%s\nto=%s\nbackup=%s\nstep=%s\n' "$from" "$version" "$backup" "$1" >"$journal.part"
  mv "$journal.part" "$journal"
}
back_up() { # FILE, by the release that is installed now
  if [ "$way" = native ]; then
    # .env stays on this host, and a copy lies beside the backup: nothing in it has to be sealed for somebody else
    command_line "releases/$from" backup --without-secrets --to "$1" >>"$installer_log" 2>&1
  else backup_containers "$1"; fi
}
make_backup() {
  mkdir -p "$backups"
  chmod 0700 "$backups"
  [ -n "$root" ] || [ "$way" = containers ] || chown gatehouse:gatehouse "$backups"
  backup=$backups/before-$version.tar
  step "backup of release $from ($backup)"
  rm -f "$backup" "$backup.part.tar"
  back_up "$backup.part.tar" ||
    die "the backup before the upgrade failed ($installer_log says why); nothing was changed." "make it by hand with 'gatehouse backup', or free some space, then run the same command again"
  cp -p "$env_file" "$keep/before-$version.env.part"
  mv "$keep/before-$version.env.part" "$keep/before-$version.env"
  mv "$backup.part.tar" "$backup"
}
return_to_old() { # whether the old release serves again, with the data of the backup
  write_journal returning
  warn "what was changed since the backup $backup goes back to it"
  # the data plane keeps its sockets, and serves meanwhile if it can
  if [ "$way" = native ] && has_systemd; then systemctl stop gatehouse-console gatehouse-control-plane 2>/dev/null || true
  else stop; fi
  switch_to "$from"
  if [ "$way" = native ]; then command_line "releases/$from" restore "$backup" -y >>"$installer_log" 2>&1
  else restore_containers; fi ||
    die "the backup $backup could not be restored ($installer_log says why); release $from stands ready with the data as they are." "gatehouse restore $backup -y"
  note release "$from"
  # from here on the old release has its data: a later run upgrades anew, with a new backup
  write_journal returned
  if [ "$way" = native ] && has_systemd; then restart_native || true; else start; fi
  wait_for_health || return 1
  rm -f "$journal"
}
go_back() {
  warn "release $version is not healthy after $health_seconds s; going back to $from"
  if return_to_old; then
    die "release $version was not healthy within $health_seconds s. Release $from serves again with its data; logs: $logs" "read the logs, then run the same command again"
  fi
  die "neither $version nor $from is healthy; logs: $logs" "gatehouse restore $backup -y after reading the logs"
}
upgrade() {
  interrupted=$(entry step)
  # killed before anything was switched
  if [ "$interrupted" = switching ] && [ "$(installed_release)" = "$(entry from)" ]; then interrupted=saved; fi
  case $interrupted in
  switching | returning)
    backup=$(entry backup)
    from=$(entry from)
    ;;
  *)
    # the old release may have served since an earlier run: what was saved then is not what it has now
    [ "$way" = native ] || start || die "release $from does not start, which its backup needs; logs: $logs"
    make_backup
    write_journal saved
    ;;
  esac
  # A run that was killed on its way back goes on with that, whatever bundle it is started from.
  if [ "$interrupted" = returning ]; then go_back; fi
  write_journal switching
  if [ "$way" = native ] && has_systemd; then
    switch_to "$version"
    restart_native || go_back
  else
    stop
    switch_to "$version"
    start || go_back
  fi
  [ "$mode" = none ] && [ "$way" = native ] && ! has_systemd || wait_for_health || go_back
  note release "$version"
  rm -f "$journal"
  [ "$way" = native ] || remove_inside || true
  prune_releases
}
first_install() {
  switch_to "$version"
  note release "$version"
  [ $changed = no ] || stop
  if [ "$mode" = foreground ] && [ "$way" = native ] && ! has_systemd; then return 0; fi
  start || die "the services do not start ($installer_log and the logs say why: $logs)."
  if [ "$mode" = none ] && [ "$way" = native ] && ! has_systemd; then return 0; fi
  wait_for_health || die "$(if still_running; then echo "not healthy within $health_seconds s"; else echo 'it has ended'; fi); logs: $logs" "read the logs, then run the same command again"
  [ -n "$from" ] || try_attack
}
prune_releases() { # the release in use and the one before it stay
  for directory in "$prefix"/releases/*; do
    name=$(basename "$directory")
    if [ "$name" != "$version" ] && [ "$name" != "$from" ]; then rm -rf "$directory"; fi
  done
}

# Last, when everything serves: what is refused here stands in the way of nothing.
harden_host() {
  [ $harden = yes ] || return 0
  if command_line current harden >>"$installer_log" 2>&1; then say 'limits          of connections by client, in front of the protected ports (gatehouse harden --remove takes them back)'
  else warn "!! gatehouse harden failed ($installer_log says why); everything else is installed"; fi
}
summary() {
  admin=$(host_of "$(value ADMIN_BIND 127.0.0.1)")
  say ''
  say "  Gatehouse $version is installed$1."
  say "  console           http://$admin:$(value UI_PORT 3010)"
  [ -z "$(value DASHBOARD_DOMAIN '')" ] || say "                    https://$(value DASHBOARD_DOMAIN '') once its certificate is issued (ports 80 and 443 must lead here)"
  if [ -n "$from" ]; then say "  login             $(value ADMIN_EMAIL admin@gatehouse.local), with the password you chose"
  else say "  login             $(value ADMIN_EMAIL admin@gatehouse.local)   password $(value ADMIN_INITIAL_PASSWORD '')   (to be changed at the first login)"; fi
  say "  WAF entry point   http://localhost:$(value WAF_PORT 8080)"
  say "  protects          $(value UPSTREAM_CUSTOMER 'the bundled demo shop')"
  say "  settings          $env_file"
  [ $harden = yes ] || [ "$way" = containers ] || say "  limits of host    none; gatehouse harden --dry-run shows what it would set"
  if [ "$way" = native ] && ! has_systemd; then
    say ''
    say '  !! There is no systemd here: no service was registered, and nothing starts after a reboot.'
    case $mode in
    background) say "  !! It runs as process $(cat "$runtime/up.pid" 2>/dev/null) under 'gatehouse up'; stop it with: kill $(cat "$runtime/up.pid" 2>/dev/null)" ;;
    none) say "  !! It was not started and its health was not checked. Start it with: gatehouse up" ;;
    foreground) say "  !! It runs in this terminal now, under 'gatehouse up'; its health is what that prints." ;;
    esac
  fi
}

# ---------------------------------------------------------------- main
make_scratch
find_bundle
find_engine
[ -n "$way" ] || { if [ -f "$prefix/engine" ]; then way=containers; elif [ -L "$prefix/current" ] || [ -z "$engine" ]; then way=native; else way=containers; fi; }
# a directory where this installer has a link: files of dpkg
if [ -d "$root/usr/lib/gatehouse" ] && [ ! -L "$root/usr/lib/gatehouse" ]; then
  die 'the package gatehouse is installed here.' 'upgrade it with apt, or remove it first (apt-get remove gatehouse; data stay)'
fi
if [ "$way" = native ] && [ -f "$prefix/engine" ]; then die 'containers are installed here.' 'back up, run uninstall.sh, install with --native, restore'; fi
if [ "$way" = containers ] && [ -L "$prefix/current" ]; then die 'services are installed here.' 'back up, run uninstall.sh, install with --containers, restore'; fi
if [ "$way" = containers ]; then find_profile; else profile=${profile:-small}; fi
say "Gatehouse       $([ "$way" = native ] && echo 'native services' || echo "containers ($profile)")"
verify_bundle
if [ "$way" = containers ]; then
  case ${upstream:-$(value UPSTREAM_CUSTOMER '')} in
  *://127.* | *://localhost | *://localhost[:/]* | *://\[::1\]*)
    die "the upstream is the container's own loopback, where no application is." "write http://host.docker.internal:PORT for an application of this host (it has to listen on more than 127.0.0.1), or use --native" ;;
  esac
fi
choose_ports
preflight
[ "$check" = no ] || exit 0
if [ "$yes" = no ]; then
  [ -t 0 ] || die 'there is nobody to ask.' 'add -y'
  printf 'Install Gatehouse %s into %s? [y/N] ' "$version" "$prefix"
  read -r answer
  case $answer in [yY]*) ;; *) say 'Nothing was changed.'; exit 1 ;; esac
  if [ "$way" = native ] && [ $harden = no ] && has nft && [ -z "$(installed_release)" ]; then
    printf 'Limit connections by client in front of the protected ports, too (nftables, sysctl)? [y/N] '
    read -r answer
    case $answer in [yY]*) harden=yes ;; esac
  fi
fi
mkdir -p "$prefix/releases"
mkdir -p "$keep"
chmod 0755 "$prefix" "$prefix/releases" "$keep"
exec 9>"$prefix/.lock"
if has flock; then flock -n 9 || die 'another install.sh is at work here.' 'wait until it has ended'; fi
# what a run that was killed had started may have gone on until now
remove_left

[ $web_ports = no ] || note web-ports yes
from=$(installed_release)
[ ! -f "$journal" ] || from=$(entry from)
backup=
if [ "$way" = native ]; then
  install_libraries
  unpack_release
  prepare_host
  link_host
else
  GATEHOUSE_ROOT=$root sh "$source/prepare-host.sh" "$source"
  load_images
fi
write_options
if [ -n "$from" ] && { [ "$from" != "$version" ] || [ -f "$journal" ]; }; then
  if [ "$from" != "$version" ]; then upgrade
  else
    # An upgrade was interrupted, and the bundle given now is the release from before it.
    backup=$(entry backup)
    version=$(entry to)
    if [ "$(entry step)" = saved ]; then rm -f "$journal"
    elif [ "$(entry step)" = returned ]; then
      start
      wait_for_health || die "release $from does not serve; logs: $logs"
      rm -f "$journal"
    elif ! return_to_old; then die "release $from does not serve; logs: $logs"; fi
    version=$from
  fi
else
  first_install
  from=$([ "$(noted announced)" = '' ] || echo "$version")
fi
note announced "$version"
harden_host
case $from in '' | "$version") summary '' ;; *) summary ", upgraded from $from" ;; esac
if [ "$mode" = foreground ] && [ "$way" = native ] && ! has_systemd; then
  export GATEHOUSE_ENV_FILE="$env_file" GATEHOUSE_DATA="$state" GATEHOUSE_STATE="$state"
  GATEHOUSE_USER=$([ -n "$root" ] || echo gatehouse)
  export GATEHOUSE_USER
  cleanup
  exec "$prefix/current/usr/bin/gatehouse" up
fi
