/** The worker between a front and an uplink that are both of the test's making. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Front, RequestView } from '../front/front.ts';
import { FRAME_BYTES_TARGET, RecordKind, readFrame } from '../wire/frame.ts';
import { ProblemError } from '../wire/problem.ts';
import { IpcUplink, PROMPT_FRAMES_MAX } from './ipc.ts';
import { PENDING_MAX, PendingRequests } from './pending.ts';
import { Worker } from './worker.ts';

const IDENTITY = { slot: 1, generation: 1, token: new Uint32Array(4) };
const CROSSING = JSON.stringify({
  ...{ crossing: 1, edge: 'right', at: 0.5, vx: 1, vy: 2 },
  sprite: { file: '0123456789abcdef'.repeat(4), name: 'Blob' },
});

interface Answered {
  ticket: number;
  status: number;
  code: string | undefined;
  retryAfterSeconds: number;
}

/** A worker whose frames go nowhere, or fail; and the answers its front was given. */
class Harness {
  readonly frames: Buffer[] = [];
  readonly answers: Answered[] = [];
  readonly worker: Worker;
  /** How the next frames fare: on their way, failing at once, or failing when the test says so. */
  fate: 'sent' | 'fails' | 'fails later' = 'sent';
  readonly failLater: (() => void)[] = [];
  readonly uplink: IpcUplink;
  flushes = 0;
  nowMs = 1000;

  constructor() {
    const pending = new PendingRequests();
    this.uplink = new IpcUplink(
      (frame, unsent) => {
        if (this.fate === 'sent') this.frames.push(frame);
        else if (this.fate === 'fails') unsent();
        else this.failLater.push(unsent);
      },
      pending,
      () => this.nowMs,
    );
    this.worker = new Worker(this.uplink, pending);
    const front: Pick<Front, 'answer' | 'flush'> = {
      answer: (ticket, status, body, start, end, retryAfterSeconds) => {
        const { code } = JSON.parse(Buffer.from(body.subarray(start, end)).toString() || '{}');
        this.answers.push({ ticket, status, code, retryAfterSeconds });
      },
      flush: () => void this.flushes++,
    };
    this.worker.setFront(front as Front);
  }

  post(ticket: number, text = CROSSING): void {
    const body = Buffer.from(text);
    const at = { edge: -1 as const, crossing: 0, body, start: 0, end: body.length };
    const view: RequestView = { ...IDENTITY, ticket, epoch: 0, seq: -1, ...at };
    this.worker.handlers.crossing(view);
  }

  /** Records that were asked, by kind. */
  asked(): number[] {
    const kinds: number[] = [];
    for (const frame of this.frames) readFrame(frame, ({ kind }) => kinds.push(kind));
    return kinds;
  }
}

const BUSY = { status: 503, code: 'relay-busy', retryAfterSeconds: 1 };

