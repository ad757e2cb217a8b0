/**
 * The machine: which programs and files it lacks, and how to install them.
 *
 * Plain JavaScript, because the launcher runs it under any Node. Only root on a Debian gets packages installed without being
 * asked, and SPRITES_NO_APT=1 prevents that; everybody else gets the command to run.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { arch, platform } from 'node:os';
import { delimiter, join } from 'node:path';
import process from 'node:process';

/** Package managers in the order in which they are looked for, and how each installs. */
const MANAGERS = {
  'apt-get': 'apt-get install',
  dnf: 'dnf install',
  zypper: 'zypper install',
  pacman: 'pacman -S',
  apk: 'apk add',
  brew: 'brew install',
};

/** Where another manager's package has another name than Debian's. An empty name: that system needs no package for it. */
const NAMES = {
  'g++': { dnf: 'gcc-c++', zypper: 'gcc-c++', pacman: 'gcc', brew: 'gcc' },
  'libc6-dev': { dnf: 'glibc-devel', zypper: 'glibc-devel', pacman: '', apk: 'musl-dev', brew: '' },
  libatomic1: { dnf: 'libatomic', pacman: 'gcc-libs', apk: 'libatomic', brew: '' },
  'ninja-build': { zypper: 'ninja', pacman: 'ninja', apk: 'ninja', brew: 'ninja' },
  'nlohmann-json3-dev': {
    dnf: 'json-devel',
    zypper: 'nlohmann_json-devel',
    pacman: 'nlohmann-json',
    apk: 'nlohmann-json',
    brew: 'nlohmann-json',
  },
  'libstb-dev': { dnf: 'stb-devel', zypper: 'stb-devel', pacman: 'stb', apk: 'stb' },
  'doctest-dev': { dnf: 'doctest-devel', zypper: 'doctest-devel', pacman: 'doctest', brew: 'doctest' },
  'libssl-dev': {
    dnf: 'openssl-devel',
    zypper: 'libopenssl-devel',
    pacman: 'openssl',
    apk: 'openssl-dev',
    brew: 'openssl',
  },
  'libcurl4-openssl-dev': {
    dnf: 'libcurl-devel',
    zypper: 'libcurl-devel',
    pacman: 'curl',
    apk: 'curl-dev',
    brew: 'curl',
  },
  'g++-mingw-w64-x86-64-posix': {
    dnf: 'mingw64-gcc-c++',
    zypper: 'mingw64-cross-gcc-c++',
    pacman: 'mingw-w64-gcc',
    apk: 'mingw-w64-gcc',
    brew: 'mingw-w64',
  },
  nsis: { dnf: 'mingw32-nsis', brew: 'makensis' },
  pkgconf: { dnf: 'pkgconf-pkg-config', zypper: 'pkg-config' },
  'libxcb1-dev': { dnf: 'libxcb-devel', zypper: 'libxcb-devel', pacman: 'libxcb', apk: 'libxcb-dev' },
  'libxcb-randr0-dev': { dnf: '', zypper: '', pacman: '', apk: '' },
  'libxcb-shape0-dev': { dnf: '', zypper: '', pacman: '', apk: '' },
  'libxcb-xfixes0-dev': { dnf: '', zypper: '', pacman: '', apk: '' },
  'libglib2.0-dev': { dnf: 'glib2-devel', zypper: 'glib2-devel', pacman: 'glib2', apk: 'glib-dev' },
  'libgtk-3-dev': { dnf: 'gtk3-devel', zypper: 'gtk3-devel', pacman: 'gtk3', apk: 'gtk+3.0-dev' },
  'libgtk-layer-shell-dev': {
    dnf: 'gtk-layer-shell-devel',
    zypper: 'gtk-layer-shell-devel',
    pacman: 'gtk-layer-shell',
    apk: 'gtk-layer-shell-dev',
  },
  'libwayland-dev': { dnf: 'wayland-devel', zypper: 'wayland-devel', pacman: 'wayland', apk: 'wayland-dev' },
  'libturbojpeg0-dev': {
    dnf: 'turbojpeg-devel',
    zypper: 'libjpeg8-devel',
    pacman: 'libjpeg-turbo',
    apk: 'libjpeg-turbo-dev',
    brew: 'jpeg-turbo',
  },
  'libasound2-dev': { dnf: 'alsa-lib-devel', zypper: 'alsa-devel', pacman: 'alsa-lib', apk: 'alsa-lib-dev' },
  'libclang-rt-dev': { dnf: 'compiler-rt', zypper: '', pacman: 'compiler-rt', apk: 'compiler-rt', brew: '' },
  iproute2: { dnf: 'iproute' },
};

