#!/bin/sh
# Gets V8 14.6 from the crate registry, patches it, and compiles some or all of it.
# Every step continues where it was stopped, and does nothing when it is done. Needs no GitHub.
set -eu

usage='Usage: sh v8-patches/crate.sh source|objects|library|program [DIR]

  source    fetches the crate v8 146.9.0, checks its hash, and applies the patches
  objects   compiles the files the patches change; prints the paths of the objects
  library   builds all of V8, some 1500 files; takes hours on a busy machine
  program   links bench/allocate.cc with the library; prints the path of the program

DIR is the folder to work in [build/v8]. JOBS is the number of files compiled at once [2].
Exit 0: done; 1: failed; 2: misused; 3: the crate could not be fetched.
Needs cargo, and for everything but source: apt-get install clang-19 lld-19 llvm-19 generate-ninja ninja-build python3'

here=$(cd "$(dirname "$0")" && pwd)
CRATE=v8-146.9.0
SHA256=59b21777080203cb33828681f177e53402fa2927a1e2d17adead072b0c26b401
LLVM=/usr/lib/llvm-19

fail() {
  echo "$2" >&2
  exit "$1"
}

needs() {
  for program in "$@"; do command -v "$program" >/dev/null || fail 1 "There is no $program. See --help."; done
}

# --- The source ---

# Two commands may run at the same time, as the test suites do: one of them prepares the source, the other waits.
patched_source() {
  needs cargo flock patch sha256sum
  (
    flock 9
    patch_source
  ) 9>"$dir/source.lock"
}

