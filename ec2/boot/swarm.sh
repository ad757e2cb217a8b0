#!/bin/bash
# shellcheck source=instance.sh disable=SC2154
# The part of a swarm's instance, after instance.sh: it posts that it is ready, waits for go.json, runs its slice of the load,
# posts the result, and powers off.
slice() { "$ROOT/current/bin/node" --disable-warning=ExperimentalWarning "$ROOT/current/ec2/slice.ts" "$@"; }

fetch_bundle
# shellcheck source=/dev/null
. "$ROOT/current/ec2/boot/network.sh"
limits "$(setting ports)"
rm -f "$ROOT/result.json" # of the boot before
slice ready --job "$JOB" --id "$ID" >"$ROOT/ready.json" || fail "the bundle's Node does not run here"
post "$ROOT/ready.json" "$ID.ready.json"
say 'ready'
SPRITES_ADDRESSES=$(private_addresses)
export SPRITES_ADDRESSES SPRITES_RESULTS SPRITES_PREFIX SPRITES_FIELDS # for the slice
slice run --job "$JOB" --id "$ID" --out "$ROOT/result.json"
status=$?
# What EC2 itself held back, because the instance was over its share of connections, packets or bandwidth.
ethtool -S "$(ip -o route get 169.254.169.254 | sed -n 's/.* dev \([^ ]*\).*/\1/p')" 2>/dev/null | grep allowance_exceeded
[ ! -s "$ROOT/result.json" ] || post "$ROOT/result.json" "$ID.result.json"
exit $status
