/** What tests need of a machine: programs, and their packages on Debian. */
import { spawnSync } from 'node:child_process';
import { installHint } from '../machine.js';

/** What the Windows client needs to run on a virtual screen and be operated by tests: programs and their packages. */
export const WINE = {
  programs: ['wine', 'Xvfb', 'xrandr', 'picom', 'openbox', 'setpriv', 'convert'],
  packages: ['wine', 'wine64', 'xvfb', 'x11-xserver-utils', 'picom', 'openbox', 'util-linux', 'imagemagick'],
};

/** What the client for X11 needs to run on a virtual screen and be operated by tests: programs and their packages. */
export const X11 = {
  programs: ['Xvfb', 'xclip', 'picom', 'openbox', 'setpriv', 'dbus-daemon', 'dbus-send'],
  packages: ['xvfb', 'xclip', 'picom', 'openbox', 'util-linux', 'dbus-daemon', 'dbus-bin'],
};

/** What it needs to run on a compositor of Wayland without a screen. */
export const WAYLAND = {
  programs: ['sway', 'grim', 'wtype', 'setpriv'],
  packages: ['sway', 'grim', 'wtype', 'util-linux'],
};

/** Why this machine can't build fuzzers; undefined if it can. Clang and its runtime are separate packages on Debian. */
export function whyNoFuzzer(): string | undefined {
  const input = 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }';
  const args = ['-fsanitize=fuzzer,address', '-x', 'c++', '-', '-o', '/dev/null'];
  const { status } = spawnSync('clang++', args, { input, stdio: ['pipe', 'ignore', 'ignore'] });
  return status === 0 ? undefined : `needs clang and its runtime: ${installHint(['clang', 'libclang-rt-dev'])}`;
}

/** Browsers besides Chromium in which tests use the page, on a virtual screen: programs and their packages. */
export const OTHER_BROWSERS = {
  programs: ['firefox-esr', 'WebKitWebDriver', 'Xvfb', 'setpriv'],
  packages: ['firefox-esr', 'webkit2gtk-driver', 'xvfb', 'util-linux'],
};
