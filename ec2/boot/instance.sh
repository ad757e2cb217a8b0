#!/bin/bash
shutdown -h +"${SPRITES_MINUTES:=60}" # first, so that the instance ends whatever fails below
#
# The first part of every instance's user data; swarm.sh, relay.sh or nats.sh follows. `npm run fleet -- user-data` prints the whole
# script, with the settings after its first line, ready to be pasted into the EC2 console.
#
# It fetches the job and the bundle that the job names, and checks the bundle's hash. At the end it posts its log to the bucket
# and powers off. At every further boot it runs again and fetches the job again, and so the latest bundle: after a reboot, and
# after a stopped instance is started again.
#
# Settings: SPRITES_MINUTES (minutes until the power goes off), SPRITES_JOB (address of the job), and for what it posts
# SPRITES_RESULTS (address), SPRITES_PREFIX (of the keys), SPRITES_FIELDS (name=value lines of the signed form).
# It needs bash, curl, tar, gzip, sha256sum and systemd; Amazon Linux 2023 and Debian 12 have them.
set -uo pipefail

readonly ROOT=/opt/sprites          # the bundle's programs look for their libraries in $ROOT/current/lib
readonly JOB=$ROOT/job              # the job: name=value lines
readonly LOG=/var/log/sprites.log
readonly METADATA=http://169.254.169.254/latest
readonly FETCH_SECONDS_MAX=300      # 50 MB take two seconds inside EC2

mkdir -p "$ROOT"
exec >>"$LOG" 2>&1

# A reboot does not restart the clock; a start after a stop does, because somebody asked for it (see keep_time).
[ -s "$ROOT/born" ] || date +%s >"$ROOT/born"
left=$((SPRITES_MINUTES - ($(date +%s) - $(<"$ROOT/born")) / 60))
shutdown -h +"$((left > 0 ? left : 0))"

command -v curl >/dev/null || { apt-get -qq update && apt-get -qqy install curl; } # some images of Debian lack it

say() { echo "$(date -u +%H:%M:%S) $*"; }

# fail WHY: logs the reason and ends, which posts the log and powers off.
fail() {
  say "FAILED: $*"
  exit 1
}

# metadata PATH: one value of the instance's metadata; empty when the service does not respond.
metadata() {
  local token
  token=$(curl -fsS -m 5 -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 300' "$METADATA/api/token") || return 0
  curl -fsS -m 5 -H "X-aws-ec2-metadata-token: $token" "$METADATA/meta-data/$1"
}

# get URL FILE: retries while the network is not up or the server fails, but not after a response such as 404.
get() { curl -fsS --retry 5 --retry-delay 2 --retry-connrefused --connect-timeout 5 -m "$FETCH_SECONDS_MAX" -o "$2" "$1"; }

# post FILE NAME: writes the file to the bucket as NAME.
post() {
  local form=() line
  [ -n "${SPRITES_RESULTS:-}" ] || { say "$2 is not posted: there is no address for results"; return 0; }
  while IFS= read -r line; do form+=(--form-string "$line"); done <<<"$SPRITES_FIELDS"
  curl -fsS --retry 3 --retry-connrefused --connect-timeout 5 -m 120 -o /dev/null --form-string "key=$SPRITES_PREFIX$2" \
    "${form[@]}" -F "file=@$1" "$SPRITES_RESULTS" || say "$2 could not be posted"
}

# setting NAME: the job's value; empty when the job does not have it.
setting() { sed -n "s/^$1=//p" "$JOB" | head -n 1; }

# Runs however the script ends: posts the log, writes its end to the console (`get-console-output`), and powers off. The
# instance was started with "terminate on shutdown", so this terminates it. In a reboot the machine goes down by itself.
# shellcheck disable=SC2317 # the trap calls it
finish() {
  local status=$?
  trap - EXIT TERM
  say "ends with status $status after $SECONDS s"
  post "$LOG" "$ID.log"
  tail -n 40 "$LOG" >/dev/console 2>/dev/null
  [ "$(systemctl is-system-running 2>/dev/null)" = stopping ] || poweroff || shutdown -h now
}

# Forgets when the instance was started, when it goes down and not only reboots.
keep_time() {
  cat >/etc/systemd/system/sprites-time.service <<'END'
[Unit]
Description=Sprites: an instance that is started again has all its minutes
Before=sprites-relay.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/true
ExecStop=/bin/sh -c 'systemctl list-jobs | grep -q reboot.target || rm -f /opt/sprites/born'
[Install]
WantedBy=multi-user.target
END
  systemctl daemon-reload
  systemctl enable sprites-time # a further boot may end before this script runs
  systemctl start --no-block sprites-time
}

# Makes every boot run this script. cloud-init runs user data only once in an instance's life.
again_at_every_boot() {
  local hook=/var/lib/cloud/scripts/per-boot/sprites
  [ -d "${hook%/*}" ] || return 0
  [ "$0" -ef "$hook" ] || install -m 700 "$0" "$hook"
}

# Fetches the job and its bundle. Afterwards $ROOT/current is that bundle; otherwise the script has ended.
fetch_bundle() {
  local sum
  get "$SPRITES_JOB" "$JOB" || fail "the job can't be fetched"
  sum=$(setting sha256)
  if [ ! -e "$ROOT/$sum/.whole" ]; then
    get "$(setting bundle)" "$ROOT/bundle.tar.gz" || fail "the bundle can't be fetched"
    # A wrong hash is not a network error, so there is no retry.
    echo "$sum  $ROOT/bundle.tar.gz" | sha256sum --status -c || fail "the bundle is not the one the job names (sha256 $sum)"
    mkdir -p "$ROOT/$sum"
    tar -xzf "$ROOT/bundle.tar.gz" -C "$ROOT/$sum" || fail "the bundle can't be unpacked"
    rm "$ROOT/bundle.tar.gz"
    touch "$ROOT/$sum/.whole"
  fi
  ln -sfn "$sum" "$ROOT/current"
  say "bundle $sum is unpacked"
}

ID=instance-$(hostname)
trap finish EXIT
trap 'exit 143' TERM
ID=$(metadata instance-id)
ID=${ID:-instance-$(hostname)}
say "instance $ID boots; it ends in $left minutes at the latest"
keep_time
again_at_every_boot
