/**
 * The whole command: against relays that do wrong in known numbers, against one that is right, and against none.
 *
 * What the faulty relay committed is what report.json says, number for number.
 *
 * Takes long: each of its runs measures for a second or more.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { start } from '../../tools/bench/contender.ts';
import { freePorts } from '../../tools/bench/free_ports.ts';
import { buildEngine } from '../../tools/build.js';
import type { Watched } from '../report/watched.ts';
import { folderOf, reportIn, SHORT, said, swarm } from './command.ts';
import { startFaultyRelay } from './faulty_relay.ts';

const why = buildEngine() ?? false;
/** Runs at once: most of a run is waiting, and each has its own relay, folder and ports. */
const CONCURRENCY = 2;

describe('swarm command', { skip: why, timeout: 900_000, concurrency: CONCURRENCY }, () => {
  it('finds the exact number of lost, duplicated, misrouted and refused sprites', async (t) => {
    // Prime numbers: a sprite that is misrouted and also enters by the wrong edge is one misrouted sprite.
    const relay = await startFaultyRelay({
      ...{ 'drop-every': 101, 'duplicate-every': 71, 'misroute-every': 97, 'wrong-edge-every': 103 },
      ...{ 'refuse-every': 50 },
    });
    const out = folderOf(t);
    const load = ['--rate', '1000', '--duration', '1s', '--drain', '2s'];
    const { code, stdout } = await swarm([
      ...SHORT,
      ...load,
      '--url',
      relay.url,
      '--out',
      out,
      '--threshold',
      'lost == 0',
    ]);
    const committed = await relay.end();
    const report = reportIn(out);
    assert.ok(committed.dropped >= 5 && committed.misrouted >= 5, JSON.stringify(committed));
    assert.equal(report.lost, committed.dropped);
    assert.equal(report.duplicated, committed.duplicated);
    assert.equal(report.misrouted, committed.misrouted + committed.wrongEdge);
    assert.equal(report.refused, committed.refused);
    assert.equal(report.refusedByCode['mailbox-full'], committed.refused);
    assert.equal(report.accepted, committed.accepted);
    assert.equal(report.delivered, committed.accepted - committed.dropped);
    assert.equal(report.offered, report.accepted + report.refused);
    assert.equal(code, 1);
    assert.equal(report.pass, false);
    assert.match(stdout, /✗ lost == 0/);
  });

  it('says how many sprites still wait at the relay: they are undelivered, and only the others are lost', async (t) => {
    const relay = await startFaultyRelay({ 'hold-every': 50, 'drop-every': 65 });
    const out = folderOf(t);
    const token = join(folderOf(t), 'token');
    writeFileSync(token, 'secret\n');
    const load = ['--rate', '1000', '--duration', '1s', '--drain', '1s'];
    const admin = ['--admin-url', relay.url, '--admin-token-file', token];
    const thresholds = ['--threshold', 'undelivered == 0', '--threshold', 'p99 < 5s'];
    const args = [...SHORT, ...load, '--url', relay.url, ...admin, '--out', out, ...thresholds];
    const { code, stdout } = await swarm(args);
    const committed = await relay.end();
    const report = reportIn(out);
    assert.ok(committed.held >= 15 && committed.dropped >= 10, JSON.stringify(committed));
    assert.equal(report.undelivered, committed.held);
    assert.equal(report.lost, committed.dropped);
    assert.equal(report.relayAccount?.waiting, committed.held);
    assert.equal(code, 1);
    assert.match(stdout, /✗ undelivered == 0/);
    // More than one throw in a hundred did not arrive, so the 99th percentile is none of the times that were measured.
    // Where the machine is busy the swarm is the limit, and this threshold is not judged.
    assert.match(stdout, /[✗?] p99 < 5s +never/);
    assert.match(stdout, /✓ accepted = arrived \+ undelivered \+ lost/);
  });

  it('finds every saying that is lost, and knows those of which the hearer is told', async (t) => {
    const out = folderOf(t);
    const relay = await startFaultyRelay({ 'lose-hearing-every': 97, 'miss-hearing-every': 31 });
    const talk = [
      '--sitting',
      '--mix',
      'talking=1,sitting=3',
      '--talk-rate',
      '10',
      '--duration',
      '1s',
      '--drain',
      '1s',
    ];
    const { code, stdout } = await swarm([
      ...[...SHORT, ...talk, '--out', out, '--url', relay.url],
      ...['--threshold', 'sayings.lost == 0', '--threshold', 'sayings.accepted > 50'],
    ]);
    assert.equal(code, 1);
    const { sayings, hearingUs } = reportIn(out);
    const { hearingsLost, hearingsMissed } = await relay.end();
    assert.ok(hearingsLost > 10);
    assert.deepEqual([sayings.lost, sayings.missed], [hearingsLost, hearingsMissed]);
    assert.ok(hearingUs.count > 0);
    assert.match(stdout, /✗ sayings.lost == 0/);
    assert.match(stdout, /sayings .* accepted, .* hearings owed, .* missed, and told so, .* lost/);
  });

  it('finds every sprite that is not what was thrown', async (t) => {
    const relay = await startFaultyRelay({ 'corrupt-every': 50 });
    const out = folderOf(t);
    await swarm([...SHORT, '--rate', '1000', '--duration', '1s', '--url', relay.url, '--out', out]);
    const committed = await relay.end();
    assert.ok(committed.corrupted >= 15, JSON.stringify(committed));
    assert.equal(reportIn(out).corrupted, committed.corrupted);
  });

  it('finds every throw that was never answered, and every late arrival', async (t) => {
    const relay = await startFaultyRelay({ 'mute-every': 200, 'delay-every': 150, 'delay-ms': 4000 });
    const out = folderOf(t);
    // Long limits: a busy machine may delay anything by a second, which must not count as late or timed out. A throw that is not
    // answered delays the next ones of its desktop until it has timed out.
    const load = ['--rate', '1000', '--duration', '1s', '--drain', '10s', '--post-timeout', '1500ms'];
    await swarm([...SHORT, ...load, '--late-after', '3s', '--url', relay.url, '--out', out]);
    const committed = await relay.end();
    const report = reportIn(out);
    assert.ok(committed.muted >= 3 && committed.delayed >= 3, JSON.stringify(committed));
    assert.equal(report.timedOut, committed.muted);
    assert.equal(report.late, committed.delayed);
    assert.equal(report.lost, 0);
    assert.equal(report.inFlight, 0);
  });

  it('shows a stall of one second in p99.9 and max, although nothing was answered in that second', async (t) => {
    const relay = await startFaultyRelay({ 'stall-at': 500, 'stall-ms': 1000 });
    const out = folderOf(t);
    await swarm([...SHORT, '--rate', '1000', '--duration', '2s', '--url', relay.url, '--out', out]);
    await relay.end();
    const { latencyUs, lost } = reportIn(out);
    assert.ok(latencyUs.max >= 980_000, `max ${latencyUs.max}`);
    assert.ok(latencyUs.p999 >= 950_000, `p99.9 ${latencyUs.p999}`);
    // Half of all throws was due during the stall; counted from the sending, only one would be late.
    assert.ok(latencyUs.p90 >= 500_000, `p90 ${latencyUs.p90}`);
    assert.equal(lost, 0);
  });

  it('reports what it has when the relay dies in the middle, says so, and fails', async (t) => {
    const relay = await startFaultyRelay();
    const out = folderOf(t);
    let killed = false;
    const args = [
      '--rate',
      '500',
      '--duration',
      '60s',
      '--url',
      relay.url,
      '--watch-pids',
      String(relay.pid),
      '--out',
      out,
    ];
    const { code, stdout } = await swarm([...SHORT, ...args], (line) => {
      if (!killed && / measure /.test(line)) {
        killed = true;
        process.kill(relay.pid, 'SIGKILL');
      }
    });
    await relay.end();
    const report = reportIn(out);
    assert.equal(code, 1);
    assert.equal(report.ok, false);
    assert.match(report.message, /the relay is gone|process of the relay has ended/);
    assert.match(stdout, /INCOMPLETE/);
    assert.match(stdout, /^! This run is not complete: /m);
    assert.ok(report.delivered > 100);
    assert.ok(existsSync(join(out, 'report.html')) && existsSync(join(out, 'report.txt')));
  });

  it('watches a relay that others use: who is there and what flies, on a page that grows', async (t) => {
    const relay = await startFaultyRelay({ 'refuse-every': 50 });
    const out = folderOf(t);
    const token = join(folderOf(t), 'token');
    writeFileSync(token, 'secret\n');
    const admin = ['--admin-url', relay.url, '--admin-token-file', token];
    const pages = new Set<string>();
    let throwing: Promise<unknown> | undefined;
    let hasThrown = false;
    const args = ['watch', '--url', relay.url, ...admin, '--out', out];
    const { code, stdout, stderr } = await swarm(args, (line, command) => {
      throwing ??= swarm([...SHORT, '--rate', '200', '--duration', '3s', '--url', relay.url]).then(() => {
        hasThrown = true;
      });
      if (/^ +\d/.test(line) && existsSync(join(out, 'report.html'))) {
        pages.add(readFileSync(join(out, 'report.html'), 'utf8'));
        if (hasThrown && pages.size >= 2) command.kill('SIGTERM');
      }
    });
    await throwing;
    const committed = await relay.end();
    const watched = JSON.parse(readFileSync(join(out, 'report.json'), 'utf8')) as Watched;
    assert.equal(code, 0, stderr);
    assert.match(stdout, /desktops +at most 40; 40 joined, 0 left/);
    assert.ok(watched.accepted > 500 && watched.accepted <= committed.accepted, String(watched.accepted));
    assert.ok(watched.refused > 5);
    assert.ok(pages.size >= 2, 'the page grew');
    assert.ok([...pages].every((html) => html.includes('http-equiv="refresh"') && html.endsWith('</html>\n')));
    assert.doesNotMatch(readFileSync(join(out, 'report.html'), 'utf8'), /http-equiv="refresh"/);
    assert.doesNotMatch(stdout + stderr, /secret/);
  });

  it('ends a run whose latency is far over the limit, and says why', async (t) => {
    const relay = await startFaultyRelay({ 'delay-every': 1, 'delay-ms': 80 });
    const out = folderOf(t);
    const args = ['--rate', '200', '--duration', '60s', '--url', relay.url, '--abort', 'p50 < 20ms', '--out', out];
    const { code, stderr, stdout } = await swarm([...SHORT, ...args]);
    await relay.end();
    assert.equal(code, 1);
    assert.match(stderr, /The run is aborted, because "p50 < 20ms" had not held for 5 seconds in a row; it was/);
    assert.match(stdout, /^! This run is not complete: aborted, because "p50 < 20ms" had not held/m);
    assert.ok(reportIn(out).window.seconds < 30);
  });

  it('searches for a capacity, and keeps what it knows when it is interrupted', async (t) => {
    const relay = await startFaultyRelay();
    const out = folderOf(t);
    // A relay answers the first rate in time, or a busy machine does not: either way the search knows something.
    const args = ['capacity', ...SHORT, '--url', relay.url, '--threshold', 'p99 < 1s', '--out', out];
    const { code, stderr, stdout } = await swarm(args, (line, command) => {
      if (line.startsWith('=> ')) command.kill('SIGINT');
    });
    await relay.end();
    assert.equal(code, 1, stderr);
    const { capacity } = reportIn(out);
    assert.ok(capacity);
    assert.deepEqual([capacity.ended, capacity.desktops, capacity.thresholds], ['interrupted', 40, ['p99 < 1s']]);
    assert.equal(capacity.points[0].tries.length, 1);
    assert.match(stdout, /The search was interrupted\./);
    assert.match(readFileSync(join(out, 'report.html'), 'utf8'), /Latency of the relay by rate, 40 desktops/);
    assert.match(readFileSync(join(out, 'capacity.svg'), 'utf8'), /^<svg xmlns=.*<\/svg>\n$/s);
  });

  it('ramps, and shows how long it still takes', async (t) => {
    const relay = await startFaultyRelay();
    const out = folderOf(t);
    const stages = ['--stages', '1s:400,0s:100,2s:100'];
    const pages = new Set<string>();
    const page = join(out, 'report.html');
    const { stderr } = await swarm([...SHORT, ...stages, '--url', relay.url, '--out', out], () => {
      const html = existsSync(page) ? readFileSync(page, 'utf8') : '';
      if (html.includes('http-equiv="refresh"')) pages.add(html);
    });
    await relay.end();
    const report = reportIn(out);
    assert.equal(report.scheduled, 400);
    assert.equal(report.scheduled, report.offered + report.skipped);
    assert.match(report.load, /ramping to 400\/s in 1 s, jumping to 100\/s, 100\/s for 2 s/);
    assert.match(stderr, /^ +time +left +phase /m);
    assert.ok(pages.size >= 1 && [...pages].every((html) => html.includes('RUNNING')), 'the page grew meanwhile');
    assert.doesNotMatch(readFileSync(join(out, 'report.html'), 'utf8'), /RUNNING|http-equiv="refresh"/);
  });

  it('reports what it has when it is interrupted, and stops the relay that it started', async (t) => {
    const out = folderOf(t);
    let asked = false;
    const args = ['--rate', '100', '--duration', '60s', '--front', 'portable', '--workers', '0'];
    const { code, stdout } = await swarm([...SHORT, ...args, '--out', out], (line, child) => {
      if (asked || !/ measure /.test(line)) return;
      asked = true;
      child.kill('SIGTERM');
    });
    assert.equal(code, 1);
    assert.match(stdout, /! This run is not complete: interrupted: the result is partial/);
    assert.equal(reportIn(out).ok, false);
    assert.ok(reportIn(out).delivered > 0);
  });

  it('says which relay it can’t reach', async (t) => {
    const out = folderOf(t);
    const { code, stdout } = await swarm(['--url', 'http://127.0.0.1:1', '--out', out]);
    assert.equal(code, 1);
    assert.match(stdout, /cannot reach a relay at 127\.0\.0\.1:1: Connection refused/);
    assert.equal(reportIn(out).ok, false);
  });

  it('says before the run which admin port it can’t reach', async (t) => {
    const relay = await startFaultyRelay();
    const token = join(folderOf(t), 'token');
    writeFileSync(token, 'secret\n');
    const [nobody] = await freePorts(1);
    const admin = ['--admin-url', `http://127.0.0.1:${nobody}`, '--admin-token-file', token];
    const { code, stderr } = await swarm(['--url', relay.url, ...admin]);
    await relay.end();
    assert.equal(code, 1);
    assert.match(stderr, /127\.0\.0\.1:\d+\/metrics: .*ECONNREFUSED/);
    assert.doesNotMatch(stderr, /secret/);
  });

  it('says what is wrong with a command line, and exits 2', async (t) => {
    const empty = join(folderOf(t), 'empty.json');
    writeFileSync(empty, '{"desktop": 5}');
    const misuses: [string[], RegExp][] = [
      [['--desktops', 'many'], /^--desktops: must be a whole number from 1 to .*, not "many"\.$/m],
      [['nowhere'], /^There is no scenario "nowhere": give a file, or one of .*village\.$/m],
      [['village', 'crowd'], /^Give one scenario at a time, not village and crowd\.$/m],
      [[empty], /empty\.json: there is no setting "desktop"/],
      [['compare', 'one.json'], /^compare takes two reports: /m],
      [['watch', '--url', 'http://127.0.0.1:1'], /^watch needs --admin-url: /m],
      [['history', '/nowhere'], /^There is no folder \/nowhere\.$/m],
      [['capacity', '--sitting'], /^capacity needs desktops that throw or talk: leave --sitting out\.$/m],
      [['--floor'], /^--max-seconds and --floor go with capacity: /m],
      [['--front', 'floor', '--transport', 'socket'], /^--front floor only carries throws, between long-polls\.$/m],
      [['watch', 'village'], /^watch takes settings only, not village\.$/m],
      [['compare', empty, empty], /empty\.json is not a report of the swarm: give the report\.json of --out\.$/m],
      [['--sources', '203.0.113.5'], /^--sources: 203\.0\.113\.5 is not an address of this machine/m],
      [
        ['--url', 'http://127.0.0.1:1', '--admin-url', 'http://127.0.0.1:1', '--admin-token-file', `${empty}.token`],
        /^--admin-token-file: There is no file \/.*empty\.json\.token\.$/m,
      ],
    ];
    for (const [args, message] of misuses) {
      const { code, stderr } = await said(args);
      assert.equal(code, 2, args.join(' '));
      assert.match(stderr, message);
    }
  });

  it('lists its settings, scenarios and exit codes', async () => {
    const { code, stdout } = await said(['--help']);
    assert.equal(code, 0);
    assert.match(stdout, /million-sitting/);
    assert.match(stdout, /--throw-every T/);
    assert.match(stdout, /Exit code: 0 done, 1 failed/);
  });

  it('leaves a relay that goes on, whether or not it took all desktops', async (t) => {
    const relay = await start({ name: 'full', front: 'portable', workers: 0, flags: ['--max-desktops', '100'] });
    t.after(() => relay.stop());
    const url = `http://127.0.0.1:${relay.api}`;
    const desktops = async () => (await relay.metrics()).get('sprites_desktops');
    const fitting = await swarm([...SHORT, '--rate', '100', '--duration', '200ms', '--url', url]);
    assert.deepEqual([fitting.code, await desktops()], [0, 0], fitting.stderr);
    const tooMany = await swarm(['--desktops', '101', '--rate', '100', '--connect-timeout', '5s', '--url', url]);
    assert.match(tooMany.stdout + tooMany.stderr, /only 100 of 101 desktops are parked/);
    assert.deepEqual([tooMany.code, await desktops()], [1, 0]);
  });

  it('accounts for every sprite and saying while desktops leave, storm, read late and send garbage to a real relay', async (t) => {
    const out = folderOf(t);
    const mix = 'sitting=20,throwing=40,talking=20,peeking=60,slow=10,churning=20,storming=8,hostile=2';
    const load = [
      '--desktops',
      '240',
      '--talk-rate',
      '2',
      '--rate',
      '300',
      '--act-every',
      '1s',
      '--read-late',
      '500ms',
    ];
    const relay = ['--front', 'portable', '--workers', '1'];
    const { code, stdout } = await swarm([
      ...load,
      ...[
        '--mix',
        mix,
        '--settle',
        '0',
        '--warm-up',
        '200ms',
        '--duration',
        '3s',
        '--out',
        out,
        '--threshold',
        'lost == 0',
      ],
      ...['--threshold', 'duplicated == 0', '--threshold', 'misrouted == 0', ...relay],
    ]);
    const report = reportIn(out);
    assert.equal(code, 0, stdout);
    assert.equal(report.parked, 237);
    assert.equal(report.delivered, report.accepted);
    assert.ok(report.forwarded > 0);
    assert.ok(report.away > 0 && report.latencyUs.count > 0);
    assert.ok(report.behaviours.reconnects >= 12 && report.behaviours.strikesParried > 0);
    assert.equal(report.foreign, 0);
    const { accepted, heard, lost, again, unowed, corrupted } = report.sayings;
    assert.ok(accepted > 50 && heard > accepted, JSON.stringify(report.sayings));
    assert.deepEqual({ lost, again, unowed, corrupted }, { lost: 0, again: 0, unowed: 0, corrupted: 0 });
    const bySecond = report.seconds.map((second) => second.heard).reduce((sum, n) => sum + n, 0);
    assert.ok(bySecond > heard / 2 && bySecond <= heard, `${bySecond} of ${heard}`);
    assert.ok(report.seconds.some(({ bytesIn }) => bytesIn > 10_000));
    assert.ok(report.seconds.every(({ hearingsMissed }) => hearingsMissed >= 0));
    const { posted, seen, old, corrupted: garbled, refused } = report.peeks;
    assert.ok(posted > 10 && seen > 10, JSON.stringify(report.peeks));
    assert.deepEqual({ old, garbled, refused }, { old: 0, garbled: 0, refused: 0 });
    // The relay's own figures come from /proc and from its metrics.
    assert.ok((report.relay.cpuUsPerSprite ?? 0) > 0);
    assert.ok((report.relay.rssBytes ?? 0) > 2 ** 25);
    assert.ok((report.relay.heapBytes ?? 0) > 2 ** 20);
    assert.notEqual(report.relay.gcMaxMs, null);
    for (const name of ['desktops', 'offered', 'refused', 'late', 'limit', 'pass'] as const) assert.ok(name in report);
  });

  for (const transport of ['poll', 'socket']) {
    it(`loses and doubles nothing when the relay is killed again and again: ${transport}`, async (t) => {
      const out = folderOf(t);
      const wanted = ['lost', 'duplicated', 'misrouted', 'undelivered'].flatMap((n) => ['--threshold', `${n} == 0`]);
      const relay = ['--kill-relay-every', '1500ms', '--front', 'portable', '--workers', '1', '--transport', transport];
      // A busy machine starts a relay so slowly that the time for a second kill is over: then a run takes longer.
      for (let isEnough = false, seconds = 15; !isEnough; seconds *= 2) {
        const load = [...SHORT, '--rate', '200', '--duration', `${seconds}s`, '--drain', '20s', '--out', out];
        const ended = await swarm([...load, ...wanted, ...relay, '--threshold', 'parked == desktops']);
        assert.equal(ended.code, 0, ended.stdout);
        assert.match(ended.stderr, /The master of the relay is killed/);
        isEnough = /All processes of the relay are killed/.test(ended.stderr) && reportIn(out).accepted > 200;
        assert.ok(isEnough || seconds < 120, `${seconds} s with one kill, or ${reportIn(out).accepted} accepted`);
      }
    });
  }

  it('finds what a relay loses and doubles on sockets, to the last sprite', async (t) => {
    const relay = await startFaultyRelay({ 'drop-every': 50, 'duplicate-every': 35, 'cut-every': 45 });
    const out = folderOf(t);
    const load = ['--rate', '1000', '--duration', '1s', '--transport', 'socket', '--url', relay.url];
    await swarm([...SHORT, ...load, '--out', out]);
    const committed = await relay.end();
    const report = reportIn(out);
    assert.ok(committed.socketCrossings > 1000 && committed.dropped > 15, JSON.stringify(committed));
    assert.equal(report.lost, committed.dropped);
    assert.equal(report.duplicated, committed.duplicated);
    assert.equal(report.resent, committed.cut);
    assert.equal(report.connections.cuts, committed.cut);
  });

  it('ends when the relay of desktops on sockets dies', async (t) => {
    const relay = await startFaultyRelay();
    const out = folderOf(t);
    let killed = false;
    const load = ['--rate', '200', '--duration', '60s', '--transport', 'socket', '--url', relay.url];
    const { code } = await swarm([...SHORT, ...load, '--out', out], (line) => {
      if (killed || !/ measure /.test(line)) return;
      killed = true;
      process.kill(relay.pid, 'SIGKILL');
    });
    await relay.end();
    assert.equal(code, 1);
    assert.match(reportIn(out).message, /the relay is gone/);
    assert.ok(reportIn(out).delivered > 0);
  });

  const noNamespace = spawnSync('unshare', ['--net', 'true']).status === 0 ? false : 'no network namespace may be made';
  it('runs relay and swarm in a namespace with all its ports', { skip: noNamespace }, async (t) => {
    const out = folderOf(t);
    const load = [...SHORT, '--rate', '100', '--duration', '1s'];
    const { code, stdout } = await swarm([...load, '--isolate', '--front', 'portable', '--workers', '0', '--out', out]);
    assert.equal(code, 0, stdout);
    assert.equal(reportIn(out).lost, 0);
    const text = readFileSync(join(out, 'report.txt'), 'utf8');
    assert.ok(text.split('\n').length > 30);
  });
});
