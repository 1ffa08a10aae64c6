#!/bin/sh
# Installs Gatehouse, or upgrades what is installed, from an unpacked bundle or from the bundle's archive.
#
#   ./install.sh [-y] [--native|--containers] [--bind ADDR] [--domain FQDN] [--upstream URL] [--offline BUNDLE]
#
# Every step can be repeated: whoever is interrupted at any place runs the same command again and ends at the same
# state. What is not finished lies under a name of its own (.part) and is renamed when it is. An upgrade keeps .env and
# data, makes a backup first, and goes back by itself when the new release is not healthy within two minutes.
set -eu

usage() {
  cat <<'USAGE'
usage: install.sh [options]
  --native          systemd services from the package (default where neither docker nor podman is there)
  --containers      containers by docker compose or podman compose
  --profile NAME    of containers: small (embedded database, default) or full (PostgreSQL and Redis)
  --bind ADDR       address of console and API (default 127.0.0.1; 0.0.0.0 = reachable from the network)
  --domain FQDN     name of the console for automatic HTTPS; its address must lead to this host
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
has() { command -v "$1" >/dev/null 2>&1; }

# ---------------------------------------------------------------- options
way='' bind='' domain='' upstream='' bundle='' key='' yes=no root='' mode=background check=no profile=small
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
  --native) way=native; shift ;;
  --containers) way=containers; shift ;;
  --check) check=yes; shift ;;
  -y | --yes) yes=yes; shift ;;
  -h | --help) usage; exit 0 ;;
  *) bad_usage "there is no option $1." ;;
  esac
done
case $mode in background | foreground | none) ;; *) bad_usage "--run is background, foreground or none; $mode is none of them." ;; esac
case $profile in small | full) ;; *) bad_usage "--profile is small or full; $profile is none of them." ;; esac
case $bind in *[!0-9a-fA-F.:]*) bad_usage "--bind takes an IP address such as 127.0.0.1 or ::; $bind is none." ;; esac
if [ -n "$domain" ]; then
  case $domain in
  *.*) ;;
  *) bad_usage "--domain takes a full name such as waf.example.org; $domain has no dot." ;;
  esac
  case $domain in
  *[!A-Za-z0-9.-]* | .* | *. | -* | *..*) bad_usage "--domain takes a name such as waf.example.org; $domain is none." ;;
  esac
fi
case $upstream in '' | http://?* | https://?*) ;; *) bad_usage "--upstream takes an address such as http://127.0.0.1:3000; $upstream is none." ;; esac
case $upstream in *[[:space:]\"\'\$\`\\]*) bad_usage "--upstream takes an address without white space and quotes." ;; esac

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
prefix=$root/opt/gatehouse
config=$root/etc/gatehouse
env_file=$config/.env
state=$root/var/lib/gatehouse
backups=$root/var/backups/gatehouse
runtime=$root/run/gatehouse
journal=$prefix/upgrade
installer_log=$prefix/install.log
logs="$state/log, $root/var/log/gatehouse, journalctl -u 'gatehouse-*'"

# ---------------------------------------------------------------- the bundle
scratch=
cleanup() { [ -z "$scratch" ] || rm -rf "$scratch"; }
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
      scratch=$(mktemp -d "${TMPDIR:-/tmp}/gatehouse-install.XXXXXX")
      tar -xf "$bundle" -C "$scratch" || die "$bundle cannot be unpacked." "copy it again; compare its SHA-256 with the one published beside it"
      source=$scratch
      [ -f "$source/SHA256SUMS" ] || source=$(dirname "$(find "$scratch" -maxdepth 2 -name SHA256SUMS | head -n 1)")
    else
      die "$bundle is neither a file nor a directory." "name the bundle that you copied to this host"
    fi
  fi
  [ -f "$source/SHA256SUMS" ] || die "there is no bundle in $source (no SHA256SUMS)." "run install.sh inside an unpacked bundle, or name one with --offline"
}

# The signature of minisign with openssl alone: Ed25519 over BLAKE2b-512 of the file.
verify_signature() { # PUBLIC-KEY-FILE FILE
  check_dir=$(mktemp -d "${TMPDIR:-/tmp}/gatehouse-verify.XXXXXX")
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
  rm -rf "$check_dir"
  [ $verdict = good ]
}

