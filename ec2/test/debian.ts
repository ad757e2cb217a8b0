/**
 * A Debian for instances: systemd, cloud-init with its Ec2 datasource, curl. debootstrap makes it once, in build/debian.
 *
 * Invariant: build/debian is complete when it has the file `whole`, and is never written to: instances use overlays.
 * Cost: 340 MB, about 90 s.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ensurePrograms, installHint } from '../../tools/machine.js';

const ROOT = join(import.meta.dirname, '../..');
export const DEBIAN = join(ROOT, 'build/debian');

const PROGRAMS = ['debootstrap', 'systemd-nspawn', 'ip', 'flock', 'nsenter'];
const PACKAGES = ['debootstrap', 'systemd-container', 'iproute2', 'util-linux'];

/** Makes it if it does not exist. Returns undefined, or why that is not possible. */
export function makeDebian(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root on Linux can boot instances';
  if (!ensurePrograms(PROGRAMS, PACKAGES)) return `missing programs: ${installHint(PACKAGES)}`;
  if (existsSync(join(DEBIAN, 'whole'))) return undefined;
  mkdirSync(join(ROOT, 'build'), { recursive: true });
  console.error('Making a Debian to boot instances from (debootstrap) …');
  // cloud-init is a second step because debootstrap can't resolve alternatives among its dependencies.
  const script = `set -e; [ ! -e "$1/whole" ] || exit 0; rm -rf "$1"
    debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus,curl,ca-certificates,iproute2,procps bookworm "$1"
    cp -L /etc/resolv.conf "$1/etc/resolv.conf"
    DEBIAN_FRONTEND=noninteractive chroot "$1" apt-get -y -qq install --no-install-recommends cloud-init
    rm -rf "$1"/var/cache/apt/archives/*.deb "$1"/var/lib/apt/lists/*
    touch "$1/whole"`;
  const done = spawnSync('flock', [`${DEBIAN}.lock`, 'sh', '-c', script, 'sh', DEBIAN], { encoding: 'utf8' });
  if (done.status === 0) return undefined;
  const lines = `${done.stdout}${done.stderr}`.trim().split('\n');
  return `debootstrap could not make a Debian: ${lines.at(-1)}`;
}
