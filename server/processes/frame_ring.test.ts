/** Frames through shared memory: a ring that is full, and a worker that garbles it, is killed, or only echoes. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import type { NativeRing, RingOptions } from '../front/native.ts';
import { addon, whyNoNativeFront } from '../front/native.ts';
import { BOUNDED } from '../test/relay_process.ts';
import { answerOf } from '../wire/answer.ts';
import { FRAME_BYTES_TARGET, FRAME_HEAD, FrameWriter } from '../wire/frame.ts';
import { FrameRing } from './frame_ring.ts';

/** A frame with one answer of so many bytes. */
function frameOf(bytes: number, fill = 0x61): Buffer {
  const writer = new FrameWriter();
  writer.answer(7, answerOf(200, Buffer.alloc(bytes, fill)));
  return writer.finish();
}

/** A ring in the addon's place: the test says how much room it has. */
class PretendRing implements NativeRing {
  readonly descriptors = [];
  readonly options: RingOptions;
  readonly written: Buffer[] = [];
  room = 0;
  isClosed = false;

  constructor(options: RingOptions) {
    this.options = options;
  }

  write(bytes: Uint8Array, from: number): number {
    const count = Math.min(this.room, bytes.length - from);
    this.room -= count;
    this.written.push(Buffer.from(bytes.subarray(from, from + count)));
    return count;
  }

  receive(bytes: Buffer): void {
    bytes.copy(Buffer.from(this.options.inbound));
    this.options.receive(bytes.length);
  }

  passedOn(): void {}

  close(): void {
    this.isClosed = true;
  }
}

function pretend(frame = (_: Buffer) => {}) {
  const events: string[] = [];
  let native!: PretendRing;
  const receiver = {
    frame: (bytes: Buffer) => {
      events.push(`frame of ${bytes.length}`);
      frame(bytes);
    },
    turn: () => events.push('turn'),
    broken: (why: string) => events.push(why),
  };
  const ring = new FrameRing(receiver, undefined, (options) => {
    native = new PretendRing(options);
    return native;
  });
  return { ring, native, events };
}

describe('a ring of frames', () => {
  it('keeps what has no room, in order, and reports each frame once all of it was written', () => {
    const { ring, native } = pretend();
    const frames = [10, 20, 30].map((bytes, n) => frameOf(bytes, n));
    const sent: number[] = [];
    native.room = frames[0].length + 5;
    for (const [n, frame] of frames.entries()) ring.send(frame, () => sent.push(n));
    assert.deepEqual(sent, [0]);
    for (const room of [1, 3, frames[1].length, 0, frames[2].length]) {
      native.room = room;
      native.options.room();
    }
    assert.deepEqual(sent, [0, 1, 2]);
    assert.deepEqual(Buffer.concat(native.written), Buffer.concat(frames));
  });

  it('sends in order what is sent while it reports', () => {
    const { ring, native } = pretend();
    const [first, second, third] = [1, 2, 3].map((n) => frameOf(n, n));
    ring.send(first, () => ring.send(third, () => {}));
    ring.send(second, () => {});
    native.room = 1000;
    native.options.room();
    assert.deepEqual(Buffer.concat(native.written), Buffer.concat([first, second, third]));
  });

  it('passes on the frames of a turn, then ends the turn once', () => {
    const { native, events } = pretend();
    const [first, second] = [frameOf(1), frameOf(2)];
    native.receive(Buffer.concat([first, second, second.subarray(0, 3)]));
    native.receive(second.subarray(3));
    assert.deepEqual(events, [
      ...[`frame of ${first.length}`, `frame of ${second.length}`, 'turn'],
      ...[`frame of ${second.length}`, 'turn'],
    ]);
  });

  it('is closed when the bytes are no frames, after the frames before them', () => {
    const { native, events } = pretend();
    native.receive(Buffer.concat([frameOf(1), Buffer.alloc(FRAME_HEAD, 0xff)]));
    assert.deepEqual(events, ['frame of 25', 'frame: its length is 4294967295', 'turn']);
    assert.ok(native.isClosed);
  });

  it('reports a fault of its receiver as what it is', () => {
    const fault = new RangeError('a fault');
    const { native } = pretend(() => {
      throw fault;
    });
    assert.throws(() => native.receive(frameOf(1)), fault);
  });

  it('forgets what was not sent when it is closed', () => {
    const { ring, native } = pretend();
    ring.send(frameOf(1), () => assert.fail('it was not sent'));
    ring.close();
    native.room = 1000;
    native.options.room();
    assert.equal(native.written.at(-1)?.length ?? 0, 0);
  });
});