describe('worker', () => {
  it('asks the master about every crossing, also while it goes down: a repeat of an accepted one is not refused here', () => {
    const harness = new Harness();
    harness.worker.drain();
    harness.post(7);
    harness.worker.handlers.turn();
    assert.deepEqual([harness.asked(), harness.answers], [[RecordKind.crossing], []]);
    harness.worker.throwFrom(IDENTITY, Buffer.from(CROSSING), () => {});
    assert.deepEqual(harness.asked(), [RecordKind.crossing, RecordKind.crossing]);
  });

  it('asks at once in up to PROMPT_FRAMES_MAX frames a millisecond, and gathers the rest of it in one', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const harness = new Harness();
    const turn = (turns: number) => {
      for (let n = 0; n < turns; n++) {
        harness.post(n);
        harness.worker.handlers.turn();
      }
      return harness.frames.splice(0).map((frame) => frame.readUInt32LE(4));
    };
    assert.deepEqual(turn(PROMPT_FRAMES_MAX - 1), Array(PROMPT_FRAMES_MAX - 1).fill(1));
    harness.nowMs += 0.9;
    assert.deepEqual(turn(1), [1]);
    assert.deepEqual(turn(3), []);
    t.mock.timers.tick(1);
    assert.deepEqual(turn(0), [3]);
    harness.nowMs += 1;
    assert.deepEqual(turn(PROMPT_FRAMES_MAX + 1), Array(PROMPT_FRAMES_MAX).fill(1));
    t.mock.timers.tick(1);
    assert.deepEqual(turn(0), [1]);
  });

  it('gathers no more than a frame: beyond FRAME_BYTES_TARGET it leaves before its time', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const harness = new Harness();
    for (let n = 0; n < PENDING_MAX / 2 && harness.frames.length <= PROMPT_FRAMES_MAX; n++) {
      harness.post(n);
      harness.worker.handlers.turn();
    }
    const length = harness.frames.at(-1)?.length ?? 0;
    assert.ok(length > FRAME_BYTES_TARGET && length < FRAME_BYTES_TARGET + 2 * CROSSING.length, `${length}`);
    assert.equal(harness.frames.length, PROMPT_FRAMES_MAX + 1);
    t.mock.timers.tick(1);
    assert.equal(harness.frames.length, PROMPT_FRAMES_MAX + 1, 'nothing is left for then');
  });

  it('asks nothing else while it goes down', async () => {
    const harness = new Harness();
    harness.worker.drain();
    const isDraining = (error: unknown) => error instanceof ProblemError && error.document.code === 'draining';
    await assert.rejects(harness.worker.query('describe', IDENTITY), isDraining);
    await assert.rejects(harness.worker.join({ name: '' }), isDraining);
    assert.throws(() => harness.worker.poll(IDENTITY, 0, -1, () => {}), isDraining);
    assert.equal(harness.worker.pendingCount, 0);
  });

  for (const fate of ['fails', 'fails later'] as const) {
    it(`answers 503 relay-busy to all that was in a frame that ${fate}, and goes on`, async () => {
      const harness = new Harness();
      harness.fate = fate;
      for (let ticket = 1; ticket <= 3; ticket++) harness.post(ticket);
      const looked = harness.worker.query('describe', IDENTITY);
      const polled = new Promise<number>((resolve) => {
        const request = harness.worker.poll(IDENTITY, 0, -1, ({ status }) => resolve(status));
        assert.ok(request >= 0);
      });
      harness.worker.handlers.turn();
      for (const fail of harness.failLater) fail();
      assert.deepEqual(
        harness.answers,
        [1, 2, 3].map((ticket) => ({ ticket, ...BUSY })),
      );
      assert.equal((await looked).status, 503);
      assert.equal(await polled, 503);
      assert.deepEqual([harness.worker.pendingCount, harness.worker.busy, harness.worker.malformed], [0, 5, 0]);
      assert.ok(harness.flushes > 0, 'the answers are handed over');
      harness.fate = 'sent';
      harness.post(4);
      harness.worker.handlers.turn();
      assert.deepEqual(harness.asked(), [RecordKind.crossing]);
    });
  }

  it('keeps the number of a poll whose socket is gone until the master has answered, though that could not be told', () => {
    const harness = new Harness();
    const request = harness.worker.poll(IDENTITY, 0, -1, () => assert.fail('nobody is there'));
    harness.uplink.flush();
    harness.fate = 'fails';
    harness.worker.closed(request, IDENTITY);
    harness.uplink.flush();
    assert.deepEqual([harness.worker.pendingCount, harness.worker.busy], [1, 0]);
  });

  it('counts what is malformed apart from what is too much', () => {
    const harness = new Harness();
    harness.post(1, '{');
    assert.deepEqual([harness.worker.malformed, harness.worker.busy], [1, 0]);
    for (let n = 0; n < PENDING_MAX - 1; n++) harness.post(2);
    assert.deepEqual([harness.worker.pendingCount, harness.worker.busy], [PENDING_MAX - 1, 0]);
    harness.post(3);
    assert.equal(harness.answers.length, 1, 'the last that there is room for is not refused');
    harness.post(4);
    assert.deepEqual(harness.answers.at(-1), { ticket: 4, ...BUSY });
    assert.deepEqual([harness.worker.malformed, harness.worker.busy], [1, 1]);
  });
});
