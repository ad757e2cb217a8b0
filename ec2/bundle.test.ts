import assert from 'node:assert/strict';
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { ensurePrograms, findProgram } from '../tools/machine.js';
import { type Bundle, makeBundle } from './bundle.ts';
import { enginePlanOf, writeJob } from './job.ts';

const skip = process.platform === 'linux' ? false : 'the bundle contains programs for Linux';
const MAKE = `import(${JSON.stringify(join(import.meta.dirname, 'bundle.ts'))}).then(async ({ makeBundle }) => console.log(JSON.stringify(await makeBundle(console.error))))`;

/** The longest that the relay and the slice may take together, in ms. Normally they take a few seconds. */
const INSTANCE_MS_MAX = 60_000;

/**
 * Runs a relay and a slice as an instance does, from /opt/sprites/current, in namespaces that end with it.
 * $1: the unpacked bundle; $2: a folder with the job, for the relay's log and the result.
 */
const INSTANCE = `set -e
  mount -t tmpfs tmpfs /opt
  mkdir /opt/sprites
  ln -s "$1" /opt/sprites/current
  ip link set lo up
  cd /opt/sprites/current
  [ ! -e bin/nats-server ] || bin/nats-server --version >"$2/nats"
  bin/node tools/launch.js relay --data "$2/data" >"$2/relay.log" 2>&1 &
  tail -F -n +1 "$2/relay.log" 2>/dev/null | grep -q -m 1 'relay ready'
  bin/node --disable-warning=ExperimentalWarning ec2/slice.ts ready --job "$2/job" --id i-1 >"$2/ready.json"
  bin/node --disable-warning=ExperimentalWarning ec2/slice.ts run --job "$2/job" --id i-1 --out "$2/result.json"`;

const NAMESPACES = ['--mount', '--propagation', 'private', '--net', '--pid', '--mount-proc', '--fork', '--kill-child'];

/** For the list of the files of a bundle, of which there are some thousand. */
const LISTING_BYTES_MAX = 2 ** 24;

/** What is in a folder, as tar lists it: by name, each folder before what is in it. */
function sortedTree(root: string, under: string): string[] {
  return readdirSync(join(root, under), { withFileTypes: true })
    .sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
    .flatMap((one) =>
      one.isDirectory()
        ? [`${under}${one.name}/`, ...sortedTree(root, `${under}${one.name}/`)]
        : [`${under}${one.name}`],
    );
}

function whyNoInstance(): string | false {
  if (!ensurePrograms(['unshare', 'ip'], ['util-linux', 'iproute2'])) return 'unshare or ip is missing';
  const { status, stderr } = spawnSync('unshare', [...NAMESPACES, 'true'], { encoding: 'utf8' });
  return status === 0 ? false : `namespaces can't be made: ${stderr.trim()}`;
}

/** The programs that an instance starts, and the swarm, which can be run there by hand. */
const PROGRAMS = [
  'tools/launch.js',
  'server/bin/relay.ts',
  'ec2/slice.ts',
  'ec2/relay_samples.ts',
  'loadtest/bin/swarm.ts',
];

