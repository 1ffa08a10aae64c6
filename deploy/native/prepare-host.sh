#!/bin/sh
# Makes what a release needs on this host and keeps what is there: the user, the directories, the environment file with
# fresh secrets, the rule set and the compiled defaults. Run by the package and by the installer; a second run changes
# nothing. GATEHOUSE_ROOT puts everything below another directory (no user is made then), for tests.
set -eu
umask 022
root=${GATEHOUSE_ROOT:-}
home=${1:-/usr/lib/gatehouse}
config=$root/etc/gatehouse
state=$root/var/lib/gatehouse
logs=$root/var/log/gatehouse
owner=gatehouse

# 32 bytes as 43 characters of base64url: no character that a shell, systemd or Compose reads otherwise.
secret() { head -c "$1" /dev/urandom | base64 | tr -d '\n=' | tr '+/' '-_'; }

# The value that a variable of the example begins with; a generated one is named so in the comment before it.
first_value() { # NAME DEFAULT COMMENT
  case $3 in
  *'(generated)')
    case $1 in *PASSWORD*) secret 15 ;; *) secret 32 ;; esac
    ;;
  *) printf '%s' "$2" ;;
  esac
}

# Writes the lines of .env.example that $1 does not have; values that are there stay as they are.
complete_environment() { # FILE EXAMPLE
  comment=
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in
    '#'*) comment=$line ;;
    [A-Z]*=*)
      name=${line%%=*}
      # an empty secret counts as missing; an empty setting is a choice
      present="^[[:space:]]*\\(export[[:space:]][[:space:]]*\\)\\{0,1\\}${name}[[:space:]]*="
      case $comment in *'(generated)') present="${present}[[:space:]]*[^[:space:]]" ;; esac
      if ! grep -q "$present" "$1" 2>/dev/null; then
        printf '%s\n%s=%s\n\n' "${comment% (generated)}" "$name" "$(first_value "$name" "${line#*=}" "$comment")"
      fi
      ;;
    esac
  done <"$2"
}

if [ -z "$root" ] && [ "$(id -u)" = 0 ] && ! id "$owner" >/dev/null 2>&1; then
  if command -v systemd-sysusers >/dev/null 2>&1 && [ -f /usr/lib/sysusers.d/gatehouse.conf ]; then
    systemd-sysusers gatehouse.conf
  else
    groupadd --system "$owner" 2>/dev/null || true
    useradd --system --gid "$owner" --home-dir /var/lib/gatehouse --no-create-home --shell /usr/sbin/nologin "$owner"
  fi
fi
mkdir -p "$config" "$state" "$logs"
chmod 0750 "$config" "$state" "$logs"

# A file beside it is moved over it: whoever is killed here leaves the old file or the new one, never half of one.
umask 077
file=$config/.env
added=$(complete_environment "$file" "$home/.env.example")
if [ ! -f "$file" ]; then
  {
    echo '# The settings of this deployment. What is here stays over upgrades; changes take effect with a restart.'
    echo
    printf '%s\n\n' "$added"
  } >"$file.part"
  mv "$file.part" "$file"
elif [ -n "$added" ]; then
  { cat "$file"; printf '\n%s\n\n' "$added"; } >"$file.part"
  mv "$file.part" "$file"
fi
chmod 0600 "$file"

# Where the service may write it may have left a link: what goes there is written with its rights.
as_owner() {
  if [ -z "$root" ] && [ "$(id -u)" = 0 ]; then setpriv --reuid "$owner" --regid "$owner" --clear-groups -- "$@"
  else "$@"; fi
}
if [ -z "$root" ] && [ "$(id -u)" = 0 ]; then
  chown -R "$owner:$owner" "$config" "$state" "$logs"
fi

# Rule set, compiled defaults and automata: a first start compiles nothing. What is there is newer, or the same.
if [ -d "$home/seed" ] && [ "$(cat "$state/.seeded" 2>/dev/null || true)" != "$(cat "$home/seed/version" 2>/dev/null || true)" ]; then
  # copied beside, then each file gets its name in one step: half a file would be taken for one that is there
  rm -rf "$state/.seeding"
  as_owner cp -r "$home/seed" "$state/.seeding"
  as_owner cp -rnl "$state/.seeding/." "$state/"
  rm -rf "$state/.seeding"
  rm -f "$state/version" "$state/.seeded.part"
  as_owner cp "$home/seed/version" "$state/.seeded.part" 2>/dev/null && mv "$state/.seeded.part" "$state/.seeded"
fi
