/**
 * What does the journal cost, how long does a recovery take, and how long does a compaction hold up a turn?
 *
 * One process calls the domain and the journal, on a real folder, without sockets: so the figures are those of the journal, and
 * nothing else is in them. CPU is user + system time of the thread that does the work. It has the system's ticks of some milliseconds, so
 * a single turn is measured by the wall clock.
 */
import { randomFillSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spread } from '../../tools/bench/spread.ts';
import { machine, mib, table, us } from '../../tools/bench/table.ts';
import { Relay } from '../domain/relay.ts';
import { FolderDisk, type SystemCalls } from '../journal/disk.ts';
import { Journal } from '../journal/journal.ts';
import type { DurabilityOption } from '../roles/journaling.ts';
import type { Identity } from '../wire/identity.ts';

/** Bytes of one sprite on the wire, about those of a client. */
const SPRITE_BYTES = 250;

/** What a turn costs: desktops, sprites in all, and sprites of one turn. */
const COST = { desktops: 2_000, sprites: 200_000, perTurn: [1, 8, 64], rounds: 3 };

/** The journal that is recovered: its desktops, and the sprites that wait. */
const RECOVERY = { desktops: 1_000_000, sprites: 100_000 };

/** The state of which a compaction writes a snapshot, and the sprites of each turn meanwhile. */
const COMPACTION = { desktops: 200_000, sprites: 200_000, perTurn: 40 };

interface Contender {
  name: string;
  durability: DurabilityOption;
  calls: SystemCalls;
}

/** What is compared. Each durability has the addon's calls, and `process` also fewer: what its tail, and then its write, are worth. */
const contendersWith = (calls: SystemCalls): Contender[] => [
  { name: '`none`', durability: 'none', calls },
  { name: '`process`', durability: 'process', calls },
  { name: '`process` without a tail', durability: 'process', calls: { writeAt: calls.writeAt } },
  { name: '`process` without the addon', durability: 'process', calls: {} },
  { name: '`machine`', durability: 'machine', calls },
];

/** A relay without sockets on a folder of its own. */
class Bench {
  readonly relay: Relay;
  readonly journal: Journal | undefined;
  readonly desktops: Identity[] = [];
  readonly #disk: FolderDisk | undefined;
  readonly #passage = Buffer.from(`"edge":"left","sprite":"${'x'.repeat(SPRITE_BYTES - 24)}"}`);
  /** The next crossing. */
  readonly #thrown = { crossing: 0, edge: 1 as const, body: this.#passage, start: 0, end: this.#passage.length };
  #crossings = 0;

  constructor(slots: number, slabMib: number, durability: DurabilityOption, folder: string, calls: SystemCalls) {
    const epoch = 1;
    const generationKey = Buffer.alloc(16, 7);
    if (durability !== 'none') {
      this.#disk = new FolderDisk(folder, calls);
      this.journal = new Journal(this.#disk, {
        durability,
        epoch,
        generationKey,
        fail: (error) => {
          throw error;
        },
      });
    }
    const room = Buffer.alloc(1 << 20);
    this.relay = new Relay({
      slots,
      slabBytes: slabMib << 20,
      epoch: this.journal?.epoch ?? epoch,
      nowMs: 1000,
      random: () => 0.5,
      generationKey: this.journal?.generationKey ?? generationKey,
      answers: { room: () => room, roomAt: () => 0, answer: () => {} },
      randomize: randomFillSync,
    });
  }

  recover() {
    return this.journal?.recover(this.relay, 1000);
  }

  join(count: number): void {
    for (let n = 0; n < count; n++) {
      const token = new Uint32Array(4);
      const slot = this.relay.join({ name: `desktop ${n}` }, token, new Uint32Array(4));
      this.desktops.push({ slot, generation: this.relay.desktops.generation(slot), token });
      if (n % 1000 === 999) this.journal?.commit();
    }
    this.journal?.commit();
  }

  /** Throws sprites, each from another desktop. The next desktop polls and acknowledges what waits for it, if `polls`. */
  throwSome(count: number, polls: boolean): void {
    const { relay, desktops } = this;
    for (let n = 0; n < count; n++) {
      const at = this.#crossings % desktops.length;
      const crossing = 1 + Math.floor(this.#crossings / desktops.length);
      this.#crossings++;
      this.#thrown.crossing = crossing;
      const { verdict } = relay.accept(desktops[at], this.#thrown);
      if (verdict !== 'accepted') throw new Error(`a sprite was not accepted: ${verdict}`);
      if (!polls) continue;
      const { slot } = desktops[(at + 1) % desktops.length];
      relay.poll(desktops[(at + 1) % desktops.length], 1, relay.epoch, relay.mailboxes.newest(slot));
    }
    relay.endTurn();
    this.journal?.commit();
  }

  async close(): Promise<void> {
    this.journal?.close();
    await this.#disk?.settled;
  }
}

async function inFolder<T>(act: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'sprites-bench-'));
  try {
    return await act(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const cpuUs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return user + system;
};

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];

