#!/bin/sh
# The commands of a page, for tests that run them: page-commands.sh PAGE HEADING prints the first block of shell below
# the heading. Exit code 1 where there is none, so that a page that was rearranged is noticed.
set -eu
awk -v heading="$2" '
  $0 == heading { found = 1; next }
  found && !inside && /^```sh$/ { inside = 1; next }
  inside && /^```$/ { done = 1; exit }
  inside { print; lines++ }
  END { exit !(done && lines) }
' "$1"