verify_bundle() {
  pinned=$config/release.pub
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
value() { # NAME DEFAULT: of .env
  found=
  [ ! -f "$env_file" ] || found=$(sed -n "s/^$1=//p" "$env_file" | tail -n 1)
  printf '%s' "${found:-$2}"
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
  space=$(df -Pm "$(existing_parent "$prefix")" | awk 'NR == 2 { print $4 }')
  if [ "$space" -ge 2000 ]; then row ok 'disk' "$space MiB free" '2000 MiB' ''
  else row FAIL 'disk' "$space MiB free" '2000 MiB' "free some space where $prefix lies"; fi
  files=$(awk '/^Max open files/ { print $4 }' /proc/self/limits)
  if [ "$files" = unlimited ] || [ "$files" -ge 4096 ]; then row ok 'open files' "$files" '4096' ''
  else row warn 'open files' "$files" '4096' 'ulimit -n 65536 (systemd services set their own)'; fi
  for place in "$prefix" "$config" "$state"; do
    parent=$(existing_parent "$place")
    if [ -w "$parent" ]; then row ok 'writable' "$place" 'writable' ''
    else row FAIL 'writable' "$parent" 'writable' "mount it for writing, or run as root"; fi
  done
  ports='WAF_PORT:8080 JA3_PORT:8443 UI_PORT:3010 API_PORT:8095'
  # in containers these two are inside
  [ "$way" = containers ] || ports="$ports GATEHOUSE_ADMIN_PORT:2019"
  [ "$way" = containers ] || [ -n "$upstream$(value UPSTREAM_CUSTOMER '')" ] || ports="$ports DEMO_PORT:8000"
  for pair in $ports; do
    port=$(value "${pair%%:*}" "${pair##*:}")
    if ! port_taken "$port"; then row ok "port $port" free "free (${pair%%:*})" ''
    elif is_ours || [ -f "$prefix/engine" ]; then row ok "port $port" 'this installation' "free (${pair%%:*})" ''
    else row FAIL "port $port" taken "free (${pair%%:*})" "stop what listens there, or write ${pair%%:*}=N into $env_file"; fi
  done
  data_version=$(cat "$state/.release" 2>/dev/null || true)
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
  if [ ! -f "$config/release.pub" ] || [ -n "$key" ]; then
    cp "${key:-$source/gatehouse-release.pub}" "$config/release.pub.part"
    mv "$config/release.pub.part" "$config/release.pub"
  fi
}

# ---------------------------------------------------------------- health
host_of() { case $1 in 0.0.0.0) echo 127.0.0.1 ;; ::) echo '[::1]' ;; *:*) echo "[$1]" ;; *) echo "$1" ;; esac; }
status_of() { # URL: the status line's number, or nothing; curl where it is, else the shipped Node.js
  if has curl; then curl -s -o /dev/null -m 5 -w '%{http_code}' "$1" 2>/dev/null || true
  elif [ -x "$prefix/current/usr/lib/gatehouse/runtime/node" ]; then
    "$prefix/current/usr/lib/gatehouse/runtime/node" -e \
      'fetch(process.argv[1],{redirect:"manual",signal:AbortSignal.timeout(5000)}).then((r)=>process.stdout.write(String(r.status)),()=>{})' "$1" 2>/dev/null || true
  fi
}
attack="/search?q=1%27%20OR%20%271%27=%271%27%20--%20"
is_healthy() {
  admin=$(host_of "$(value ADMIN_BIND 127.0.0.1)")
  [ "$(status_of "http://$admin:$(value API_PORT 8095)/api/health")" = 200 ] &&
    [ "$(status_of "http://$admin:$(value UI_PORT 3010)/")" = 200 ] &&
    [ "$(status_of "http://127.0.0.1:$(value WAF_PORT 8080)$attack")" = 403 ]
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
    return
  fi
  [ "$mode" != none ] || return 0
  mkdir -p "$runtime" "$root/var/log/gatehouse"
  if still_running; then return 0; fi
  # the lock of this installation must not outlive it in what it starts
  # the process writes its own number before it is the program: whoever kills this script leaves nobody unknown
  rm -f "$runtime/up.pid"
  # shellcheck disable=SC2016 # the inner shell expands it
  GATEHOUSE_ENV_FILE=$env_file GATEHOUSE_DATA=$state GATEHOUSE_STATE=$state \
    GATEHOUSE_USER=$([ -n "$root" ] || echo gatehouse) \
    setsid sh -c 'echo $$ >"$1.part" && mv "$1.part" "$1" && exec "$2" up' sh "$runtime/up.pid" \
    "$prefix/current/usr/bin/gatehouse" 9>&- </dev/null >>"$root/var/log/gatehouse/up.log" 2>&1 &
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
  restart_services gatehouse-control-plane gatehouse-console || return 1
  wait_for_calm
  set -- gatehouse-data-plane
  [ -n "$(value UPSTREAM_CUSTOMER '')" ] || set -- "$@" gatehouse-demo
  restart_services "$@"
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
  if [ -d "$root$2" ] && [ ! -L "$root$2" ]; then die "$root$2 belongs to the package gatehouse." "remove it first (apt-get remove gatehouse; data stays), or upgrade with apt"; fi
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
  for file in "$source"/debs/*.deb; do
    [ -f "$file" ] || continue
    name=$(dpkg-deb -f "$file" Package)
    dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null | grep -qx installed || wanted="$wanted $file"
  done
  # shellcheck disable=SC2086 # one word a file; the bundle names them
  if [ -n "$wanted" ] && DEBIAN_FRONTEND=noninteractive dpkg -i $wanted >>"$installer_log" 2>&1; then return 0; fi
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
compose() {
  (cd "$prefix" && GATEHOUSE_VERSION=$(cat "$prefix/version") "$engine" compose --env-file "$env_file" -f "$prefix/compose.yaml" --profile "$profile" "$@")
}
start_containers() { compose up -d --remove-orphans >>"$installer_log" 2>&1 || return 1; }
load_images() {
  step "images of $version"
  for file in "$source"/images/*.tar; do
    [ -f "$file" ] || die "the bundle holds no images." "use the bundle with images, or --native"
    "$engine" load -i "$file" >>"$installer_log" 2>&1 || die "$engine cannot load $file ($installer_log says why)."
  done
  cp "$source/compose.yaml" "$prefix/compose.yaml.part"
  mv "$prefix/compose.yaml.part" "$prefix/compose.yaml"
  printf '%s\n' "$engine" >"$prefix/engine"
}
use_version() {
  printf '%s\n' "$1" >"$prefix/version.part"
  mv "$prefix/version.part" "$prefix/version"
}

# ---------------------------------------------------------------- the steps
step() { say "installing      $*"; }
switch_to() { if [ "$way" = native ]; then point_to "$1"; else use_version "$1"; fi; }
start() { if [ "$way" = native ]; then start_native; else start_containers; fi; }
stop() { if [ "$way" = native ]; then stop_native; else compose stop >>"$installer_log" 2>&1 || true; fi; }
installed_release() { if [ "$way" = native ]; then current_release; else cat "$prefix/version" 2>/dev/null || true; fi; }
entry() { sed -n "s/^$1=//p" "$journal" 2>/dev/null || true; }
write_journal() { # STEP
  printf 'from=%s\nto=%s\nbackup=%s\nstep=%s\n' "$from" "$version" "$backup" "$1" >"$journal.part"
  mv "$journal.part" "$journal"
}
run_old() { # ARGS… with the release that is installed now
  if [ "$way" = native ]; then command_line "releases/$from" "$@"
  else compose run --rm --no-deps -T control-plane "$@"; fi
}
make_backup() {
  mkdir -p "$backups"
  chmod 0700 "$backups"
  [ -n "$root" ] || [ "$way" = containers ] || chown gatehouse:gatehouse "$backups"
  backup=$backups/before-$version.tar
  if [ -f "$backup" ] && [ "$(entry step)" = saved ]; then return 0; fi
  step "backup of release $from ($backup)"
  rm -f "$backup" "$backup.part.tar"
  # .env stays on this host, and a copy lies beside the backup: nothing in it has to be sealed for somebody else
  run_old backup --without-secrets --to "$backup.part.tar" >>"$installer_log" 2>&1 ||
    die "the backup before the upgrade failed ($installer_log says why); nothing was changed." "make it by hand with 'gatehouse backup', or free some space, then run the same command again"
  cp -p "$env_file" "$backups/before-$version.env"
  mv "$backup.part.tar" "$backup"
}
return_to_old() { # whether the old release serves again, with the data of the backup
  write_journal returning
  stop
  switch_to "$from"
  if [ "$way" = native ]; then command_line "releases/$from" restore "$backup" -y >>"$installer_log" 2>&1
  else run_old restore "$backup" -y >>"$installer_log" 2>&1; fi ||
    die "the backup $backup could not be restored ($installer_log says why); release $from stands ready with the data as they are." "gatehouse restore $backup -y"
  printf '%s\n' "$from" >"$state/.release"
  start
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
  if [ "$(entry step)" = '' ]; then
    make_backup
    write_journal saved
  else
    backup=$(entry backup)
    from=$(entry from)
  fi
  # A run that was killed on its way back goes on with that, whatever bundle it is started from.
  if [ "$(entry step)" = returning ]; then go_back; fi
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
  printf '%s\n' "$version" >"$state/.release"
  rm -f "$journal"
  [ "$way" != native ] || prune_releases
}
first_install() {
  switch_to "$version"
  printf '%s\n' "$version" >"$state/.release"
  [ $changed = no ] || stop
  if [ "$mode" = foreground ] && [ "$way" = native ] && ! has_systemd; then return 0; fi
  start || die "the services do not start ($installer_log and the logs say why: $logs)."
  if [ "$mode" = none ] && [ "$way" = native ] && ! has_systemd; then return 0; fi
  wait_for_health || die "not healthy within $health_seconds s; logs: $logs" "read the logs, then run the same command again"
}
prune_releases() { # the release in use and the one before it stay
  for directory in "$prefix"/releases/*; do
    name=$(basename "$directory")
    if [ "$name" != "$version" ] && [ "$name" != "$from" ]; then rm -rf "$directory"; fi
  done
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
find_bundle
find_engine
[ -n "$way" ] || { if [ -f "$prefix/engine" ]; then way=containers; elif [ -L "$prefix/current" ] || [ -z "$engine" ]; then way=native; else way=containers; fi; }
if [ "$way" = native ] && [ -f "$prefix/engine" ]; then die 'containers are installed here.' 'back up, run uninstall.sh, install with --native, restore'; fi
if [ "$way" = containers ] && [ -L "$prefix/current" ]; then die 'services are installed here.' 'back up, run uninstall.sh, install with --containers, restore'; fi
say "Gatehouse       $([ "$way" = native ] && echo 'native services' || echo "containers ($profile)")"
verify_bundle
preflight
[ "$check" = no ] || exit 0
if [ "$yes" = no ]; then
  [ -t 0 ] || die 'there is nobody to ask.' 'add -y'
  printf 'Install Gatehouse %s into %s? [y/N] ' "$version" "$prefix"
  read -r answer
  case $answer in [yY]*) ;; *) say 'Nothing was changed.'; exit 1 ;; esac
fi
mkdir -p "$prefix/releases"
exec 9>"$prefix/.lock"
if has flock; then flock -n 9 || die 'another install.sh is at work here.' 'wait until it has ended'; fi

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
    elif ! return_to_old; then die "release $from does not serve; logs: $logs"; fi
    version=$from
  fi
else
  first_install
  from=$([ "$(cat "$state/.announced" 2>/dev/null || true)" = '' ] || echo "$version")
fi
echo "$version" >"$state/.announced"
case $from in '' | "$version") summary '' ;; *) summary ", upgraded from $from" ;; esac
if [ "$mode" = foreground ] && [ "$way" = native ] && ! has_systemd; then
  export GATEHOUSE_ENV_FILE="$env_file" GATEHOUSE_DATA="$state" GATEHOUSE_STATE="$state"
  GATEHOUSE_USER=$([ -n "$root" ] || echo gatehouse)
  export GATEHOUSE_USER
  cleanup
  exec "$prefix/current/usr/bin/gatehouse" up
fi