async function costs(calls: SystemCalls): Promise<void> {
  const contenders = contendersWith(calls);
  const values = new Map<string, number[]>();
  for (let round = 0; round < COST.rounds; round++) {
    for (const perTurn of COST.perTurn) {
      for (const { name, durability, calls } of contenders) {
        const us = await inFolder(async (folder) => {
          const bench = new Bench(COST.desktops, 64, durability, folder, calls);
          bench.recover();
          bench.join(COST.desktops);
          bench.throwSome(COST.desktops, true);
          // A turn that waits for the disk takes half a millisecond.
          const sprites = durability === 'machine' ? COST.sprites / 10 : COST.sprites;
          const before = cpuUs();
          for (let n = 0; n < sprites; n += perTurn) bench.throwSome(perTurn, true);
          const after = cpuUs();
          await bench.close();
          return (after - before) / sprites;
        });
        const key = `${name} ${perTurn}`;
        values.set(key, [...(values.get(key) ?? []), us]);
      }
    }
  }
  const cells = (name: string) =>
    COST.perTurn.map((perTurn) => spread(values.get(`${name} ${perTurn}`) ?? [], (us) => us.toFixed(1)));
  console.log(
    table(
      ['CPU-µs a sprite', ...COST.perTurn.map((n) => `${n} a turn`)],
      contenders.map(({ name }) => [name, ...cells(name)]),
    ),
    '\n',
  );
}

async function recovery(calls: SystemCalls): Promise<void> {
  await inFolder(async (folder) => {
    const { desktops, sprites } = RECOVERY;
    const slots = desktops + 1;
    const first = new Bench(slots, 512, 'process', folder, calls);
    first.recover();
    first.join(desktops);
    for (let n = 0; n < sprites; n += 50) first.throwSome(50, false);
    await first.close();
    const next = new Bench(slots, 512, 'process', folder, calls);
    const [beforeUs, startMs] = [cpuUs(), performance.now()];
    const recovered = next.recover();
    const [afterUs, endMs] = [cpuUs(), performance.now()];
    await next.close();
    if (recovered?.desktops !== desktops || recovered.sprites !== sprites)
      throw new Error('the recovery lacks something');
    console.log(
      table(
        ['recovery: desktops', 'sprites that wait', 'files', 'CPU', 'wall'],
        [
          [
            ...[desktops, sprites].map((n) => n.toLocaleString('en')),
            ...[mib(recovered.bytes), us(afterUs - beforeUs), us((endMs - startMs) * 1000)],
          ],
        ],
      ),
      '\n',
    );
  });
}

async function compaction(calls: SystemCalls): Promise<void> {
  await inFolder(async (folder) => {
    const { desktops, sprites, perTurn } = COMPACTION;
    const bench = new Bench(desktops + 1, 512, 'process', folder, calls);
    const { journal } = bench;
    if (!journal) return;
    bench.recover();
    bench.join(desktops);
    for (let n = 0; n < sprites; n += 50) bench.throwSome(50, false);
    const wallUs = { alone: [] as number[], compacting: [] as number[] };
    let largest = 0;
    while (journal.compactions < 2 || journal.isCompacting) {
      const walls = journal.isCompacting ? wallUs.compacting : wallUs.alone;
      const startMs = performance.now();
      bench.throwSome(perTurn, true);
      walls.push((performance.now() - startMs) * 1000);
      largest = Math.max(largest, journal.sizeBytes);
      // As in a relay, the loop goes on between turns.
      await new Promise(setImmediate);
    }
    await bench.close();
    const row = (name: string, walls: readonly number[]) => {
      const sorted = walls.toSorted((a, b) => a - b);
      const longest = [quantile(sorted, 0.5), quantile(sorted, 0.99), quantile(sorted, 0.999), sorted.at(-1) as number];
      return [name, String(walls.length), ...longest.map(us)];
    };
    console.log(
      table(
        [`turns of ${perTurn} sprites, wall clock`, 'turns', 'p50', 'p99', 'p99.9', 'longest'],
        [row('without a compaction', wallUs.alone), row('during a compaction', wallUs.compacting)],
      ),
    );
    console.log(`\nThe files had ${mib(largest)} at most; ${mib(journal.liveBytes)} were alive.`);
  });
}

/** `calls` are those that a relay on the native front has; empty where the addon is not built. */
export async function turns(calls: SystemCalls): Promise<void> {
  console.log(`\n${machine()}\n`);
  await costs(calls);
  await recovery(calls);
  await compaction(calls);
}
