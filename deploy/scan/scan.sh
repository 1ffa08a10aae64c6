#!/bin/sh
# `gatehouse scan` for pipelines, by variables: SCAN_PATHS, SCAN_ONLY, SCAN_FAIL_ON, SCAN_BASELINE, SCAN_ADVISORIES,
# SCAN_OUTPUT (SARIF). The program is $GATEHOUSE, else the image $IMAGE without a network, else `gatehouse` on PATH. Ends
# as the scan ends: 0 nothing, 1 something, 2 not everything was read.
set -eu
set -f
set -- scan --format sarif -o "${SCAN_OUTPUT:-gatehouse.sarif}" --fail-on "${SCAN_FAIL_ON:-high}" --no-cache "$@"
[ -z "${SCAN_ONLY:-}" ] || set -- "$@" --only "$SCAN_ONLY"
[ -z "${SCAN_BASELINE:-}" ] || set -- "$@" --baseline "$SCAN_BASELINE"
[ -z "${SCAN_ADVISORIES:-}" ] || set -- "$@" --advisories "$SCAN_ADVISORIES"
# a path that begins with a dash is no option; blanks part several
# shellcheck disable=SC2086
set -- "$@" -- ${SCAN_PATHS:-.}
if [ -n "${GATEHOUSE:-}" ]; then
  exec "$GATEHOUSE" "$@"
elif [ -n "${IMAGE:-}" ]; then
  exec docker run --rm --network none --cap-drop ALL --security-opt no-new-privileges --user "$(id -u):$(id -g)" \
    --volume "$PWD:/src" --workdir /src --entrypoint gatehouse "$IMAGE" "$@"
else
  exec gatehouse "$@"
fi
