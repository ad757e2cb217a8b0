/**
 * What does a frame between a worker and the master cost, with its answer, through shared memory and through Node's channel?
 *
 * Two processes and nothing else: one sends a frame with one crossing, as at a low rate, and the other answers it with one verdict. The
 * next frame follows after a pause or, in the closed loop, with the answer. CPU is user + system time of both processes.
 * The ways take turns, so each ratio is of runs beside each other.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { spread } from '../../tools/bench/spread.ts';
import { machine, table } from '../../tools/bench/table.ts';
import { FrameRing } from '../processes/frame_ring.ts';
import { answerOf } from '../wire/answer.ts';
import { FrameWriter, readFrame } from '../wire/frame.ts';

const ROUNDS = 3;

/** Frames of one run in flight at once, and the pause between them in ms; 0: the next follows with the answer. */
const LOADS = [
  { name: 'one every ms', frames: 2_000, inFlight: 1, pauseMs: 1 },
  { name: '1 in flight', frames: 20_000, inFlight: 1, pauseMs: 0 },
  { name: '8 in flight', frames: 80_000, inFlight: 8, pauseMs: 0 },
] as const;

/** Frames before the first measurement, for the compiler. */
const WARM_UP = 20_000;

/** A passage as long as one of a client. */
const PASSAGE = Buffer.alloc(250, 0x61);
const VERDICT = answerOf(202, Buffer.from(`{"to":{"desktop":"1a2b-3f","name":"${'x'.repeat(11)}"}}`));

const WAYS = ['channel', 'ring'] as const;
type Way = (typeof WAYS)[number];

/** The end of a link that a run needs. */
interface End {
  send(frame: Buffer): void;
  /** What to do with each frame. */
  received: (frame: Uint8Array) => void;
}

const NOTHING = () => {};

function ringEnd(descriptors?: readonly number[]): End & { ring: FrameRing } {
  const end = { send: (frame: Buffer) => ring.send(frame, NOTHING), received: NOTHING as End['received'] };
  const broken = (why: string) => {
    throw new Error(why);
  };
  const ring = new FrameRing({ frame: (frame) => end.received(frame), turn: NOTHING, broken }, descriptors);
  return Object.assign(end, { ring });
}

function channelEnd(channel: ChildProcess | NodeJS.Process): End {
  const end: End = { send: (frame) => channel.send?.(frame, undefined, undefined, NOTHING), received: NOTHING };
  channel.on('message', (message) => {
    if (message instanceof Uint8Array) end.received(message);
  });
  return end;
}

/** The other process: answers every record, and says what CPU it has used when asked. */
function answer(): void {
  const descriptors = process.env.FRAMES_RING;
  const end = descriptors ? ringEnd(JSON.parse(descriptors)) : channelEnd(process);
  const writer = new FrameWriter();
  end.received = (frame) => {
    readFrame(frame, ({ request }) => writer.answer(request, VERDICT));
    end.send(writer.finish());
  };
  process.on('message', (message) => {
    if (message === 'cpu') process.send?.(process.cpuUsage());
  });
  process.on('disconnect', () => process.exit());
}

interface Pair {
  /** Exchanges frames; resolves to the CPU of both processes for each, in µs. */
  run(load: Pick<(typeof LOADS)[number], 'frames' | 'inFlight' | 'pauseMs'>): Promise<number>;
  stop(): void;
}

function start(way: Way): Pair {
  const own = way === 'ring' ? ringEnd() : undefined;
  const descriptors = own?.ring.descriptors ?? [];
  const places = descriptors.map((_, n) => 4 + n);
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', import.meta.filename], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc', ...descriptors],
    serialization: 'advanced',
    env: { ...process.env, ...(own && { FRAMES_RING: JSON.stringify(places) }) },
  });
  own?.ring.passedOn();
  const end = own ?? channelEnd(child);
  const writer = new FrameWriter();
  const from = { slot: 1, generation: 2, token: new Uint32Array(4) };
  const crossing = { crossing: 1, edge: 1 as const, body: PASSAGE, start: 0, end: PASSAGE.length };
  const send = (request: number) => {
    writer.crossing(request, from, crossing);
    end.send(writer.finish());
  };
  const cpuUs = async () => {
    child.send('cpu');
    const [{ user, system }] = (await once(child, 'message')) as [NodeJS.CpuUsage];
    const mine = process.cpuUsage();
    return user + system + mine.user + mine.system;
  };
  return {
    run: async ({ frames, inFlight, pauseMs }) => {
      const before = await cpuUs();
      await new Promise<void>((resolve) => {
        let answers = 0;
        let sent = 0;
        end.received = (frame) =>
          readFrame(frame, () => {
            answers++;
            if (answers === frames) resolve();
            else if (sent < frames) {
              sent++;
              if (pauseMs === 0) send(sent);
              else setTimeout(send, pauseMs, sent);
            }
          });
        while (sent < inFlight) send(++sent);
      });
      return ((await cpuUs()) - before) / frames;
    },
    stop: () => child.disconnect(),
  };
}

export async function frames(): Promise<void> {
  const pairs = WAYS.map((way) => ({ way, pair: start(way) }));
  for (const { pair } of pairs) await pair.run({ frames: WARM_UP, inFlight: 8, pauseMs: 0 });
  const rows: string[][] = [];
  for (const load of LOADS) {
    const values: Record<Way, number[]> = { channel: [], ring: [] };
    for (let round = 0; round < ROUNDS; round++)
      for (const { way, pair } of pairs) values[way].push(await pair.run(load));
    const one = (value: number) => value.toFixed(1);
    const ratios = values.ring.map((value, round) => value / values.channel[round]);
    rows.push([load.name, ...WAYS.map((way) => spread(values[way], one)), spread(ratios, (value) => value.toFixed(2))]);
  }
  for (const { pair } of pairs) pair.stop();
  console.log(`\n${machine()}\n`);
  console.log(table(['CPU-µs a frame and its answer', ...WAYS, 'ratio'], rows), '\n');
}

if (import.meta.main) answer();
