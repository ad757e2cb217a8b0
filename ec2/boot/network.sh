#!/bin/bash
# shellcheck disable=SC2154
# The network of an instance, for its boot script: limits, connection tracking, private addresses. It is part of the bundle and
# not of the user data, which has no room for it. instance.sh defines say and metadata.

readonly FILES=1048576 # open files of a process, so connections too; the sysctls below allow as many

# limits PORTS: raises limits so that one machine can hold a hundred thousand connections to or at the relay's PORTS.
limits() {
  local one
  local wanted=(
    fs.file-max=4194304 fs.nr_open=2097152                                  # open files of the machine, of a process
    net.ipv4.ip_local_port_range='1024 65535' net.ipv4.tcp_tw_reuse=1        # a port for each connection to the relay
    net.core.somaxconn=65535 net.ipv4.tcp_max_syn_backlog=65535              # storms of joins
    net.core.netdev_max_backlog=65535
    net.ipv4.tcp_rmem='4096 8192 4194304' net.ipv4.tcp_wmem='4096 8192 4194304' # a long-poll sends little, so small buffers
    net.ipv4.tcp_mem='262144 1048576 1572864' net.ipv4.tcp_max_orphans=262144
  )
  for one in "${wanted[@]}"; do
    sysctl -qw "$one" 2>/dev/null || say "not changed: ${one%%=*}"
  done
  ulimit -n "$FILES" 2>/dev/null || { ulimit -n "$(ulimit -Hn)" && say "the file limit is only $(ulimit -n)"; }
  without_conntrack "$1"
}

# without_conntrack PORTS: turns off connection tracking, which takes memory for each connection in a table that can fill up.
without_conntrack() {
  [ -e /proc/sys/net/netfilter/nf_conntrack_max ] || return 0
  if command -v nft >/dev/null; then
    nft -f - <<END && return 0
table inet sprites
delete table inet sprites
table inet sprites {
  chain in { type filter hook prerouting priority raw; tcp sport { $1 } notrack; tcp dport { $1 } notrack; }
  chain out { type filter hook output priority raw; tcp sport { $1 } notrack; tcp dport { $1 } notrack; }
}
END
  fi
  sysctl -qw net.netfilter.nf_conntrack_max=4194304 2>/dev/null || say 'connections are tracked, and their table may fill up'
}

# private_addresses: prints every private IPv4 address that EC2 has given to the first interface, and adds those that the
# interface does not have yet. Some images do that by themselves. Each address has its own 64,512 ports to a relay.
private_addresses() {
  local mac device one
  mac=$(metadata mac)
  [ -n "$mac" ] || return 0
  device=$(ip -o link | awk -F': ' -v mac="$mac" 'index($0, mac) { sub(/@.*/, "", $2); print $2; exit }')
  for one in $(metadata "network/interfaces/macs/$mac/local-ipv4s"); do
    ip -4 -o address show | grep -qF " $one/" || ip address add "$one/32" dev "$device" >&2 || continue
    echo "$one"
  done
}