const FRAME_RING = JSON.stringify(new URL('./frame_ring.ts', import.meta.url));
const NATIVE = JSON.stringify(new URL('../front/native.ts', import.meta.url));

/** Programs of the other process. It ends when its standard input does. */
const PROGRAMS = {
  echoes: `
    const { FrameRing } = await import(${FRAME_RING});
    const ring = new FrameRing({
      frame: (frame) => ring.send(Buffer.from(frame), () => {}),
      turn() {},
      broken: (why) => { throw new Error(why); },
    }, [3, 4, 5]);
    process.stdin.resume();
  `,
  garbles: `
    const { addon } = await import(${NATIVE});
    const none = () => {};
    const options = { inbound: new ArrayBuffer(4096), receive: none, room: none, broken: none, descriptors: [3, 4, 5] };
    new (addon().Ring)(options).write(Buffer.alloc(100, 0xab), 0);
    process.stdin.resume();
  `,
};

describe('a ring of frames between two processes', { skip: whyNoNativeFront() ?? false, ...BOUNDED }, () => {
  const children: ChildProcess[] = [];
  after(() => {
    for (const child of children) child.kill('SIGKILL');
  });

  /** Starts the other process. `next` resolves to the next frame, or rejects with why the ring is broken. */
  function start(program: keyof typeof PROGRAMS) {
    const frames: Buffer[] = [];
    let arrived = Promise.withResolvers<void>();
    const ring = new FrameRing({
      frame: (frame) => frames.push(Buffer.from(frame)),
      turn: () => arrived.resolve(),
      broken: (why) => arrived.reject(new Error(why)),
    });
    const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', PROGRAMS[program]];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'inherit', 'inherit', ...ring.descriptors] });
    children.push(child);
    ring.passedOn();
    const next = async () => {
      // Nothing else keeps this process alive: a ring does not.
      const alive = setInterval(() => {}, 1000);
      try {
        while (frames.length === 0) {
          await arrived.promise;
          arrived = Promise.withResolvers();
        }
      } finally {
        clearInterval(alive);
      }
      return frames.shift() as Buffer;
    };
    return { ring, child, next };
  }

  it('carries frames of every size both ways, many more than the ring holds', async () => {
    const { ring, next } = start('echoes');
    const sizes = [0, 1, 1000, 65_535, (256 << 10) - FRAME_HEAD - 12, 256 << 10, 2 * FRAME_BYTES_TARGET];
    const frames = [...sizes, ...Array.from({ length: 3000 }, (_, n) => 200 + (n % 100))].map((bytes, n) =>
      frameOf(bytes, n),
    );
    let sent = 0;
    for (const frame of frames) ring.send(frame, () => sent++);
    for (const [n, frame] of frames.entries()) assert.ok(frame.equals(await next()), `frame ${n}`);
    assert.equal(sent, frames.length);
    ring.close();
  });

  it('is broken by a process that writes something else, and this process goes on', async () => {
    const { next } = start('garbles');
    await assert.rejects(next(), /frame: its length is 2880154539/);
  });

  it('closes the descriptors that it was given when they are not those of a ring', () => {
    const descriptors = Array.from({ length: 3 }, () => openSync('/dev/null', 'r'));
    const none = () => {};
    const options = { inbound: new ArrayBuffer(4096), receive: none, room: none, broken: none, descriptors };
    assert.throws(() => new (addon().Ring)(options), /EINVAL|Invalid argument/);
    for (const descriptor of descriptors) assert.throws(() => closeSync(descriptor), /EBADF/);
  });

  it('is replaced by a new one when the other process is killed', async () => {
    const first = start('echoes');
    first.ring.send(frameOf(10), () => {});
    await first.next();
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    for (let n = 0; n < 2000; n++) first.ring.send(frameOf(1000), () => {});
    first.ring.close();
    const second = start('echoes');
    second.ring.send(frameOf(20), () => {});
    assert.equal((await second.next()).length, FRAME_HEAD + 12 + 20);
    second.ring.close();
  });
});
