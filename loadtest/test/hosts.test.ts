/** A swarm over two hosts that sshd serves here, against one relay; and the merge of what their engines printed. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { start } from '../../tools/bench/contender.ts';
import { freePorts } from '../../tools/bench/free_ports.ts';
import { isListening } from '../../tools/bench/listener.ts';
import { buildEngine } from '../../tools/build.js';
import { ensurePrograms, findProgram, installHint } from '../../tools/machine.js';
import { folderOf, reportIn, SHORT, said, swarm } from './command.ts';

const PACKAGES = ['openssh-client', 'openssh-server'];
const why = buildEngine() ?? (ensurePrograms(['ssh', 'sshd'], PACKAGES) ? false : installHint(PACKAGES));

/** The two hosts: addresses of this machine, each with the same sshd. */
const HOSTS = ['127.0.0.1', '127.0.0.2'];

/** Starts sshd for this user alone. Returns the command that reaches its hosts, and the folder of what is copied there. */
async function startSshd(folder: string): Promise<{ ssh: string; cache: string; sshd: ChildProcess }> {
  const at = (name: string) => join(folder, name);
  const [port] = await freePorts(1);
  for (const key of ['host', 'user']) execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at(key)]);
  const server = [
    ...HOSTS.map((host) => `ListenAddress ${host}:${port}`),
    ...[`HostKey ${at('host')}`, `AuthorizedKeysFile ${at('user.pub')}`, 'StrictModes no', 'UsePAM no'],
    ...[
      'PasswordAuthentication no',
      'PermitRootLogin yes',
      `PidFile ${at('pid')}`,
      `SetEnv XDG_CACHE_HOME=${at('cache')}`,
    ],
  ];
  const client = [
    ...[
      `Port ${port}`,
      `User ${userInfo().username}`,
      `IdentityFile ${at('user')}`,
      'IdentitiesOnly yes',
      'BatchMode yes',
    ],
    ...['StrictHostKeyChecking no', `UserKnownHostsFile ${at('known')}`, 'LogLevel ERROR'],
  ];
  writeFileSync(at('sshd_config'), `${server.join('\n')}\n`);
  writeFileSync(at('ssh_config'), `${client.join('\n')}\n`);
  if (userInfo().uid === 0) mkdirSync('/run/sshd', { recursive: true });
  const sshd = spawn(findProgram('sshd') as string, ['-D', '-e', '-f', at('sshd_config')], { stdio: 'ignore' });
  while (!(await isListening({ port, host: HOSTS[1] }))) {
    assert.equal(sshd.exitCode, null, 'sshd does not start');
    await sleep(20);
  }
  return { ssh: `ssh -F ${at('ssh_config')}`, cache: at('cache'), sshd };
}

describe('swarm over hosts', { skip: why, timeout: 300_000 }, () => {
  it('plays a share on each, throws from the same moment, and makes one account; merge makes it again', async (t) => {
    const { ssh, cache, sshd } = await startSshd(folderOf(t));
    t.after(() => sshd.kill());
    const relay = await start({ name: 'portable', front: 'portable', workers: 0 });
    t.after(() => relay.stop());
    const out = folderOf(t);
    const url = ['--url', `http://127.0.0.1:${relay.api}`];
    // A busy machine opens one window some 100 ms after the other; a run is void when they have less than 97 % in common.
    const load = ['--rate', '100', '--duration', '6s', '--threshold', 'lost == 0', '--threshold', 'desktops == 40'];
    const hosts = ['--hosts', HOSTS.join(','), '--ssh', ssh];
    const { code, stdout, stderr } = await swarm([...SHORT, ...load, ...url, ...hosts, '--out', out]);
    assert.equal(code, 0, stderr + stdout);
    const report = reportIn(out);
    assert.deepEqual([report.desktops, report.parked, report.voidReason], [40, 40, '']);
    assert.ok(report.accepted > 100 && report.delivered === report.accepted, String(report.accepted));
    assert.equal(report.foreign, 0);
    assert.deepEqual(
      report.machines.map(({ name }) => name.split(',')[0]),
      HOSTS,
    );
    assert.match(stdout, /machine +127\.0\.0\.1, clock .* ms ahead ± .* ms: \d+ × /);
    assert.equal(readdirSync(join(cache, 'sprites-swarm')).length, 1, 'both are this machine: it is copied once');

    const files = [1, 2].map((n) => join(out, `engine-${n}.json`));
    const merged = folderOf(t);
    const again = await said(['merge', ...files, '--threshold', 'lost == 0', '--out', merged]);
    assert.equal(again.code, 0, again.stderr);
    assert.deepEqual(reportIn(merged).latencyBucketsNs, report.latencyBucketsNs);
    assert.equal(reportIn(merged).delivered, report.delivered);
    const windows = files.map((file) => JSON.parse(readFileSync(file, 'utf8')).window);
    assert.ok(Math.abs(windows[0].fromMs - windows[1].fromMs) < 1000, JSON.stringify(windows));
  });

  it('says which host fails, and why', async (t) => {
    const { ssh, sshd } = await startSshd(folderOf(t));
    t.after(() => sshd.kill());
    // Its relay is not asked before all hosts are there.
    const url = ['--url', 'http://127.0.0.1:9'];
    const nobody = await said([...SHORT, ...url, '--hosts', '127.0.0.1,127.0.0.3', '--ssh', ssh]);
    assert.equal(nobody.code, 1);
    assert.match(nobody.stderr, /127\.0\.0\.3.*Connection refused/);
  });

  it('says what it needs', async () => {
    const misuses: [string[], RegExp][] = [
      [
        ['--hosts', 'a,b'],
        /--hosts needs a relay that all of them reach, or several of a cluster: give --url or --urls/,
      ],
      [['--hosts', 'a;b'], /--hosts: must be host names/],
      [['--hosts', 'a,b', '--url', 'http://127.0.0.1:1', '--runs', '2'], /--hosts: runs: several machines run once/],
      [['capacity', '--hosts', 'a,b', '--url', 'http://127.0.0.1:1'], /capacity runs on one machine/],
      [['merge'], /merge takes results of engines/],
      [['merge', '/nowhere'], /There is no file \/nowhere/],
    ];
    for (const [args, message] of misuses) {
      const { code, stderr } = await said(args);
      assert.equal(code, 2, args.join(' '));
      assert.match(stderr, message);
    }
  });
});
