#!/bin/sh
# Configures and builds a patched Node.js, and reports the time and memory it took. Continues where it was stopped.
# Needs a C++20 compiler (g++ 12.2 or clang 19), make, python3, and some 10 GB of disk.
set -eu

usage='Usage: sh v8-patches/build.sh NODE_SOURCE [JOBS]      (a tree patched by apply.sh; JOBS defaults to the number of cores)'
here=$(cd "$(dirname "$0")" && pwd)
fail() {
  echo "$2" >&2
  exit "$1"
}

[ $# -ge 1 ] && [ $# -le 2 ] || fail 2 "$usage"
case $1 in --help) echo "$usage"; exit 0 ;; -*) fail 2 "$usage" ;; esac
jobs=${2:-$(getconf _NPROCESSORS_ONLN)}
case $jobs in *[!0-9]* | 0 | '') fail 2 "$usage" ;; esac
cd "$1" 2>/dev/null || fail 1 "The folder $1 does not exist."
grep -qs young_external_memory_limit deps/v8/src/flags/flag-definitions.h ||
  fail 1 "$1 is not a Node.js source tree with the patches: run sh $here/apply.sh $1 first."
for program in python3 make c++; do
  command -v $program >/dev/null || fail 1 "The program $program is missing: apt-get install g++ make python3."
done
megabytes=$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
[ "$megabytes" -ge $((jobs * 1500)) ] ||
  echo "$megabytes MiB of memory are free, and each of the $jobs jobs takes up to 1500 MiB. If the build is killed, use fewer jobs." >&2

start=$(date +%s)
[ -f config.gypi ] || ./configure
low=$(mktemp)
echo "$megabytes" >"$low"
trap 'rm -f "$low"; kill "$watch" 2>/dev/null || true' EXIT
# Records the least memory that was available, sampled once a second.
(
  least=$megabytes
  while sleep 1; do
    now=$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
    [ "$now" -ge "$least" ] || least=$now
    echo "$least" >"$low"
  done
) &
watch=$!
make -j "$jobs"
seconds=$(($(date +%s) - start))
echo "Built in $((seconds / 60)) min $((seconds % 60)) s with $jobs jobs; at most $((megabytes - $(cat "$low"))) MiB of memory."
for flag in $(sed -n 's/^+DEFINE_SIZE_T(\([a-z_]*\),.*/\1/p' "$here"/[0-9]*.patch 2>/dev/null); do
  ./node --v8-options | grep -q -- "--$(echo "$flag" | tr _ -)" || fail 1 "The node just built has no --$flag."
done
./node --version
