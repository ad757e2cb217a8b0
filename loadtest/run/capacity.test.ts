/** The whole search without processes: against relays that are pretended. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Misused } from '../../tools/command.ts';
import { type Contender, capacityPicture } from '../report/capacity.ts';
import { type Machine, merge } from '../report/merge.ts';
import { page } from '../report/page.ts';
import { text } from '../report/report.ts';
import { judge, readThreshold } from '../report/verdict.ts';
import { readFlags } from '../test/flags.ts';
import { resultOf } from '../test/results.ts';
import { checkSearchable, findCapacity, type Measured, windowSeconds } from './capacity.ts';
import { readScenario, type Scenario } from './scenario.ts';

const MACHINE = { ports: 60_000, memoryBytes: 2 ** 34 };
const COMPUTER: Machine = {
  ...{ name: 'this machine', cores: 2, model: 'a model', memoryBytes: 2 ** 34 },
  ...{ system: 'Linux', node: 'v26', commit: '1234567' },
};

const MS = 1e6;

interface Pretended {
  /** Sprites a second of the relay, and of the floor. */
  relay: number;
  floor?: number;
  /** Above this the swarm is late. */
  swarm?: number;
  /** A machine with too few cores idles with less than this. */
  idleCores?: number;
  /** Above this no run is possible. */
  possible?: number;
  /** The run that is interrupted. */
  interruptAt?: number;
}

/** A relay that takes 2 ms for a sprite up to its capacity, and 20 ms above it; its capacity is for a thousand desktops. */
function pretended({ relay, floor = 0, swarm = Infinity, ...more }: Pretended) {
  const interrupt = new AbortController();
  const windows: number[] = [];
  const measure = async (scenario: Scenario, desktops: number): Promise<Measured> => {
    const { load, settings, name } = scenario;
    const rate = load.kind === 'rate' ? load.perSecond : settings.talkRate * desktops;
    windows.push(settings.duration);
    if (rate > (more.possible ?? Infinity)) throw new Misused('there are too few ports');
    const capacity = ((settings.front === 'floor' ? floor : relay) * 1000) / desktops;
    const isInterrupted = windows.length === more.interruptAt;
    if (isInterrupted) interrupt.abort();
    const result = resultOf(Array(100).fill((rate > capacity ? 20 : 2) * MS), {
      ...{ desktops, parked: desktops, ok: !isInterrupted, message: isInterrupted ? 'interrupted' : '' },
      ...(rate > swarm ? { limit: 'swarm', limitReason: 'it was late' } : {}),
    });
    const report = merge([result], { name, command: 'npm run swarm', machines: [COMPUTER] });
    return { report: judge(report, scenario.thresholds), idleCores: rate > capacity ? more.idleCores : undefined };
  };
  return { measure, windows, signal: interrupt.signal };
}

async function found(pretend: Pretended, args: readonly string[] = [], contenders: readonly Contender[] = ['relay']) {
  const { measure, windows, signal } = pretended(pretend);
  const scenario = readScenario(undefined, readFlags(args));
  const over = args.includes('--rate') ? 'desktops' : 'rate';
  const report = await findCapacity(scenario, measure, {
    ...{ over, contenders, secondsMax: 1e6, machine: MACHINE, signal, tell: () => {} },
  });
  assert.ok(report?.capacity);
  return { report, capacity: report.capacity, windows };
}

