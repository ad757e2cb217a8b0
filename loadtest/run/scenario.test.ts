import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type MachineFacts, plan } from './plan.ts';
import { countsOf, Misused, readFlags, readScenario, settingsHelp } from './scenario.ts';

const SCENARIOS = join(import.meta.dirname, '../scenarios');
const MACHINE: MachineFacts = { files: 20_000, ports: 28_232, memoryBytes: 2 ** 35 };
const HERE = { api: '127.0.0.1:8080', pids: [], local: true };

const scenario = (flags: string, file?: object) =>
  readScenario(
    file && { json: JSON.stringify(file), where: 'a.json' },
    readFlags(flags === '' ? [] : flags.split(' ')),
  );
describe('scenario', () => {
  it('reads flags, a file, and flags over a file', () => {
    assert.deepEqual(scenario('--desktops 10,50 --rate 400').desktops, [10, 50]);
    const file = {
      name: 'mine',
      shows: 'It.',
      desktops: 7,
      throwEvery: '2s',
      duration: '1m',
      thresholds: ['lost == 0'],
    };
    const read = scenario('--duration 500ms --threshold p99<5ms', file);
    assert.equal(read.name, 'mine');
    assert.deepEqual(read.load, { kind: 'every', seconds: 2 });
    assert.equal(read.settings.duration, 0.5);
    assert.deepEqual(
      read.thresholds.map(({ figure }) => figure),
      ['lost', 'p99'],
    );
  });

  it('takes the load of the command line instead of that of the file', () => {
    assert.deepEqual(scenario('--rate 5', { throwEvery: '2s' }).load, { kind: 'rate', perSecond: 5 });
  });

  it('has everybody throw, or sit, when no mix is given', () => {
    assert.deepEqual(scenario('').mix, { throwing: 1 });
    assert.deepEqual(scenario('--sitting').mix, { sitting: 1 });
    assert.deepEqual(scenario('', { mix: { throwing: 80, slow: 20 } }).mix, { throwing: 80, slow: 20 });
  });

  it('makes whole numbers of shares that add up to all desktops', () => {
    for (const desktops of [1, 2, 3, 7, 100, 99_999]) {
      const counts = countsOf({ throwing: 1, sitting: 1, slow: 1 }, desktops);
      assert.equal(
        Object.values(counts).reduce((sum, n) => sum + n, 0),
        desktops,
      );
      assert.ok(Math.abs(counts.throwing - desktops / 3) < 1);
    }
  });

  it('says which setting is wrong, what was wrong with it, and what it takes', () => {
    const wrong: [string, RegExp][] = [
      ['--desktops many', /^--desktops: "many" is not a whole number/],
      ['--desktops 0', /^--desktops/],
      ['--desktops 16777216', /^--desktops/],
      ['--duration soon', /^--duration: "soon" is not a time like 10, 500ms, 2s or 1m/],
      ['--duration 0', /at least 100ms/],
      ['--rate 0', /^--rate/],
      ['--rate 5 --throw-every 5s', /say one of/],
      ['--mix dancing=5', /--mix: "dancing=5" is not a list of shares/],
      ['--mix throwing=0', /^--mix/],
      ['--mix sitting=5', /nobody throwing/],
      ['--sitting --mix throwing=5,sitting=5', /--sitting, and yet/],
      ['--sitting --mix hostile=1', /hostile alone/],
      ['--mix throwing=1,sitting=999 --desktops 10', /none would throw/],
      ['--front fast', /^--front: "fast" is not one of its values, auto\|native\|portable/],
      ['--url relay', /is not http:\/\/HOST:PORT/],
      ['--url https://relay:1', /is not http:\/\/HOST:PORT/],
      ['--url http://a:1 --isolate', /leave --url out/],
      ['--url http://a:1 --restart-at 5s', /leave --url out/],
      ['--url http://a:1 --admin-url http://a:2', /go together/],
      ['--admin-url http://a:2 --admin-token-file t', /given by --url/],
      ['--restart-at 40s', /within --duration/],
      ['--read-late 26s', /--read-late must be/],
      ['--runs 0', /--runs must be at least 1/],
      ['--threshold speed>5', /there is no figure "speed"/],
      ['--unknown', /Unknown option '--unknown'/],
      ['--out', /--out/],
    ];
    for (const [flags, message] of wrong) {
      assert.throws(
        () => scenario(flags),
        (error: Error) => error instanceof Misused && message.test(error.message),
        `${flags}: ${message}`,
      );
    }
  });

  it('says where in a file', () => {
    assert.throws(
      () => scenario('', { desktop: 5 }),
      /^Error: a\.json: there is no setting "desktop"; there are name, /,
    );
    assert.throws(() => scenario('', { duration: 'long' }), /^Error: a\.json: duration: "long"/);
    assert.throws(() => scenario('', { thresholds: 'lost == 0' }), /a\.json: thresholds must be a list/);
    assert.throws(() => readScenario({ json: '{', where: 'b.json' }, readFlags([])), /b\.json: not JSON/);
    assert.throws(() => readScenario({ json: '[]', where: 'b.json' }, readFlags([])), /b\.json: must be an object/);
  });

  it('can be planned, and says what it shows, wherever one is kept here', () => {
    const kept = readdirSync(SCENARIOS);
    assert.ok(kept.length >= 8);
    for (const name of kept) {
      const json = readFileSync(join(SCENARIOS, name), 'utf8');
      const read = readScenario({ json, where: name }, readFlags([]));
      assert.equal(`${read.name}.json`, name);
      assert.ok(read.shows.length > 20, name);
      assert.ok(read.thresholds.length > 0, name);
      for (const desktops of read.desktops) plan(read, desktops, MACHINE, HERE);
    }
  });

  it('lists every setting in its help, with its default', () => {
    const help = settingsHelp();
    assert.match(help, /--connect-rate N +desktops that come a second \[10000\]/);
    assert.match(help, /--duration T +the measured window \[30s\]/);
    for (const line of help.split('\n')) assert.ok(line.length <= 120, line);
  });
});