/**
 * The command that installs these packages here, for a message: `apt-get install g++ make`.
 *
 * Shape   Takes Debian's names and translates them for the package manager that is installed, or for the one that is usual on
 *         this system if none is found.
 */
export function installHint(packages) {
  const usual = platform() === 'darwin' ? 'brew' : isMusl() ? 'apk' : 'apt-get';
  const manager = Object.keys(MANAGERS).find((program) => findProgram(program)) ?? usual;
  const names = packages.map((name) => NAMES[name]?.[manager] ?? name).filter((name) => name !== '');
  return `${MANAGERS[manager]} ${[...new Set(names)].join(' ')}`;
}

/** How this machine gets Node.js of a major version, for a message. */
export function nodeHint(major) {
  const anywhere = `nvm install ${major}, or https://nodejs.org/en/download`;
  if (platform() === 'darwin') return `brew install node@${major}, ${anywhere}`;
  if (platform() === 'win32') return `winget install OpenJS.NodeJS, or https://nodejs.org/en/download`;
  if (isMusl()) return `apk add nodejs-current npm, or https://nodejs.org/en/download`;
  return anywhere;
}

/** Whether this Linux has musl for its C library (Alpine), on which programs built for glibc do not start. */
export function isMusl() {
  return platform() === 'linux' && process.report?.getReport().header.glibcVersionRuntime === undefined;
}

/** This machine as messages name it: `linux-x64`, `linux-x64 with musl`, `darwin-arm64`. */
export function machineName() {
  return `${platform()}-${arch()}${isMusl() ? ' with musl' : ''}`;
}

/**
 * Installs Debian packages if this is root on a Debian and SPRITES_NO_APT is not set. Two apt runs at once spoil each other, so
 * it tries twice.
 *
 * Shape   false: not installed. The caller says what is missing, with installHint().
 */
export function aptInstall(packages) {
  if (process.env.SPRITES_NO_APT || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return false;
  console.error(`Installing ${packages.join(' ')} (apt-get; SPRITES_NO_APT=1 prevents it) …`);
  const apt = (...args) =>
    spawnSync('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=120', ...args], {
      stdio: ['ignore', 2, 2],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    }).status === 0;
  return withoutServices(() => {
    for (let attempt = 1; attempt <= 2; attempt++) {
      if (apt('update') && apt('install', '-y', '--no-install-recommends', ...packages)) return true;
    }
    return false;
  });
}

/** Debian asks this program whether a package may start its service. */
const POLICY = '/usr/sbin/policy-rc.d';

/** Runs `install` so that no package starts a service: tests want nginx the program, not a server on port 80. */
function withoutServices(install) {
  const own = !existsSync(POLICY);
  if (own) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    return install();
  } finally {
    if (own) rmSync(POLICY, { force: true });
  }
}

/** Whether all of these programs are installed. Installs `packages` if one is missing and apt may be used. */
export function ensurePrograms(programs, packages) {
  return ensure(() => programs.every((program) => findProgram(program)), packages);
}

/** Whether all of these files exist. Installs `packages` if one is missing and apt may be used. */
export function ensureFiles(files, packages) {
  return ensure(() => files.every((file) => existsSync(file)), packages);
}

function ensure(complete, packages) {
  if (complete()) return true;
  aptInstall(packages);
  return complete();
}

/** The path of a program, looked for in PATH; a name with a slash is a path already. */
export function findProgram(program) {
  const folders = program.includes('/') ? [''] : (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path));
}