describe('capacity', () => {
  it('is the highest rate at which the thresholds hold, confirmed by a longer run, whose report it is', async () => {
    const { report, capacity, windows } = await found({ relay: 16_500 });
    assert.ok(capacity.perSecond > 14_900 && capacity.perSecond <= 16_500, String(capacity.perSecond));
    assert.ok(capacity.atMost !== null && capacity.atMost > 16_500);
    assert.deepEqual(
      [capacity.desktops, capacity.confirmed, capacity.limit, capacity.threshold, capacity.ended],
      [1000, true, 'relay', 'p99 < 10ms: 20.0 ms', 'found'],
    );
    assert.deepEqual([report.pass, Math.max(...windows), Math.min(...windows)], [true, 30, 5]);
    assert.match(text(report), /sprites\/s with 1,000 desktops, confirmed for 10\.0 s; .*\/s did not hold/);
    assert.match(text(report), /The limit was the relay\./);
  });

  it('is searched for each number of desktops, and that of the floor beside it: a curve, and what of it is ours', async () => {
    const { report, capacity } = await found(
      { relay: 16_500, floor: 33_000 },
      ['--desktops', '1000,4000'],
      ['relay', 'floor'],
    );
    assert.deepEqual(
      capacity.points.map(({ contender, desktops }) => [contender, desktops]),
      [
        ['relay', 1000],
        ['floor', 1000],
        ['relay', 4000],
        ['floor', 4000],
      ],
    );
    assert.ok(capacity.perSecond > 3700 && capacity.perSecond <= 4125, String(capacity.perSecond));
    assert.equal(capacity.desktops, 4000);
    assert.match(text(report), /That is 5\d % of what the C floor carries\./);
    const html = page(report);
    for (const title of ['Capacity by number of desktops', 'Latency of the C floor by rate, 4,000 desktops']) {
      assert.ok(html.includes(`<b>${title}</b>`), title);
    }
    assert.doesNotMatch(html, /NaN|Infinity|undefined/);
  });

  it('is no share of a floor that the swarm could not find', async () => {
    const { report, capacity } = await found({ relay: 16_500, floor: 40_000, swarm: 20_000 }, [], ['relay', 'floor']);
    assert.deepEqual(
      capacity.points.map(({ limit }) => limit),
      ['relay', 'swarm'],
    );
    assert.doesNotMatch(text(report), /of what the C floor carries/);
  });

  it('of the floor is not judged by what only a relay tells of itself', async () => {
    const thresholds = ['p99 < 10ms', 'counted == desktops'].flatMap((text) => ['--threshold', text]);
    const { capacity } = await found({ relay: 0, floor: 16_500 }, thresholds, ['floor']);
    assert.ok(capacity.perSecond > 14_900, String(capacity.perSecond));
  });

  it('begins with what the scenario throws, but not far beyond what a relay carries', async () => {
    for (const [desktops, first] of [
      ['20000', 4_000],
      ['50000', 10_000],
      ['250000', 10_000],
    ] as const) {
      const { capacity } = await found({ relay: 16_500 }, ['--desktops', desktops]);
      assert.equal(capacity.points[0].tries[0].at, first, desktops);
    }
  });

  it('searches for desktops at a rate that is given', async () => {
    const { report, capacity } = await found({ relay: 16_500 }, ['--rate', '1000']);
    assert.ok(capacity.desktops > 14_900 && capacity.desktops <= 16_500, String(capacity.desktops));
    assert.deepEqual([capacity.perSecond, capacity.confirmed, capacity.limit], [1000, true, 'relay']);
    assert.match(text(report), /desktops at 1,000 sprites\/s, confirmed/);
  });

  it('says when the swarm was the limit, and that the relay may carry more', async () => {
    const { report, capacity } = await found({ relay: 50_000, swarm: 20_000 });
    assert.ok(capacity.perSecond > 18_000 && capacity.perSecond <= 20_000, String(capacity.perSecond));
    assert.deepEqual(
      [capacity.limit, capacity.limitReason, capacity.threshold, capacity.confirmed],
      ['swarm', 'it was late', '', true],
    );
    assert.match(text(report), /The limit was the swarm, not the relay: the relay may carry more \(it was late\)/);
  });

  it('says when the machine was the limit, and who took it', async () => {
    const { capacity } = await found({ relay: 16_500, idleCores: 0.1 });
    assert.equal(capacity.limit, 'machine');
    assert.match(capacity.limitReason, /its 2 cores were busy: the relay took 0, the swarm took 0\.10, other .* 1\.80/);
    assert.equal((await found({ relay: 16_500, idleCores: 0.5 })).capacity.limit, 'relay');
  });

  it('keeps what is known when it is interrupted', async () => {
    const { report, capacity } = await found({ relay: 16_500, interruptAt: 4 });
    assert.deepEqual(
      [capacity.perSecond, capacity.atMost, capacity.confirmed, capacity.ended],
      [4000, null, false, 'interrupted'],
    );
    assert.match(text(report), /4,000 sprites\/s .* not confirmed by a longer run/);
    assert.match(text(report), /The search was interrupted\./);
  });

  it('shows the points before the one at which nothing was known yet', async () => {
    const { windows } = await found({ relay: 16_500 });
    const { report, capacity } = await found({ relay: 16_500, interruptAt: windows.length + 1 }, [
      '--desktops',
      '1000,4000',
    ]);
    assert.deepEqual(
      capacity.points.map(({ tries }) => tries.length > 0),
      [true, false],
    );
    assert.match(text(report), /Nothing is known at 4,000 desktops\./i);
    assert.doesNotMatch(page(report), /NaN|Infinity|undefined/);
    assert.match(capacityPicture(capacity), /^<svg .*Capacity|Latency of the relay by rate, 1,000 desktops/);
    assert.ok(report.runs[0].desktops === 1000);
  });

  it('ends where no run is possible, and says why', async () => {
    const { capacity } = await found({ relay: 50_000, possible: 20_000 });
    assert.ok(capacity.perSecond > 18_000 && capacity.perSecond <= 20_000, String(capacity.perSecond));
    assert.deepEqual([capacity.limit, capacity.limitReason], ['machine', 'there are too few ports']);
    await assert.rejects(found({ relay: 50_000, possible: 500 }), /too few ports/);
  });

  it('of a chat is the number of sayings a second', async () => {
    const chat = ['--sitting', '--mix', 'talking=1', '--desktops', '1000', '--threshold', 'desktops == 1000'];
    const { capacity } = await found({ relay: 16_500 }, chat);
    assert.deepEqual([capacity.unit, capacity.perSecond, capacity.atMost], ['sayings', 100_000, null]);
  });

  it('measures long enough for the percentile of its threshold', () => {
    const seconds = (threshold: string, rate: number) => windowSeconds([readThreshold(threshold)], rate);
    assert.equal(seconds('p99 < 10ms', 10_000), 5);
    assert.equal(seconds('p99 < 10ms', 500), 10);
    assert.equal(seconds('p99.9 < 10ms', 1000), 50);
    assert.equal(seconds('away.p99 < 10ms', 100), 50);
    assert.equal(seconds('lost == 0', 1), 100);
  });

  it('refuses what has no rate, or two things to search for', () => {
    const misuses: [string[], 'rate' | 'desktops', RegExp][] = [
      [['--sitting'], 'rate', /needs desktops that throw or talk/],
      [['--in-flight', '4'], 'rate', /leave --in-flight out/],
      [['--runs', '3'], 'rate', /leave --runs out/],
      [['--rate', '100', '--desktops', '10,20'], 'desktops', /give one number first/],
    ];
    for (const [args, over, message] of misuses) {
      assert.throws(() => checkSearchable(readScenario(undefined, readFlags(args)), over, false), message);
    }
    const chat = readScenario(undefined, readFlags(['--sitting', '--mix', 'talking=1']));
    assert.throws(() => checkSearchable(chat, 'rate', true), /the C floor only carries throws/);
    checkSearchable(chat, 'rate', false);
  });
});
