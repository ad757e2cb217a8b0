#!/bin/bash
# shellcheck source=instance.sh disable=SC2154
# A relay on an instance of its own, after instance.sh: a systemd unit with its limits, restarted when it dies, drained when
# it is stopped. It runs until the instance ends.
readonly UNIT=/etc/systemd/system/sprites-relay.service
readonly READY_SECONDS_MAX=60

fetch_bundle
limits "$(setting ports)"
# The bundle is a checkout with everything built: its launcher chooses V8's flags for this machine's memory.
cat >"$UNIT" <<END
[Unit]
Description=Sprites relay
After=network-online.target
StartLimitIntervalSec=0

[Service]
Type=exec
DynamicUser=yes
StateDirectory=sprites
WorkingDirectory=$ROOT/current
ExecStart=$ROOT/current/bin/node tools/launch.js relay --data /var/lib/sprites $(setting arguments)
LimitNOFILE=$(ulimit -n)
Restart=always
RestartSec=1
KillMode=mixed
TimeoutStopSec=15
OOMScoreAdjust=-500
NoNewPrivileges=yes
ProtectHome=yes

[Install]
WantedBy=multi-user.target
END
systemctl daemon-reload
systemctl enable sprites-relay
# "restart" so that a reboot's latest bundle is the one that runs; without waiting, for this may be a part of the boot.
systemctl restart --no-block sprites-relay || fail 'systemd does not take the unit'

for ((second = 0; second < READY_SECONDS_MAX; second++)); do
  curl -fsS -m 2 http://127.0.0.1:8083/readyz >"$ROOT/ready.json" 2>/dev/null && break
  sleep 1
done
[ -s "$ROOT/ready.json" ] || { journalctl -u sprites-relay -n 50 --no-pager; fail "the relay is not ready after $READY_SECONDS_MAX s"; }
post "$ROOT/ready.json" "$ID.ready.json"
say "the relay is ready: http://$(metadata public-ipv4):8080/"
# It stays: the power does not go off before its time. A log in the bucket would mean that it has ended.
trap - EXIT TERM
tail -n 5 "$LOG" >/dev/console 2>/dev/null
