# Sourced by the scripts that run inside a machine: the API with curl, as an administrator.
# shellcheck shell=sh
API=http://127.0.0.1:8095
# Logs in; at the first login of an installation with a password of its own. Sets $token.
log_in() {
  email=$(sed -n 's/^ADMIN_EMAIL=//p' /etc/gatehouse/.env)
  first=$(sed -n 's/^ADMIN_INITIAL_PASSWORD=//p' /etc/gatehouse/.env)
  chosen=Loud-brook-pebble-52
  token=$(token_of "$chosen")
  [ -z "$token" ] || return 0
  token=$(token_of "$first")
  ask POST /api/account/password "{\"current\":\"$first\",\"password\":\"$chosen\"}" >/dev/null
  token=$(token_of "$chosen")
  [ -n "$token" ] || { echo "login of $email failed"; return 1; }
}
token_of() {
  curl -s "$API/api/login" -H 'content-type: application/json' \
    -d "{\"email\":\"${email:-admin@gatehouse.local}\",\"password\":\"$1\"}" | sed -n 's/.*"token":"\([^"]*\)".*/\1/p'
}
ask() { # METHOD PATH [BODY]
  if [ $# -gt 2 ]; then curl -sf -X "$1" "$API$2" -H "authorization: Bearer $token" -H 'content-type: application/json' -d "$3"
  else curl -sf -X "$1" "$API$2" -H "authorization: Bearer $token"; fi
}
