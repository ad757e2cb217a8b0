/** Tables that the report has as text and as page: the same rows, so that both say the same. Pure. */
import { notArrived } from './account.ts';
import { percentile } from './histogram.ts';
import type { Figures, Report } from './merge.ts';
import { bytes, count, duration, known, number, time } from './units.ts';

/** What became of the sprites: a count, its number, and what is said beside it. */
export function spriteRows(report: Report): [what: string, n: string, beside: string][] {
  const { due, window } = report;
  const perSecond = window.seconds > 0 ? due / window.seconds : 0;
  const share = due === 0 ? '' : `, ${((100 * window.delivered) / due).toFixed(2)} % of what was due`;
  const codes = Object.entries(report.refusedByCode).map(([code, n]) => `${count(n)} ${code}`);
  const besides: Partial<Record<(typeof MAIN)[number], string>> = {
    scheduled: `${count(due)} due in the window of ${duration(window.seconds)}: ${number(perSecond)}/s`,
    delivered: `${number(window.deliveredPerS)}/s${share}`,
    refused: codes.join(', '),
    undelivered: 'accepted, and under way when the drain ended',
    lost: 'accepted, and nowhere',
  };
  return MAIN.map((name) => [name, count(report[name]), besides[name] ?? '']);
}

const MAIN = [
  ...(['scheduled', 'offered', 'accepted', 'delivered', 'refused'] as const),
  ...(['undelivered', 'lost', 'duplicated', 'misrouted', 'corrupted'] as const),
];

/** Counts that are mostly 0, and then left out. */
export function oddities(report: Report): [what: string, n: string][] {
  const all: [string, number][] = [
    ['late', report.late],
    ['forwarded', report.forwarded],
    ['from other relays', report.across],
    ['from other machines', report.visitors ?? 0],
    ['arrived away', report.away],
    ['skipped', report.skipped],
    ['of them missed', report.missed],
    ['timed out', report.timedOut],
    ['failed', report.failed],
    ['in flight', report.inFlight],
    ['sent again', report.resent],
    ['out of order', report.outOfOrder],
    ['not of this run', report.foreign],
  ];
  return all.filter(([what, n]) => n > 0 || what === 'late').map(([what, n]) => [what, count(n)]);
}

const SHARES: [string, number][] = [
  ['p50', 0.5],
  ['p90', 0.9],
  ['p99', 0.99],
  ['p99.9', 0.999],
  ['p99.99', 0.9999],
];

/** The latency, in the percentiles on which a throw falls; empty when no sprite arrived. */
export function percentileRows(report: Report): [name: string, time: string][] {
  const { latencyUs, latencyBucketsNs: buckets } = report;
  if (latencyUs.count === 0) return [];
  const population = latencyUs.count + notArrived(report);
  const histogram = { buckets, count: latencyUs.count, mean: latencyUs.mean * 1000, max: latencyUs.max * 1000 };
  return [
    ...SHARES.filter(([, share]) => population * (1 - share) >= 1).map(([name, share]): [string, string] => [
      name,
      time(percentile(histogram, share, population) / 1000),
    ]),
    ['max', time(latencyUs.max)],
  ];
}

/** What a run cost: what, the relay's figure, the swarm's. */
export function costRows({ relay, swarm, mode }: Report): [what: string, relay: string, swarm: string][] {
  const ofSwarm = (us: number) => (mode === 'sitting' ? '–' : known(us, micros));
  return [
    ['CPU a sprite', known(relay.cpuUsPerSprite, micros), ofSwarm(swarm.cpuUsPerSprite)],
    ['of it user', known(relay.userUsPerSprite, micros), ofSwarm(swarm.userUsPerSprite)],
    ['cores', known(relay.cpuCores, number), number(swarm.cpuCores)],
    ['RSS, parked', known(relay.rssBytesParked, bytes), bytes(swarm.rssBytes)],
    ['RSS, end', known(relay.rssBytes, bytes), ''],
    ['bytes a desktop', known(relay.bytesPerParkedPoll, number), number(swarm.bytesPerDesktop)],
    ['V8 heap', known(relay.heapBytes, bytes), ''],
    ['GC, longest', known(relay.gcMaxMs, (ms) => (ms === 0 ? 'no pause' : `≤ ${time(ms * 1000)}`)), ''],
    ['loop, longest', known(relay.loopDelayMaxMs, (ms) => time(ms * 1000)), ''],
    ['processes', '', String(swarm.processes)],
  ];
}

/** A run of several: its number, desktops, sprites a second, latencies, the relay's cores and CPU a sprite, what was lost, its limit. */
export function runRow({ desktops, window, latencyUs, relay, lost, limit }: Figures, i: number): string[] {
  return [
    String(i + 1),
    count(desktops),
    count(window.deliveredPerS),
    ...[latencyUs.p50, latencyUs.p99, latencyUs.p999, latencyUs.max].map(time),
    known(relay.cpuCores, (cores) => cores.toFixed(2)),
    known(relay.cpuUsPerSprite, number),
    count(lost),
    limit,
  ];
}

const micros = (us: number): string => `${number(us)} µs`;
