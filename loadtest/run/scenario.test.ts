import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { LEASE_MS } from '../../server/wire/rules.ts';
import { flagOf, helpOf, Misused } from '../../tools/command.ts';
import { COMMAND } from '../bin/swarm.ts';
import { readFlags } from '../test/flags.ts';
import { type MachineFacts, plan } from './plan.ts';
import { countsOf, readScenario, SECTIONS, SETTINGS } from './scenario.ts';

const SCENARIOS = join(import.meta.dirname, '../scenarios');
const MACHINE: MachineFacts = { ports: 28_232, memoryBytes: 2 ** 35 };
const HERE = { apis: ['127.0.0.1:8080'], pids: [], local: true };

const scenario = (flags: string, file?: object) =>
  readScenario(
    file && { json: JSON.stringify(file), where: 'a.json' },
    readFlags(flags === '' ? [] : flags.split(' ')),
  );
/** As many relays as --urls takes them. */
const relays = (count: number) => Array.from({ length: count }, (_, n) => `http://r${n}:1`).join(',');

describe('scenario', () => {
  it('of the C floor has no threshold for what only a relay tells of itself', () => {
    const thresholds = ['p99 < 1s', 'counted == desktops'].flatMap((text) => ['--threshold', text]);
    const figures = (front: string) =>
      readScenario(undefined, readFlags(['--front', front, ...thresholds])).thresholds.map(({ figure }) => figure);
    assert.deepEqual(figures('floor'), ['p99']);
    assert.deepEqual(figures('native'), ['p99', 'counted']);
  });

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

  it('uses the load of the command line instead of that of the file', () => {
    assert.deepEqual(scenario('--rate 5', { throwEvery: '2s' }).load, { kind: 'rate', perSecond: 5 });
  });

  it('lets all desktops throw, or sit, when no mix is given', () => {
    assert.deepEqual(scenario('').mix, { throwing: 1 });
    assert.deepEqual(scenario('--sitting').mix, { sitting: 1 });
    assert.deepEqual(scenario('', { mix: { throwing: 80, slow: 20 } }).mix, { throwing: 80, slow: 20 });
  });

  it('turns shares into whole numbers that add up to all desktops', () => {
    for (const desktops of [1, 2, 3, 7, 100, 99_999]) {
      const counts = countsOf({ throwing: 1, sitting: 1, slow: 1 }, desktops);
      assert.equal(
        Object.values(counts).reduce((sum, n) => sum + n, 0),
        desktops,
      );
      assert.ok(Math.abs(counts.throwing - desktops / 3) < 1);
    }
  });

  it('says which setting is wrong, what is wrong with it, and what it takes', () => {
    const wrong: [string, RegExp][] = [
      [
        '--desktops many',
        /^--desktops: must be a whole number from 1 to 16777215, or several such as 10,50,100, not "many"\.$/,
      ],
      ['--desktops 0', /^--desktops: .* not "0"/],
      ['--desktops 16777216', /^--desktops: .* from 1 to 16777215, .* not "16777216"/],
      ['--desktops -5', /^--desktops: .* not "-5"/],
      ['--duration soon', /^--duration: must be a time from 100ms to 168h such as 500ms, 5s, 2m, not "soon"/],
      ['--duration 0', /^--duration: must be a time from 100ms/],
      ['--rate 0', /^--rate: must be a number from 0\.001 to 10000000 .* not "0"/],
      ['--rate -5', /^--rate: must be a number from .* not "-5"/],
      ['--rate 5 --throw-every 5s', /give only one of/],
      ['--talk-rate 0', /^--talk-rate: must be a number from 0\.001 to 100 .* not "0"/],
      ['--mix dancing=5', /^--mix: must be a list of shares such as .* not "dancing=5"/],
      ['--mix throwing=0', /^--mix/],
      ['--mix sitting=5', /no desktop that throws/],
      ['--sitting --mix throwing=5,sitting=5', /--sitting, and yet/],
      ['--sitting --mix hostile=1', /only hostile desktops/],
      ['--mix throwing=1,sitting=999 --desktops 10', /none of 10 desktops would throw/],
      ['--front fast', /^--front: must be one of auto, native, portable, floor, not "fast"\.$/],
      ['--url relay', /^--url: must be http:\/\/HOST:PORT or https:\/\/HOST:PORT, not "relay"/],
      ['--url ftp://relay:1', /^--url: must be http:\/\/HOST:PORT/],
      ['--ca ca.pem', /^--ca: .* leave it out, or give --url/],
      ['--url http://a:1 --isolate', /leave --url out/],
      ['--url http://a:1 --restart-at 5s', /leave --url out/],
      ['--url http://a:1 --admin-url http://a:2', /go together/],
      ['--admin-url http://a:2 --admin-token-file t', /a relay given by --url/],
      ['--url http://a:1 --admin-url http://a:2,http://a:3 --admin-token-file t', /one for each relay, 1 in .* not 2/],
      ['--urls http://a:1,relay', /^--urls: "relay" is not an http or https URL such as http:\/\/HOST:PORT/],
      ['--urls http://a:1,ftp://b:1', /^--urls: "ftp:\/\/b:1" is not an http or https URL/],
      ['--urls http://a:1,http://a:1/', /^--urls: must be at most 64 different ones/],
      [`--urls ${relays(65)}`, /^--urls: must be at most 64/],
      ['--url http://a:1 --urls http://a:1,http://b:1', /only one of --url and --urls/],
      ['--urls http://a:1,http://b:1 --isolate', /leave --url out/],
      ['--urls http://a:1,http://b:1 --events c:1', /--events belongs to one relay/],
      ['--urls http://a:1,http://b:1 --admin-url http://a:2 --admin-token-file t', /one for each relay, 2 in .* not 1/],
      [
        `--urls ${relays(3)} --admin-url http://a:2,http://b:2,http://c:2 --admin-token-file t,u`,
        /^--admin-token-file: must be one for each relay, or one/,
      ],
      ['--restart-at 40s', /within --duration/],
      ['--url http://a:1 --kill-relay-every 5s', /leave --url out/],
      ['--kill-relay-every 30s', /less than --duration/],
      ['--kill-relay-every 5s --restart-at 5s', /only one of/],
      ['--kill-relay-every 5s --durability none', /knows no desktop/],
      ['--transport pigeon', /^--transport: must be one of poll, socket, not "pigeon"\.$/],
      ['--transport socket --throw-connections 5', /each desktop throws on its socket/],
      [`--read-late ${LEASE_MS / 1000 - 4}s`, /--read-late must be/],
      ['--runs 0', /^--runs: must be a whole number from 1 to 100/],
      ['--sources here', /^--sources: must be IPv4 addresses and ranges/],
      ['--sources 10.0.0.9-10.0.0.5', /^--sources: must be IPv4 addresses/],
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

  it('takes one relay or several, from the command line and from a file', () => {
    assert.deepEqual(scenario('').settings.urls, []);
    assert.deepEqual(scenario('--url http://a:1').settings.urls, ['http://a:1']);
    assert.deepEqual(scenario('--urls http://a:1').settings, {
      ...scenario('--url http://a:1').settings,
      url: '',
    });
    const two = ['http://a:1', 'https://b'];
    assert.deepEqual(scenario('', { urls: two }).settings.urls, two);
    assert.equal(scenario(`--urls ${relays(64)}`).settings.urls.length, 64);
    assert.ok(scenario('--urls http://a:1,http://b:1 --admin-url http://a:2,http://b:2 --admin-token-file t'));
  });

  it('says where in a file', () => {
    assert.throws(
      () => scenario('', { desktop: 5 }),
      /^Error: a\.json: there is no setting "desktop"; there are name, /,
    );
    assert.throws(
      () => scenario('', { duration: 'long' }),
      /^Error: a\.json: duration: must be a time from .* not "long"/,
    );
    assert.throws(() => scenario('', { thresholds: 'lost == 0' }), /a\.json: thresholds must be a list/);
    assert.throws(() => readScenario({ json: '{', where: 'b.json' }, readFlags([])), /b\.json: not JSON/);
    assert.throws(() => readScenario({ json: '[]', where: 'b.json' }, readFlags([])), /b\.json: must be an object/);
  });

  it('can be planned and says what it shows, for every scenario that is kept here', () => {
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

  it('still passes by its own thresholds when a kept scenario is scaled: counts are compared with counts', () => {
    for (const name of readdirSync(SCENARIOS)) {
      const { thresholds } = readScenario(
        { json: readFileSync(join(SCENARIOS, name), 'utf8'), where: name },
        readFlags(['--desktops', '400']),
      );
      const absolute = thresholds.filter(
        ({ figure, of, value }) => figure === 'parked' && (of === undefined || value !== 1),
      );
      assert.deepEqual(absolute, [], name);
    }
  });

  it('lists every setting in its help, with its default', () => {
    const help = helpOf(COMMAND);
    assert.match(help, /--connect-rate N +desktops that connect a second \[10000\]/);
    assert.match(help, /--duration T +the measured window \[30s\]/);
    assert.match(
      help,
      /--front KIND +front of the relay that is started; floor: .*auto, native, portable, floor \[auto\]/s,
    );
    const headed = Object.values(SECTIONS).flatMap((settings) => Object.keys(settings));
    assert.deepEqual(headed.toSorted(), Object.keys(SETTINGS).toSorted());
    for (const name of headed) assert.match(help, new RegExp(`^ +--${flagOf(name)}\\b`, 'm'));
  });
});
