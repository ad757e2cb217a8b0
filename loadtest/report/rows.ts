/** Tables that the report has as text and as page: the same rows, so that both say the same. Pure. */
import type { Figures, Report } from './merge.ts';
import { bytes, count, number, time } from './units.ts';

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

const known = (value: number | null, show: (value: number) => string): string => (value === null ? '–' : show(value));