describe('bundle', { skip, timeout: 900_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'sprites-bundle-'));
  let [first, second]: Bundle[] = [];
  let said: string[];
  before(async () => {
    rmSync(join(import.meta.dirname, '../build/fleet/bundle.sources'), { force: true });
    const make = () => promisify(execFile)(process.execPath, ['--disable-warning=ExperimentalWarning', '-e', MAKE]);
    const made = await Promise.all([make(), make()]);
    said = made.map(({ stderr }) => stderr);
    [first, second] = made.map(({ stdout }) => JSON.parse(stdout) as Bundle);
    execFileSync('tar', ['-xzf', first.file, '-C', folder]);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('is packed by one of two processes that want it at the same time, and not again', async () => {
    assert.deepEqual(second, first);
    assert.equal(said.join('').match(/^Packing the bundle/gm)?.length, 1, said.join(''));
    assert.deepEqual(await makeBundle(() => assert.fail('it exists already')), first);
  });

  it('has the same bytes whenever and by whomever the same files are packed', () => {
    const [, , , flags, ...timeBytes] = readFileSync(first.file).subarray(0, 8);
    assert.deepEqual([flags, ...timeBytes], [0, 0, 0, 0, 0], 'neither name nor time in the head of gzip');
    const listing = execFileSync('tar', ['-tvzf', first.file, '--numeric-owner', '--full-time', '--utc'], {
      ...{ encoding: 'utf8', maxBuffer: LISTING_BYTES_MAX },
    });
    const entries = listing.trimEnd().split('\n');
    for (const entry of entries) assert.match(entry, /^\S+ 0\/0 +\d+ 1970-01-01 00:00:00 /);
    const paths = entries.map((entry) => entry.replace(/^(?:\S+ +){5}/, '').replace(/ -> .*/, ''));
    assert.deepEqual(paths, ['./', ...sortedTree(folder, './')]);
  });

  it('contains what an instance runs, and no tests', () => {
    const list = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    for (const path of [
      'bin/node',
      'build/swarm/swarm-engine',
      'lib/libatomic.so.1',
      'lib/libc.so.6',
      'ec2/slice.ts',
      'loadtest/bin/swarm.ts',
      'tools/launch.js',
      'node_modules/express/package.json',
      'tools/commit.txt',
    ]) {
      assert.ok(list.includes(path), path);
    }
    assert.deepEqual(
      list.filter((path) => /^(?:server|loadtest|ec2|tools)\/.*\.test\.ts$|\/\.git\/|aws-sdk/.test(path)),
      [],
    );
  });

  it('contains every file and package that its programs import', () => {
    const visited = new Set<string>();
    const visit = (file: string): void => {
      if (visited.has(file)) return;
      visited.add(file);
      const source = readFileSync(join(folder, file), 'utf8');
      const statements = source.matchAll(/^(?:import|export) (?!type)(?:[^'";]* from )?'([^']+)'/gm);
      for (const [, name] of [...statements, ...source.matchAll(/\bimport\('([^']+)'\)/g)]) {
        if (name.startsWith('.')) visit(join(dirname(file), name));
        else if (!isBuiltin(name))
          assert.ok(existsSync(join(folder, 'node_modules', name, 'package.json')), `${file} imports ${name}`);
      }
    };
    for (const program of PROGRAMS) visit(program);
    assert.ok(visited.size > 50, `${visited.size} files`);
  });

  it('has the native front for the sources in it, so that an instance does not try to build it', async () => {
    const build = `import(${JSON.stringify(join(folder, 'tools/build.js'))}).then(({ buildAddon }) => console.log(buildAddon(process.execPath)))`;
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['-e', build]);
    assert.equal(stdout, 'undefined\n');
    assert.equal(stderr, '');
  });

  it('runs a relay with the native front, a slice against it, and NATS, where instances unpack it', {
    skip: skip || whyNoInstance(),
  }, async () => {
    const work = mkdtempSync(join(tmpdir(), 'sprites-instance-'));
    const load = { desktops: 50, rate: 50, seconds: 1, warmUpSeconds: 0, connectRate: 500, thresholds: [], more: {} };
    const plan = enginePlanOf({ ...load, relays: [new URL('http://127.0.0.1:8080/')] }, 'fleet', '%i');
    const job = writeJob({ bundle: '-', sha256: '-', ports: [8080, 8081], waitSeconds: 0, arguments: [], plan });
    writeFileSync(join(work, 'job'), job);
    const command = [...NAMESPACES, 'sh', '-c', INSTANCE, 'sh', folder, work];
    const log = () => readFileSync(join(work, 'relay.log'), 'utf8');
    try {
      await promisify(execFile)('unshare', command, { timeout: INSTANCE_MS_MAX, killSignal: 'SIGKILL' }).catch(
        (error: Error) => assert.fail(`${error.message}\n${log()}`),
      );
      assert.match(log(), /"front":\{"kind":"native"/);
      assert.equal(JSON.parse(readFileSync(join(work, 'ready.json'), 'utf8')).name, 'i-1');
      const result = JSON.parse(readFileSync(join(work, 'result.json'), 'utf8'));
      assert.equal(result.ok, true);
      assert.ok(result.delivered > 0, JSON.stringify(result));
      if (findProgram('nats-server')) assert.match(readFileSync(join(work, 'nats'), 'utf8'), /^nats-server: v\d/);
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  });
});
