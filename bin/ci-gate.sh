#!/bin/sh
# Holds an OpenAPI document to gates in a pipeline, by POST /api/ci-scan of the control plane.
#   BASE_URL=https://gatehouse.example:8095 API_TOKEN=gh_… bin/ci-gate.sh SPEC MAX_HIGH MAX_MEDIUM
# Exit status: 0 the gates hold; 1 a gate is breached; 2 misuse (arguments, environment, a document or a token that is
# refused); 3 the control plane cannot be reached or failed. It needs a POSIX shell and curl.
set -eu

misuse() {
  printf 'ci-gate: %s\n' "$1" >&2
  printf 'usage: BASE_URL=URL API_TOKEN=TOKEN %s SPEC MAX_HIGH MAX_MEDIUM\n' "$0" >&2
  exit 2
}

is_count() {
  case $1 in
    '' | *[!0-9]*) return 1 ;;
    *) [ "${#1}" -le 6 ] ;;
  esac
}

[ "$#" -eq 3 ] || misuse "three arguments are needed, $# were given"
spec=$1
is_count "$2" || misuse "MAX_HIGH is \"$2\"; write a whole number from 0"
is_count "$3" || misuse "MAX_MEDIUM is \"$3\"; write a whole number from 0"
[ -f "$spec" ] && [ -r "$spec" ] || misuse "$spec is no file that can be read"
[ -n "${BASE_URL:-}" ] || misuse 'BASE_URL is not set; write the address of the control plane'
[ -n "${API_TOKEN:-}" ] || misuse 'API_TOKEN is not set; make a token with the permission rules:read'
command -v curl >/dev/null 2>&1 || misuse 'curl is not installed'

# The name goes along, so that each line of the answer says which file it is about. Every byte is percent-encoded,
# because curl encodes queries only from 7.87 on. The control plane takes 300 characters: of a longer path, the last name.
[ "${#spec}" -le 300 ] && name=$spec || name=${spec##*/}
file=$(printf '%s' "$name" | od -An -v -tx1 | tr -d ' \t\n' | sed 's/../%&/g')

answer=$(mktemp)
trap 'rm -f "$answer"' EXIT
trap 'exit 3' HUP INT TERM

# The token goes through the standard input of curl: arguments of a process can be read by others.
status=$(
  printf 'header = "Authorization: Bearer %s"\n' "$API_TOKEN" |
    curl --config - --silent --show-error --max-time 60 --output "$answer" --write-out '%{http_code}' \
      --header 'Content-Type: text/plain' --data-binary "@$spec" \
      "${BASE_URL%/}/api/ci-scan?format=text&max_high=$2&max_medium=$3&file=$file"
) || {
  printf 'ci-gate: %s cannot be reached\n' "$BASE_URL" >&2
  exit 3
}

# Prints what a problem document (RFC 9457) says: the detail, and each of its errors as "path reason; how to fix it".
# Fails when the answer is none, as a proxy in between writes its own. An escape \uXXXX stays as it is written, so that
# no answer sends control characters to a terminal.
explain() {
  awk '
    function string(  one, text) {
      text = ""
      while (at <= size) {
        one = substr(all, at++, 1)
        if (one == "\"") return text
        if (one == "\\") {
          one = substr(all, at++, 1)
          if (one == "u") one = "\\u"
          else if (index("nrtbf", one)) one = " "
        }
        text = text one
      }
      return text
    }
    { all = all $0 " " }
    END {
      size = length(all)
      if (all !~ /^[ \t\r]*[{]/) exit 1
      for (at = 1; at <= size; ) {
        one = substr(all, at++, 1)
        if (one == "\"") {
          text = string()
          while (substr(all, at, 1) ~ /[ \t\r]/ && at <= size) at++
          if (substr(all, at, 1) == ":") { key = text; continue }
          if (key == "detail") { print "ci-gate: " text; said = 1 }
          else if (key == "path" || key == "reason" || key == "fix") part[key] = text
          key = ""
        } else if (one == "}") {
          if (part["reason"] != "")
            print "  " (part["path"] == "" ? "(whole)" : part["path"]) " " part["reason"] \
              (part["fix"] == "" ? "" : "; " part["fix"])
          part["path"] = part["reason"] = part["fix"] = ""
        }
      }
      exit !said
    }' "$1"
}

case $status in
  200) ;;
  4*)
    printf 'ci-gate: the control plane refused the scan (%s)\n' "$status" >&2
    explain "$answer" >&2 || cat "$answer" >&2
    exit 2
    ;;
  *)
    printf 'ci-gate: the control plane failed (%s)\n' "$status" >&2
    exit 3
    ;;
esac
cat "$answer"
read -r verdict rest <"$answer" || true
case $verdict in
  PASS) exit 0 ;;
  FAIL) exit 1 ;;
  *)
    printf 'ci-gate: the answer is none of a scan\n' >&2
    exit 3
    ;;
esac
