#!/bin/bash
# shellcheck source=instance.sh disable=SC2154
# The part of the instance of a cluster's NATS server, after instance.sh: a systemd unit that is restarted when it crashes. Only the
# fleet's own instances can reach it: the security group opens its port for nobody else. It runs until the instance ends.
readonly UNIT=/etc/systemd/system/sprites-nats.service
readonly READY_SECONDS_MAX=60

fetch_bundle
[ -x "$ROOT/current/bin/nats-server" ] || fail 'the bundle has no nats-server'
rm -f "$ROOT/ready.json" # of the boot before
cat >"$UNIT" <<END
[Unit]
Description=NATS server of Sprites
After=network-online.target
StartLimitIntervalSec=0

[Service]
Type=exec
DynamicUser=yes
StateDirectory=sprites-nats
ExecStart=$ROOT/current/bin/nats-server $(setting arguments)
LimitNOFILE=65536
Restart=always
RestartSec=1
OOMScoreAdjust=-500
NoNewPrivileges=yes
ProtectHome=yes

[Install]
WantedBy=multi-user.target
END
systemctl daemon-reload
systemctl enable sprites-nats
systemctl restart --no-block sprites-nats || fail 'systemd rejected the unit'

# A NATS server greets every connection with one line: INFO and an object of JSON.
for ((second = 0; second < READY_SECONDS_MAX; second++)); do
  (exec 3<>/dev/tcp/127.0.0.1/4222 && read -r -t 2 -u 3 kind greeting && [ "$kind" = INFO ] && echo "$greeting" >"$ROOT/ready.json") \
    2>/dev/null && break
  sleep 1
done
[ -s "$ROOT/ready.json" ] || { journalctl -u sprites-nats -n 50 --no-pager; fail "NATS is not ready after $READY_SECONDS_MAX s"; }
post "$ROOT/ready.json" "$ID.ready.json"
say "NATS is ready at $(metadata local-ipv4)"
# The script ends here but NATS stays, so there is no power off and no log. A log in the bucket means an instance has ended.
trap - EXIT TERM
tail -n 5 "$LOG" >/dev/console 2>/dev/null
