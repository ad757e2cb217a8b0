#!/bin/bash
# shellcheck source=instance.sh disable=SC2154
# The part of a swarm's instance, after instance.sh: it posts that it is ready, waits for go.json, runs its slice of the load,
# posts the result, and powers off.
slice() { "$ROOT/current/bin/node" --disable-warning=ExperimentalWarning "$ROOT/current/ec2/slice.ts" "$@"; }

fetch_bundle
limits "$(setting ports)"
slice ready --job "$JOB" --id "$ID" >"$ROOT/ready.json" || fail "the bundle's Node does not run here"
post "$ROOT/ready.json" "$ID.ready.json"
say 'ready'
slice run --job "$JOB" --id "$ID" --out "$ROOT/result.json"
status=$?
[ ! -s "$ROOT/result.json" ] || post "$ROOT/result.json" "$ID.result.json"
exit $status