patch_source() {
  stamp=$dir/patched.sha256
  wanted=$(cat "$here"/[0-9]*.patch | sha256sum)
  [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && return
  mkdir -p "$dir/fetch/src"
  : >"$dir/fetch/src/lib.rs"
  printf '[package]\nname = "source"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\nv8 = "=%s"\n' \
    "${CRATE#v8-}" >"$dir/fetch/Cargo.toml"
  cargo fetch --quiet --manifest-path "$dir/fetch/Cargo.toml" ||
    fail 3 "The crate registry did not deliver $CRATE. Run the same command again when it can be reached."
  file=$(ls "${CARGO_HOME:-$HOME/.cargo}"/registry/cache/*/$CRATE.crate | head -n 1)
  found=$(sha256sum "$file" | cut -d ' ' -f 1)
  [ "$found" = $SHA256 ] || fail 1 "$file has the sha256 $found; $SHA256 was expected. Delete it and try again."
  mkdir -p "$dir/crate"
  if [ -f "$dir/crate/v8/include/v8-version.h" ]; then
    # The patches have changed: unpack the files again that the old or the new ones change.
    for patch in "$here"/[0-9]*.patch "$dir"/applied/*.patch; do
      [ -f "$patch" ] && sed -n 's#^+++ b/##p' "$patch"
    done | sort -u | sed "s#^#$CRATE/v8/#" | xargs tar xzf "$file" -C "$dir/crate" --strip-components=1
  else
    tar xzf "$file" -C "$dir/crate" --strip-components=1
  fi
  for patch in "$here"/[0-9]*.patch; do
    patch -d "$dir/crate/v8" -p1 --fuzz=0 -f -s --no-backup-if-mismatch <"$patch" ||
      fail 1 "$(basename "$patch") does not apply to $CRATE."
  done
  rm -rf "$dir/applied"
  mkdir -p "$dir/applied"
  cp "$here"/[0-9]*.patch "$dir/applied/"
  echo "$wanted" >"$stamp"
}

# --- The build ---

# Configured as Node does where it matters to the heap: no pointer compression, no sandbox, typed arrays off the heap.
# WebAssembly, Maglev, Intl and Temporal are left out: they take hours to compile and don't matter here.
ARGS='is_debug=false is_official_build=false target_cpu="x64" symbol_level=0 treat_warnings_as_errors=false
use_custom_libcxx=false use_sysroot=false use_lld=true use_glib=false clang_version="19"
enable_rust=false enable_rust_cxx=false use_cppgc_clang_plugin=false
v8_enable_pointer_compression=false v8_enable_sandbox=false v8_enable_temporal_support=false
v8_enable_i18n_support=false v8_enable_webassembly=false v8_enable_maglev=false
v8_enable_builtins_optimization=false v8_monolithic=true'

# configure FOLDER LEVEL: FOLDER of the build below $dir, and the compiler's optimisation LEVEL.
configure() {
  needs gn ninja python3
  [ -x $LLVM/bin/clang++ ] || fail 1 "There is no clang 19 in $LLVM. See --help."
  [ -f "$dir/$1/configured" ] && return
  # The build expects Chromium's own clang, so this imitates its layout. Its runtime library can be empty: libgcc has the
  # functions.
  runtime=$dir/clang/lib/clang/19/lib/x86_64-unknown-linux-gnu
  mkdir -p "$runtime"
  ln -sfn $LLVM/bin "$dir/clang/bin"
  ln -sfn $LLVM/lib/clang/19/include "$dir/clang/lib/clang/19/include"
  [ -f "$runtime/libclang_rt.builtins.a" ] || $LLVM/bin/llvm-ar rc "$runtime/libclang_rt.builtins.a"
  # Debian's gn is from 2022 and has no path_exists. The one in siso.gni, which chooses another build program, is false here;
  # the others are true.
  sed -i 's/path_exists(.*)/false/' "$dir/crate/build/toolchain/siso.gni"
  sed -i 's/path_exists([^)]*)/true/' "$dir/crate/build/config/c++/modules.gni" \
    "$dir/crate/build/config/compiler/BUILD.gn" "$dir/crate/build/config/sysroot.gni" "$dir/crate/build/toolchain/rbe.gni"
  gn -q gen "$dir/$1" --root="$dir/crate" --script-executable="$(command -v python3)" \
    --args="$(echo "$ARGS" | tr '\n' ' ') clang_base_path=\"$dir/clang\""
  find "$dir/$1/obj" -name '*.ninja' -exec sed -i "s/ -O3 / $2 -w /" {} +
  : >"$dir/$1/configured"
}

# precompile FOLDER: parses the headers once that nearly every file includes. The build then takes a third of the time.
precompile() {
  ninja -C "$dir/$1" -j "$jobs" gen/v8/torque-generated/src/builtins/array-tq-csa.cc obj/v8/v8_base_without_compiler/flags.o
  mkdir -p "$dir/pch"
  grep '^#include "src' "$dir/$1/gen/v8/torque-generated/src/builtins/array-tq-csa.cc" >"$dir/pch/csa.h"
  cp "$here"/bench/pch/*.h "$dir/pch/"
  flags=$(ninja -C "$dir/$1" -t commands obj/v8/v8_base_without_compiler/flags.o | tail -n 1 |
    sed 's/ -MD -MF [^ ]*//; s/ -c [^ ]*//; s/ -o [^ ]*//; s/ -include-pch [^ ]*//')
  for part in base:v8_base_without_compiler compiler:v8_compiler csa:torque_generated_initializers csa:v8_initializers; do
    header=../pch/${part%%:*}
    (cd "$dir/$1" && { [ -f "$header.pch" ] || eval "$flags -x c++-header $header.h -o $header.pch"; })
    file=$dir/$1/obj/v8/${part##*:}.ninja
    grep -q include-pch "$file" || sed -i "s#^cflags_cc = .*#& -include-pch $header.pch#" "$file"
  done
}

# --- The commands ---

objects() {
  patched_source
  configure objects -O0
  changed=$(sed -n 's#^+++ b/src/\(.*/\)*\(.*\)\.cc$#obj/v8/v8_base_without_compiler/\2.o#p' "$here"/[0-9]*.patch | sort -u)
  # flags.cc contains the flags. A patch changes it through its header.
  changed="obj/v8/v8_base_without_compiler/flags.o $changed"
  ninja -C "$dir/objects" -j "$jobs" $changed >&2
  for object in $changed; do echo "$dir/objects/$object"; done
}

library() {
  patched_source
  configure library -O2
  precompile library >&2
  start=$(date +%s)
  ninja -C "$dir/library" -j "$jobs" v8_monolith >&2
  echo "The library took $((($(date +%s) - start) / 60)) min in this run." >&2
}

program() {
  library
  (
    cd "$dir/library"
    $LLVM/bin/clang++ -std=c++20 -O2 -fno-rtti -Wall -Wextra -isystem ../crate/v8/include "$here/bench/allocate.cc" \
      obj/v8/libv8_monolith.a -fuse-ld=lld -pthread -ldl -latomic -o allocate
  )
  echo "$dir/library/allocate"
}

[ $# -ge 1 ] && [ $# -le 2 ] || fail 2 "$usage"
mkdir -p "${2:-$here/../build/v8}"
dir=$(cd "${2:-$here/../build/v8}" && pwd)
jobs=${JOBS:-2}
case $1 in
  source) patched_source ;;
  objects | library | program) $1 ;;
  --help) echo "$usage" ;;
  *) fail 2 "$usage" ;;
esac
