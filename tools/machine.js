/** The machine: which Debian packages it lacks, and installing them where that may be done without asking: as root. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import process from 'node:process';

/** What runs the program for Windows on a screen of its own, where people's hands can be played: programs and their packages. */
export const WINE = {
  programs: ['wine', 'Xvfb', 'xdotool', 'xrandr', 'picom', 'openbox', 'setpriv', 'convert'],
  packages: ['wine', 'wine64', 'xvfb', 'xdotool', 'x11-xserver-utils', 'picom', 'openbox', 'util-linux', 'imagemagick'],
};

/**
 * Installs Debian packages, if this is root on a Debian; twice at the most, for two apt runs at once spoil each other.
 *
 * Shape   false: not installed; the caller says what is missing and what command would install it.
 */
export function aptInstall(packages) {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return false;
  console.error(`Installing ${packages.join(' ')} (apt-get) …`);
  const apt = (...args) =>
    spawnSync('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=120', ...args], {
      stdio: ['ignore', 2, 2],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    }).status === 0;
  for (let attempt = 1; attempt <= 2; attempt++) {
    if (apt('update') && apt('install', '-y', '--no-install-recommends', ...packages)) return true;
  }
  return false;
}

/** Whether every one of these programs is there; installs `packages` when one is not, where that may be done. */
export function ensurePrograms(programs, packages) {
  const missing = () => programs.filter((program) => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0);
  if (missing().length === 0) return true;
  aptInstall(packages);
  return missing().length === 0;
}

/** Whether every one of these files is there; installs `packages` when one is not, where that may be done. */
export function ensureFiles(files, packages) {
  const missing = () => files.filter((file) => !existsSync(file));
  if (missing().length === 0) return true;
  aptInstall(packages);
  return missing().length === 0;
}
