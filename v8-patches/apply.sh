#!/bin/sh
# Applies the patches to the V8 of a Node.js source tree: all of them or none. A tree that has them already is not changed.
# Exit 0: the tree has the patches; 1: they can't be applied; 2: misused.
set -eu

usage='Usage: sh v8-patches/apply.sh NODE_SOURCE      (a Node.js 26 source tree, with V8 14.6 in deps/v8)'
here=$(cd "$(dirname "$0")" && pwd)
MAJOR=14 MINOR=6

fail() {
  echo "$2" >&2
  exit "$1"
}

[ $# -eq 1 ] || fail 2 "$usage"
case $1 in --help) echo "$usage"; exit 0 ;; -*) fail 2 "$usage" ;; esac
[ -f "$1/deps/v8/include/v8-version.h" ] ||
  fail 1 "$1 is not a Node.js source tree: it has no deps/v8/include/v8-version.h."
v8=$(cd "$1/deps/v8" && pwd)
version=$v8/include/v8-version.h
number() { sed -n "s/^#define V8_$1_VERSION \([0-9]*\)$/\1/p" "$version"; }
found=$(number MAJOR).$(number MINOR)
[ "$found" = $MAJOR.$MINOR ] ||
  fail 1 "$1 has V8 $found; the patches are for V8 $MAJOR.$MINOR, the one in Node.js 26. Nothing was changed."
command -v patch >/dev/null || fail 1 "The program patch is missing: apt-get install patch."

# The patches are applied to copies first, so a patch that does not fit leaves the tree unchanged.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cd "$here"
files=$(sed -n 's#^+++ b/##p' [0-9]*.patch | sort -u)
copies() {
  for file in $files; do
    [ -f "$v8/$file" ] || fail 1 "$v8 has no $file, so it is not the V8 that the patches are for. Nothing was changed."
    mkdir -p "$copy/$(dirname "$file")"
    cp "$v8/$file" "$copy/$file"
  done
}
reversed() {
  for patch in $(ls -r [0-9]*.patch); do
    patch -d "$copy" -p1 -R --fuzz=0 -f -s --no-backup-if-mismatch <"$patch" >/dev/null 2>&1 || return 1
  done
}
copies
if reversed; then
  echo "$v8 has the patches already."
  exit 0
fi
copies
for patch in [0-9]*.patch; do
  patch -d "$copy" -p1 --fuzz=0 -f -s --no-backup-if-mismatch <"$patch" ||
    fail 1 "$patch does not fit $v8. Nothing was changed."
  echo "$patch fits."
done
for file in $files; do cp "$copy/$file" "$v8/$file"; done
echo "$v8 is patched."
