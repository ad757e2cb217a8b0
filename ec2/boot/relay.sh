#!/bin/bash
# shellcheck source=instance.sh disable=SC2154
# The part of a relay's instance, after instance.sh: a systemd unit with limits, restarted when it crashes, drained when it is
# stopped. It runs until the instance ends.
readonly UNIT=/etc/systemd/system/sprites-relay.service
readonly READY_SECONDS_MAX=60

fetch_bundle
# shellcheck source=/dev/null
. "$ROOT/current/ec2/boot/network.sh"
limits "$(setting ports)"
rm -f "$ROOT/ready.json" # of the boot before
arguments=$(setting arguments)
arguments=${arguments//%i/$ID}
# The address is that of this boot: a relay of a cluster sends it to the others.
case $arguments in *%a*)
  address=$(metadata public-hostname)
  address=${address:-$(metadata public-ipv4)}
  [ -n "$address" ] || fail 'a relay of a cluster needs a public address'
  arguments=${arguments//%a/$address}
  ;;
esac
# The bundle's launcher chooses V8's flags for the memory of this machine. The name of a relay in a cluster is the instance's id.
cat >"$UNIT" <<END
[Unit]
Description=Sprites relay
After=network-online.target
StartLimitIntervalSec=0

[Service]
Type=exec
DynamicUser=yes
StateDirectory=sprites
Environment=SPRITES_RESTART=never
WorkingDirectory=$ROOT/current
ExecStart=$ROOT/current/bin/node tools/launch.js relay --data /var/lib/sprites $arguments
LimitNOFILE=$(ulimit -n)
Restart=on-failure
RestartSec=1
KillMode=mixed
TimeoutStopSec=90
OOMScoreAdjust=-500
NoNewPrivileges=yes
ProtectHome=yes

[Install]
WantedBy=multi-user.target
END
systemctl daemon-reload
systemctl enable sprites-relay
# "restart", so that after a reboot the latest bundle runs; "--no-block", because this script may be part of the boot itself.
systemctl restart --no-block sprites-relay || fail 'systemd rejected the unit'

for ((second = 0; second < READY_SECONDS_MAX; second++)); do
  curl -fsS -m 2 http://127.0.0.1:8083/readyz >"$ROOT/ready.json" 2>/dev/null && break
  sleep 1
done
[ -s "$ROOT/ready.json" ] || { journalctl -u sprites-relay -n 50 --no-pager; fail "the relay is not ready after $READY_SECONDS_MAX s"; }
post "$ROOT/ready.json" "$ID.ready.json"
# Its own figures, once a second, for the report of a swarm (samples.ts).
export SPRITES_RESULTS SPRITES_PREFIX SPRITES_FIELDS
systemctl stop sprites-samples 2>/dev/null
systemd-run -q --no-block --unit=sprites-samples -p Restart=always -p RestartSec=5 --setenv=SPRITES_RESULTS \
  --setenv=SPRITES_PREFIX --setenv=SPRITES_FIELDS "$ROOT/current/bin/node" --disable-warning=ExperimentalWarning \
  "$ROOT/current/ec2/relay_samples.ts" --id "$ID" --admin-url http://127.0.0.1:8083 \
  --admin-token-file /var/lib/sprites/admin-token || say 'the relay is not sampled'
say "the relay is ready: http://$(metadata public-ipv4):8080/"
# The script ends here but the relay stays, so there is no power off and no log. A log in the bucket means an instance has ended.
trap - EXIT TERM
tail -n 5 "$LOG" >/dev/console 2>/dev/null
