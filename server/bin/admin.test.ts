import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { flagOf, helpOf } from '../../tools/command.ts';
import { crossingOf, type Joined, join as joinRelay, sendRequest } from '../test/desktop_client.ts';
import { BOUNDED, type RelayProcess, startRelay } from '../test/relay_process.ts';
import { COMMAND, run } from './admin.ts';

const folder = mkdtempSync(join(tmpdir(), 'admin-'));
after(() => rmSync(folder, { recursive: true }));

describe('npm run admin', BOUNDED, () => {
  let relay: RelayProcess;
  before(async () => {
    relay = await startRelay({ workers: 0 });
  });
  after(() => relay?.stop());

  /** Runs the command as a user in `folder` would, and collects what it prints. */
  async function admin(...args: string[]) {
    const environment = { SPRITES_ADMIN_PORT: String(relay.ports.admin), SPRITES_DATA: relay.data, INIT_CWD: folder };
    return adminIn(environment, ...args);
  }

  async function adminIn(environment: NodeJS.ProcessEnv, ...args: string[]) {
    const said = { out: '', err: '' };
    const code = await run({
      argv: args,
      environment,
      print: (text) => {
        said.out += `${text}\n`;
      },
      complain: (text) => {
        said.err += `${text}\n`;
      },
    });
    return { code, ...said };
  }

  it('collects garbage, and prints what that did', async () => {
    for (const [args, kind] of [
      [['gc'], 'minor'],
      [['gc', 'major'], 'major'],
    ] as const) {
      const { code, out } = await admin(...args);
      assert.equal(code, 0);
      assert.match(out, new RegExp(`^A ${kind} collection: [\\d.]+ ms, longest block of the loop [\\d.]+ ms\\n`));
      assert.match(out, /heapUsed +[\d.]+ MiB → [\d.]+ MiB/);
    }
  });

  it('prints what memory is made of', async () => {
    const { code, out } = await admin('heap');
    assert.equal(code, 0);
    for (const row of ['resident', 'heap of V8', 'old_space', 'external', 'mailboxes'])
      assert.ok(out.includes(row), row);
  });

  it('lists desktops', async () => {
    const { desktop } = await joinRelay(relay.url, { name: 'Ann' });
    const { code, out } = await admin('who');
    assert.equal(code, 0);
    assert.match(
      out,
      new RegExp(`^1 desktop\\n +${desktop} +commons\\[0\\] +127\\.0\\.0\\.1 +0 waiting +other +Ann\\n$`),
    );
    assert.match((await admin('who', '--from', '1')).out, /^1 desktop\n$/);
  });

  it('lists who is in a world, and the worlds', async () => {
    const { desktop } = await joinRelay(relay.url, { name: 'Bob', world: 'who' });
    const who = await admin('who', '--world', 'who');
    assert.match(
      who.out,
      new RegExp(`^1 desktop\\n +${desktop} +who\\[0\\] +127\\.0\\.0\\.1 +0 waiting +other +Bob\\n$`),
    );
    assert.match((await admin('worlds')).out, /^2 worlds\n +1 \S+\n +1 \S+\n$/);
    assert.equal((await admin('kick', desktop)).out, 'The desktop has ended.\n');
    assert.match((await admin('kick', desktop)).err, /There is no desktop/);
  });

  it('lists the busiest desktops, with their programs', async () => {
    assert.match((await admin('who', '--busiest', '1s')).out, /^\d+ desktops?; within 1 s none has thrown\n$/);
    const response = await fetch(`${relay.url}/v1/desktops`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'Sprites/0.9.0 (Windows)' },
      body: JSON.stringify({ name: 'Carol', world: 'busy', screen: { width: 800, height: 600 } }),
    });
    const { desktop, crossings, token } = (await response.json()) as Joined;
    const listed = admin('who', '--busiest', '1s');
    let isListed = false;
    void listed.then(() => {
      isListed = true;
    });
    for (let n = 1; !isListed; n++) {
      await sendRequest(crossings, { method: 'POST', token, body: crossingOf(n) });
      await sleep(20);
    }
    const { out } = await listed;
    assert.match(out, /^\d+ desktops?; within 1 s those that throw most, in sprites a second\n/);
    assert.match(out, /\n +[\d.]+ \S+ +busy\[0\] +127\.0\.0\.1 +\d+ waiting +windows 0\.9\.0 +Carol\n$/);
    assert.match((await admin('who', '--busiest', '1s', '--world', 'busy')).err, /leave out --world/);
    await admin('kick', desktop);
  });

  it('bans, lists the bans, and unbans', async () => {
    const hash = 'a'.repeat(64);
    assert.equal(
      (await admin('ban', '192.0.2.7/24', '--for', '2h')).out,
      '192.0.2.0/24 is banned; ended from there: 0 desktops.\n',
    );
    assert.equal((await admin('ban', '--picture', hash)).out, 'The picture is banned.\n');
    const { out } = await admin('bans');
    assert.match(out, /^Banned: 1 by address, 1 picture\n/);
    assert.match(out, /192\.0\.2\.0\/24 +since \S+Z, until \S+Z\n/);
    assert.match(out, new RegExp(`${hash} since \\S+Z, for ever\\n`));
    assert.equal((await admin('unban', '192.0.2.0/24')).out, 'The ban has ended.\n');
    assert.equal((await admin('unban', '--picture', hash)).out, 'The ban has ended.\n');
    assert.equal((await admin('bans')).out, 'Banned: 0 by address, 0 pictures\n');
    assert.equal((await admin('remove-picture', hash)).out, 'The picture is removed.\n');
    assert.equal((await admin('reports')).out, 'Reported: 0 pictures\n');
    assert.match((await admin('dismiss', hash)).err, /Nobody has reported/);
    assert.match((await admin('announce', 'Good', 'night')).out, /^Sent with the next events of \d+ desktops?\./);
  });

  it('prints the answer as it is with --json', async () => {
    await joinRelay(relay.url, { world: 'as it is' });
    const { code, out } = await admin('who', '--world', 'as it is', '--json');
    assert.equal(code, 0);
    assert.equal(JSON.parse(out).count, 1);
  });

  it('writes recordings to files that only their owner may read, into the data directory unless told otherwise', async () => {
    const chosen = await admin('profile', 'cpu', '--seconds', '1', '--output', 'a.cpuprofile');
    assert.equal(chosen.code, 0, chosen.err);
    const file = join(folder, 'a.cpuprofile');
    assert.ok(chosen.out.includes(file));
    assert.ok(JSON.parse(readFileSync(file, 'utf8')).nodes.length > 0);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const named = await admin('heap-snapshot');
    assert.equal(named.code, 0, named.err);
    const [, written] = /^Written to (.+\.heapsnapshot);/.exec(named.out) ?? [];
    assert.equal(dirname(written), join(relay.data, 'recordings'));
    assert.equal(statSync(written).mode & 0o777, 0o600);
    assert.equal(statSync(dirname(written)).mode & 0o777, 0o700);
    assert.match(named.out, /holds tokens/);
    assert.ok(JSON.parse(readFileSync(written, 'utf8')).snapshot.node_count > 0);
  });

  it('writes a profile of all threads, and says what opens it', { skip: process.platform !== 'linux' }, async () => {
    const { code, out, err } = await admin('profile', 'threads', '--seconds', '1');
    assert.equal(code, 0, err);
    const [, written] =
      /^Written to (.+\.speedscope\.json); it opens on https:\/\/www\.speedscope\.app\./.exec(out) ?? [];
    assert.ok(JSON.parse(readFileSync(written, 'utf8')).profiles.length > 1);
    assert.equal(statSync(written).mode & 0o777, 0o600);
    const list = await admin('profile-list', written);
    assert.match(list.out, /^ +self +whole\n +[\d.]+ % +[\d.]+ % {2}\S/, list.err);
    assert.match(
      (await admin('profile-list', written, written)).out,
      /^ +before +now +change\n +([\d.]+) % +\1 % +0\.0 % /,
    );
    const exported = await admin('profile-list', written, written, '--output', 'callgrind.out');
    assert.match(exported.out, /callgrind\.out; KCachegrind/, exported.err);
    assert.match(readFileSync(join(folder, 'callgrind.out'), 'utf8'), /^# callgrind format\n.*\nfn=libuv-worker · /s);
    assert.match((await admin('profile-list', written, '--output', 'callgrind.out')).err, /exists already/);
    const drawn = await admin('profile-list', written, written, '--output', 'compared.svg');
    assert.match(drawn.out, /compared\.svg; a browser opens it/, drawn.err);
    assert.match(readFileSync(join(folder, 'compared.svg'), 'utf8'), /^<svg .*libuv-worker · /s);
    const { code: failed, err: why } = await admin('profile-list', import.meta.filename);
    assert.equal(failed, 1);
    assert.match(why, /admin\.test\.ts can't be listed: it is neither JSON/i);
    assert.equal((await admin('profile-list', 'not/there')).code, 1);
  });

  it('asks the process that is named, and says which there are', async () => {
    const named = await admin('heap', '--process', 'master');
    assert.equal(named.code, 0);
    const { code, err } = await admin('heap', '--process', 'worker:1');
    assert.equal(code, 1);
    assert.match(err, /^The relay refused: There is no process worker:1; there are master \(\d+\)\.\n$/);
    assert.match((await admin('gc', '--process', 'a&force=1')).err, /process: must be master, like worker:1/);
  });

  it('overwrites no file, and does not ask the relay then', async () => {
    writeFileSync(join(folder, 'mine'), 'precious');
    const { code, err } = await admin('heap-snapshot', '--output', 'mine');
    assert.equal(code, 1);
    assert.match(err, /mine exists already/);
    assert.equal(readFileSync(join(folder, 'mine'), 'utf8'), 'precious');
  });

  it('prints why the relay refused, and exits with 1', async () => {
    const { code, err } = await admin('who', '--from', '4000000000');
    assert.equal(code, 1);
    assert.match(err, /^The relay refused: from: must be a whole number from 0 to \d+\.\n$/);
  });

  it('says where there is no token or no relay, and that a token is wrong, but never prints a token', async () => {
    const missing = await admin('heap', '--data', folder);
    assert.deepEqual([missing.code, missing.out], [1, '']);
    assert.match(missing.err, /no admin token at .*admin-token.*--data/);
    const nobody = await admin('heap', '--admin-port', '1');
    assert.equal(nobody.code, 1);
    assert.match(nobody.err, /127\.0\.0\.1:1 could not be asked: nothing listens there/);
    writeFileSync(join(folder, 'other-token'), 'f'.repeat(64));
    const other = await admin('heap', '--admin-token-file', join(folder, 'other-token'));
    assert.equal(other.code, 1);
    assert.match(other.err, /rejects this token/);
    for (const { err } of [missing, nobody, other]) assert.ok(!err.includes(relay.adminToken) && !err.includes('ffff'));
  });

  it('rejects what it does not understand, and exits with 2', async () => {
    for (const args of [
      ['collect'],
      ['gc', 'full'],
      ['gc', 'minor', 'major'],
      ['heap', 'now'],
      ['heap', '--quietly'],
      ['heap', '--admin-port', '0'],
      ['heap', '--admin-port', '65536'],
      ['heap', '--admin-port', 'x'],
      ['heap', '--seconds', '5'],
      ['gc', '--output', 'a'],
      ['kick'],
      ['kick', 'a', 'b'],
      ['ban'],
      ['ban', '192.0.2.7', '--picture', 'a'.repeat(64)],
      ['ban', '192.0.2.7', '--for', '0s'],
      ['ban', '--picture', 'a'],
      ['unban'],
      ['forget'],
      ['forget', 'a', '--contact', 'b'],
      ['announce'],
      ['bans', 'all'],
      ['gc', '--for', '2h'],
      ['profile', '--seconds', '0'],
      ['profile', '--seconds', '121'],
      ['profile', '--seconds', '1&kind=heap'],
      ['profile', 'wall'],
      ['profile-list'],
      ['profile-list', 'a', 'b', 'c'],
      ['who', '--process', 'worker:1'],
    ]) {
      const { code, out, err } = await admin(...args);
      assert.deepEqual([code, out], [2, ''], args.join(' '));
      assert.ok(err.length > 0);
    }
    assert.equal((await admin()).err, `${helpOf(COMMAND)}\n`);
  });

  it('lists every command and option in its help', async () => {
    const { code, out } = await admin('--help');
    assert.equal(code, 0);
    for (const name of Object.keys(COMMAND.options)) assert.match(out, new RegExp(`^ +--${flagOf(name)}\\b`, 'm'));
    for (const command of Object.keys(COMMAND.commands ?? {})) {
      assert.match(out, new RegExp(`^  ${command}\\b`, 'm'));
    }
  });

  it('forgets a desktop: it ends, and its name and world are in no file; and a visitor who has left feedback', async () => {
    const name = 'Dora Unforgotten';
    const { desktop } = await joinRelay(relay.url, { name, world: 'unforgotten' });
    const stored = () =>
      readdirSync(join(relay.data, 'journal'))
        .map((file) => readFileSync(join(relay.data, 'journal', file), 'latin1'))
        .filter((text) => /unforgotten/i.test(text)).length;
    assert.ok(stored() > 0);
    const { code, out, err } = await admin('forget', desktop);
    assert.deepEqual([code, out], [0, 'The desktop has ended; it was in the reports of 0 pictures.\n'], err);
    assert.equal(stored(), 0);
    assert.match((await admin('forget', desktop)).out, /^The desktop is not here;/);
    const feedback = { text: 'More cats', contact: 'dora@example.org' };
    assert.equal((await sendRequest(`${relay.url}/v1/feedback`, { method: 'POST', body: feedback })).status, 204);
    assert.equal((await admin('forget', '--contact', 'dora@example.org')).out, 'Removed: 1 text.\n');
    assert.match((await admin('feedback')).out, /^Feedback: 0 texts\n$/);
    assert.match((await admin('forget', 'Dora')).err, /desktop: must be the id of a desktop/);
    assert.match((await admin('forget', '--contact', '')).err, /contact/);
  });

  it('backs up a relay that runs; one that starts with the copy refuses to run beside it, and goes on from it later', async () => {
    const { desktop, token } = await joinRelay(relay.url, { name: 'Cara', world: 'backup' });
    mkdirSync(join(relay.data, 'recordings'), { recursive: true });
    writeFileSync(join(relay.data, 'recordings', 'secret'), 'a heap');
    const copy = join(folder, 'copies', 'today');
    const { code, out, err } = await admin('backup', 'copies/today');
    assert.equal(code, 0, err);
    assert.match(
      out,
      /^Written to .*today: a journal with \d+ desktops? and \d+ sprites? waiting, and \d+ other files?\. /,
    );
    assert.equal(statSync(copy).mode & 0o777, 0o700);
    assert.equal(statSync(join(copy, 'admin-token')).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(join(folder, 'copies')), ['today']);
    assert.ok(!readdirSync(copy).includes('recordings'));
    assert.match((await admin('backup', 'copies/today')).err, /today exists already; name another folder/);
    assert.match((await admin('backup', join(relay.data, 'b'))).err, /is in the data directory/);
    assert.match(
      (await admin('backup', 'b', '--data', join(folder, 'none'))).err,
      /no data directory at .*none; --data/,
    );
    assert.equal((await admin('backup')).code, 2);
    if (process.platform === 'linux') {
      const why = /another relay of this machine goes on from the same journal.*stop that one first/;
      await assert.rejects(startRelay({ workers: 0, data: copy }), why);
    }
    const shutDown = await admin('drain');
    assert.deepEqual([shutDown.code, shutDown.out], [0, 'The relay is shutting down.\n']);
    assert.equal((await relay.stop()).code, 0);
    relay = await startRelay({ workers: 0, data: copy });
    assert.equal((await sendRequest(`${relay.url}/v1/desktops/${desktop}`, { token })).status, 200);
  });
});
