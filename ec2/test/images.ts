/**
 * Systems for instances: systemd, cloud-init with its Ec2 datasource, curl. debootstrap makes each once, in build/.
 *
 * Invariant: a system is complete when it has the file `whole`, and is never written to: instances use overlays.
 * Cost: 340 MB and about 90 s each.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ensureFiles, ensurePrograms, installHint } from '../../tools/machine.js';

const ROOT = join(import.meta.dirname, '../..');
const PROGRAMS = ['debootstrap', 'systemd-nspawn', 'ip', 'flock', 'nsenter'];
const PACKAGES = ['debootstrap', 'systemd-container', 'iproute2', 'util-linux'];
const UBUNTU_KEYS = '/usr/share/keyrings/ubuntu-archive-keyring.gpg';

/** debootstrap's options, and what follows the folder. */
const SYSTEMS = {
  debian: { options: [], suite: 'bookworm', source: [] },
  ubuntu: {
    options: ['--components=main,universe', `--keyring=${UBUNTU_KEYS}`],
    suite: 'noble',
    // All releases of Ubuntu share one script; an older debootstrap does not know their names.
    source: ['http://archive.ubuntu.com/ubuntu', '/usr/share/debootstrap/scripts/gutsy'],
  },
} as const;
export type System = keyof typeof SYSTEMS;

/** The folder of a system that makeImage() has made. */
export function imageOf(system: System): string {
  return join(ROOT, 'build', system);
}

/** Makes it if it does not exist. Returns undefined, or why that is not possible. */
export function makeImage(system: System): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root on Linux can boot instances';
  if (!ensurePrograms(PROGRAMS, PACKAGES)) return `missing programs: ${installHint(PACKAGES)}`;
  const image = imageOf(system);
  if (existsSync(join(image, 'whole'))) return undefined;
  if (system === 'ubuntu' && !ensureFiles([UBUNTU_KEYS], ['ubuntu-archive-keyring'])) {
    return `the keys of Ubuntu's archive are missing: ${installHint(['ubuntu-archive-keyring'])}`;
  }
  mkdirSync(join(ROOT, 'build'), { recursive: true });
  console.error(`Making a ${system} to boot instances from (debootstrap) …`);
  const { options, suite, source } = SYSTEMS[system];
  // cloud-init is a second step because debootstrap can't resolve alternatives among its dependencies.
  const script = `set -e; image=$1; [ ! -e "$image/whole" ] || exit 0; rm -rf "$image"; shift
    debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus,curl,ca-certificates,iproute2,procps "$@"
    cp -L /etc/resolv.conf "$image/etc/resolv.conf"
    DEBIAN_FRONTEND=noninteractive chroot "$image" apt-get -y -qq install --no-install-recommends cloud-init
    rm -rf "$image"/var/cache/apt/archives/*.deb "$image"/var/lib/apt/lists/*
    touch "$image/whole"`;
  const words = ['sh', '-c', script, 'sh', image, ...options, suite, image, ...source];
  const done = spawnSync('flock', [`${image}.lock`, ...words], { encoding: 'utf8' });
  if (done.status === 0) return undefined;
  const lines = `${done.stdout}${done.stderr}`.trim().split('\n');
  return `debootstrap could not make a ${system}: ${lines.at(-1)}`;
}
