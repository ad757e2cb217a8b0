/**
 * How much memory and CPU does a million parked long-polls take, and what is the latency?
 *
 * Runs one relay with the native front and one swarm in their own network namespace, so that their ports do not collide with
 * others on the machine. The desktops are brought up, held while sprites are thrown, and taken down. Then the relay is killed,
 * and starts again from its journal. Needs root for the namespace, and some 7 KB of memory per desktop, nearly all of it in the
 * kernel, for both ends of each connection.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Collected, type Contender, type Shape, start } from '../../tools/bench/contender.ts';
import { runEngine } from '../../tools/bench/engine_run.ts';
import { coreWaitSeconds, longestBlockMs, pausesOf } from '../../tools/bench/pauses.ts';
import { machine, mib, table, us } from '../../tools/bench/table.ts';
import type { EnginePlan } from '../../tools/engine_plan.ts';
import type { DurabilityOption } from '../roles/journaling.ts';
import { enterNamespace } from './namespace.ts';

/** Desktops brought up per second. Each one is a join, a response and a poll. */
const CONNECT_RATE = 20_000;
const SENDERS = 2_000;
/** A poll that is held for longer than this share of the time of its ping is overdue: the jitter, and a margin. */
const OVERDUE = 1.25;

export interface MillionOptions {
  desktops: number;
  /** Sprites a second. */
  rate: number;
  /** Seconds. */
  hold: number;
  workers: number;
  durability: DurabilityOption;
  pingSeconds: number;
}

export async function million({
  desktops,
  rate,
  hold,
  workers,
  durability,
  pingSeconds,
}: MillionOptions): Promise<void> {
  enterNamespace();
  const name = `native, ${workers === 0 ? 'one process' : `${workers} worker(s)`}`;
  const data = mkdtempSync(join(tmpdir(), 'sprites-million-'));
  const flags = ['--max-desktops', String(desktops), '--durability', durability, '--ping-seconds', String(pingSeconds)];
  const shape: Shape = { name, front: 'native', workers, flags, data };
  const relay = await start(shape);
  const [master] = relay.pids;
  const idle = rssOf(master);
  // The metrics before and after the measured window.
  const readings: Promise<Map<string, number>>[] = [];
  try {
    const load: Partial<EnginePlan> = {
      ...{ mix: { throwing: SENDERS, sitting: desktops - SENDERS }, load: { kind: 'rate', perSecond: rate } },
      ...{ connectRate: CONNECT_RATE, connectTimeout: 900, pollOverdue: pingSeconds * OVERDUE },
      ...{ warmUp: 5, duration: hold },
    };
    let parkedRss = 0;
    const collected: Promise<Collected>[] = [];
    const account = await runEngine(relay, load, {
      live: true,
      // Some fifty processes of the swarm share the relay's cores here. In production they are other machines.
      niceness: 10,
      phase: (phase) => {
        if (phase === 'warmUp') {
          parkedRss = rssOf(master);
          // All desktops are parked, and the measured window has not begun.
          collected.push(relay.collect('major'));
        }
        // Reading the metrics resets the longest block.
        if (phase === 'measure' || phase === 'drain') readings.push(relay.metrics());
      },
    });
    const [before, after] = await Promise.all(readings);
    const [major] = await Promise.all(collected);
    const kernel = account.kernel.parked.slabBytes - account.kernel.before.slabBytes;
    const rows = [
      ['desktops parked', String(account.parked)],
      ['time to bring them up', `${account.joins.seconds.toFixed(0)} s`],
      ['RSS of the master, idle → all parked → end', `${mib(idle)} → ${mib(parkedRss)} → ${mib(rssOf(master))}`],
      ['bytes a parked poll (growth of the master)', ((parkedRss - idle) / account.parked).toFixed(0)],
      ['V8 heap of the master at the end', mib(after.get('nodejs_heap_size_used_bytes{role="master"}') ?? 0)],
      ['kernel slab, both ends of all connections', mib(kernel)],
      ['sprites/s', account.window.deliveredPerS.toFixed(0)],
      ['CPU-µs a sprite, all processes of the relay (user)', cpuOf(account.relay)],
      [
        'p50 / p99 / p99.9 / max',
        [account.latencyUs.p50, account.latencyUs.p99, account.latencyUs.p999, account.latencyUs.max]
          .map(us)
          .join(' / '),
      ],
      [
        'longest block of the loop while held; in all, time it waited for a core',
        `${us(longestBlockMs(after) * 1000)}; ${coreWaitSeconds(before, after).toFixed(1)} s`,
      ],
      ['pauses of the collector while held', pausesOf(before, after)],
      [
        'POST /admin/gc?kind=major, all parked: longest block, heap before → after',
        `${us(major.longestBlockMs * 1000)}, ${mib(major.before.heapUsed)} → ${mib(major.after.heapUsed)}`,
      ],
      ['lost / doubled / misrouted', `${account.lost} / ${account.duplicated} / ${account.misrouted}`],
      ['CPU-µs a sprite of the swarm', account.swarm.cpuUsPerSprite.toFixed(1)],
      ['limit', `${account.limit}${account.limitReason ? `: ${account.limitReason}` : ''}`],
    ];
    if (durability !== 'none') rows.push(['journal', `${await journalOf(relay)}; ${await recoveryOf(relay, shape)}`]);
    console.log(`\n${machine()}\n`);
    console.log(table([`${desktops.toLocaleString('en')} desktops, ${rate} sprites/s, ${hold} s`, name], rows));
  } finally {
    await relay.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

async function journalOf(relay: Contender): Promise<string> {
  const metrics = await relay.metrics();
  const bytes = (name: string) => mib(metrics.get(`sprites_journal_${name}_bytes`) ?? 0);
  return `${mib(metrics.get('sprites_journal_bytes') ?? 0)} of files, ${bytes('live')} of them alive`;
}

/** Kills the relay and starts it again with its data. By then the swarm has ended, and desktops whose poll is gone leave. */
async function recoveryOf(relay: Contender, shape: Shape): Promise<string> {
  const left = (await relay.metrics()).get('sprites_desktops') ?? 0;
  process.kill(relay.pids[0], 'SIGKILL');
  await relay.stop();
  const startMs = performance.now();
  const next = await start(shape);
  const seconds = (performance.now() - startMs) / 1000;
  const desktops = (await next.metrics()).get('sprites_desktops') ?? 0;
  await next.stop();
  const [before, after] = [left, desktops].map((count) => count.toLocaleString('en'));
  return `killed while ${before} desktops had not left; ready again after ${seconds.toFixed(1)} s, with ${after}`;
}

function cpuOf(relay: { cpuUsPerSprite: number; userUsPerSprite: number }): string {
  return `${relay.cpuUsPerSprite.toFixed(1)} (${relay.userUsPerSprite.toFixed(1)})`;
}

function rssOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
}
