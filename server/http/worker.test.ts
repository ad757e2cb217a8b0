/** The worker between a fake front and an uplink whose frames the test collects. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Front, NO_SLOT, type RequestView } from '../front/front.ts';
import { Bans } from '../moderation/bans.ts';
import { PictureGate } from '../moderation/picture_gate.ts';
import { IpcUplink, PROMPT_FRAMES_MAX, UPLINK_BYTES_MAX } from '../processes/ipc.ts';
import { PENDING_MAX, PendingRequests } from '../processes/pending.ts';
import type { SpriteStore } from '../store/sprite_store.ts';
import { FRAME_BYTES_TARGET, RecordKind, readFrame } from '../wire/frame.ts';
import { Standing } from '../wire/pictures.ts';
import { ProblemError } from '../wire/problem.ts';
import { checkStage } from '../wire/stage.ts';
import { Worker } from './worker.ts';

const IDENTITY = { slot: 1, generation: 1, token: new Uint32Array(4) };
const FILE = '0123456789abcdef'.repeat(4);
const CROSSING = JSON.stringify({
  ...{ crossing: 1, edge: 'right', at: 0.5, vx: 1, vy: 2 },
  sprite: { file: FILE, name: 'Blob' },
});

interface Answered {
  ticket: number;
  status: number;
  code: string | undefined;
  retryAfterSeconds: number;
}

/** A worker whose frames are collected, or fail to be sent; and the answers that its front received. */
class WorkerHarness {
  readonly frames: Buffer[] = [];
  readonly answers: Answered[] = [];
  readonly worker: Worker;
  /** What happens to the next frames: they are sent, fail at once, or fail when the test calls `failLater`. */
  fate: 'sent' | 'fails' | 'fails later' = 'sent';
  /** Sent frames stay on the way until the test calls the next of `sent`. */
  isSlow = false;
  readonly sent: (() => void)[] = [];
  readonly failLater: (() => void)[] = [];
  readonly uplink: IpcUplink;
  flushes = 0;
  nowMs = 1000;

  constructor(gate?: PictureGate) {
    const pending = new PendingRequests();
    this.uplink = new IpcUplink(
      (frame, done) => {
        if (this.fate === 'sent') {
          this.frames.push(frame);
          if (this.isSlow) this.sent.push(() => done(false));
          else done(false);
        } else if (this.fate === 'fails') done(true);
        else this.failLater.push(() => done(true));
      },
      pending,
      () => this.nowMs,
    );
    this.worker = new Worker(this.uplink, pending, gate);
    const front: Pick<Front, 'answer' | 'flush'> = {
      answer: (ticket, { status, body, start, end, retryAfterSeconds }) => {
        const { code } = JSON.parse(Buffer.from(body.subarray(start, end)).toString() || '{}');
        this.answers.push({ ticket, status, code, retryAfterSeconds });
      },
      flush: () => void this.flushes++,
    };
    this.worker.setFront(front as Front);
  }

  post(ticket: number, text = CROSSING): void {
    this.worker.handlers.crossing(this.#viewOf(ticket, text, IDENTITY.slot));
  }

  show(ticket: number, text: string, slot = IDENTITY.slot): void {
    this.worker.handlers.stage(this.#viewOf(ticket, text, slot));
  }

  #viewOf(ticket: number, text: string, slot: number): RequestView {
    const body = Buffer.from(text);
    const at = { edge: -1 as const, crossing: 0, body, start: 0, end: body.length };
    return { ...IDENTITY, slot, ticket, epoch: 0, seq: -1, ...at };
  }

  /** The kinds of the records that were sent. */
  sentKinds(): number[] {
    const kinds: number[] = [];
    for (const frame of this.frames) readFrame(frame, ({ kind }) => kinds.push(kind));
    return kinds;
  }
}

const BUSY = { status: 503, code: 'relay-busy', retryAfterSeconds: 1 };

describe('worker', () => {
  it('sends every crossing to the master, also while draining, so that no repeat of an accepted one is refused', () => {
    const harness = new WorkerHarness();
    harness.worker.drain();
    harness.post(7);
    harness.worker.handlers.turn();
    assert.deepEqual([harness.sentKinds(), harness.answers], [[RecordKind.crossing], []]);
    harness.worker.throwFrom(IDENTITY, JSON.parse(CROSSING), () => {});
    assert.deepEqual(harness.sentKinds(), [RecordKind.crossing, RecordKind.crossing]);
  });

  it('sends a stage as it was checked, and refuses a malformed one, or one without an identity, by itself', () => {
    const harness = new WorkerHarness();
    const stage = { width: 9, height: 9, files: [FILE], sprites: [{ id: 1, x: 1.4, y: 2 }] };
    harness.show(7, JSON.stringify({ ...stage, extra: 1 }));
    harness.show(8, JSON.stringify({ ...stage, width: 0 }));
    harness.show(9, JSON.stringify(stage), NO_SLOT);
    harness.worker.showFrom(IDENTITY, stage, () => {});
    harness.worker.handlers.turn();
    const { body } = checkStage(stage);
    const sent: Buffer[] = [];
    for (const frame of harness.frames) {
      readFrame(frame, ({ kind, body: bytes, start, end }) => {
        assert.equal(kind, RecordKind.show);
        sent.push(Buffer.from(bytes.subarray(start, end)));
      });
    }
    assert.deepEqual(sent, [body, body]);
    assert.deepEqual(
      harness.answers.map(({ ticket, code }) => [ticket, code]),
      [
        [8, 'malformed'],
        [9, 'unknown-desktop'],
      ],
    );
    assert.equal(harness.worker.malformed, 1);
  });

  it('asks the gate about every picture of a stage, and sends the lowest standing', () => {
    const files = [FILE, FILE.replace('0', '1')];
    const stage = JSON.stringify({ width: 9, height: 9, files, sprites: [] });
    const bans = new Bans();
    const standings = { isShipped: (file: string) => file === FILE, has: () => false } as unknown as SpriteStore;
    const gate = new PictureGate('any', bans, standings);
    const harness = new WorkerHarness(gate);
    gate.update({ addresses: [], pictures: [], strictWorlds: true });
    harness.show(1, stage);
    harness.worker.handlers.turn();
    const seen: number[] = [];
    readFrame(harness.frames[0], ({ standing }) => seen.push(standing));
    assert.deepEqual(seen, [Standing.unknown]);
    gate.update({ addresses: [], pictures: [{ file: files[1], untilMs: null }], strictWorlds: false });
    harness.show(2, stage);
    assert.deepEqual(harness.answers[0].code, 'picture-refused');
    assert.equal(harness.worker.pictureRefused, 1);
  });

  it('sends up to PROMPT_FRAMES_MAX frames a millisecond at once, and gathers the other records in one', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const harness = new WorkerHarness();
    const turn = (turns: number) => {
      for (let n = 0; n < turns; n++) {
        harness.post(n);
        harness.worker.handlers.turn();
      }
      return harness.frames.splice(0).map((frame) => frame.readUInt32LE(8));
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

  it('sends a gathered frame early when it exceeds FRAME_BYTES_TARGET', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const harness = new WorkerHarness();
    for (let n = 0; n < PENDING_MAX / 2 && harness.frames.length <= PROMPT_FRAMES_MAX; n++) {
      harness.post(n);
      harness.worker.handlers.turn();
    }
    const length = harness.frames.at(-1)?.length ?? 0;
    assert.ok(length > FRAME_BYTES_TARGET && length < FRAME_BYTES_TARGET + 2 * CROSSING.length, `${length}`);
    assert.equal(harness.frames.length, PROMPT_FRAMES_MAX + 1);
    t.mock.timers.tick(1);
    assert.equal(harness.frames.length, PROMPT_FRAMES_MAX + 1, 'no record is left for the timer');
  });

  it('sends the throws of sockets to the master while draining, too', () => {
    const harness = new WorkerHarness();
    harness.worker.drain();
    harness.worker.throwFrom(IDENTITY, JSON.parse(CROSSING), () => {});
    assert.deepEqual(harness.sentKinds(), [RecordKind.crossing]);
  });

  it('refuses every other request while draining', async () => {
    const harness = new WorkerHarness();
    harness.worker.drain();
    const isDraining = (error: unknown) => error instanceof ProblemError && error.document.code === 'draining';
    await assert.rejects(harness.worker.query('describe', IDENTITY), isDraining);
    await assert.rejects(harness.worker.join({ name: '' }), isDraining);
    assert.throws(() => harness.worker.poll(IDENTITY, 0, -1, () => {}), isDraining);
    assert.equal(harness.worker.pendingCount, 0);
  });

  for (const fate of ['fails', 'fails later'] as const) {
    it(`answers 503 relay-busy to every request of a frame that ${fate}, and sends the next one`, async () => {
      const harness = new WorkerHarness();
      harness.fate = fate;
      for (let ticket = 1; ticket <= 3; ticket++) harness.post(ticket);
      const described = harness.worker.query('describe', IDENTITY);
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
      assert.equal((await described).status, 503);
      assert.equal(await polled, 503);
      assert.deepEqual([harness.worker.pendingCount, harness.worker.busy, harness.worker.malformed], [0, 5, 0]);
      assert.ok(harness.flushes > 0, 'the answers are flushed');
      harness.fate = 'sent';
      harness.post(4);
      harness.worker.handlers.turn();
      assert.deepEqual(harness.sentKinds(), [RecordKind.crossing]);
    });
  }

  it('refuses requests while more than UPLINK_BYTES_MAX are on the way, until half of them have left', () => {
    const harness = new WorkerHarness();
    harness.isSlow = true;
    const bytesOnTheWay = () => harness.frames.reduce((sum, { length }) => sum + length, 0);
    let ticket = 0;
    const postFrame = () => {
      for (const before = harness.frames.length; harness.frames.length === before && ticket < PENDING_MAX; )
        harness.post(++ticket);
    };
    while (bytesOnTheWay() <= UPLINK_BYTES_MAX && harness.answers.length === 0) postFrame();
    assert.ok(bytesOnTheWay() - (harness.frames.at(-1)?.length ?? 0) <= UPLINK_BYTES_MAX, 'none was refused below it');
    const isRefused = () => {
      const before = harness.answers.length;
      harness.post(++ticket);
      return harness.answers.length > before && harness.answers.at(-1)?.code === 'relay-busy';
    };
    assert.equal(isRefused(), true);
    assert.equal(harness.worker.busy, 1);
    while (bytesOnTheWay() > UPLINK_BYTES_MAX / 2) {
      assert.equal(isRefused(), true);
      harness.frames.shift();
      harness.sent.shift()?.();
    }
    assert.equal(isRefused(), false);
  });

  it('keeps the number of a poll with a closed socket until the master has answered, even if `closed` was not sent', () => {
    const harness = new WorkerHarness();
    const request = harness.worker.poll(IDENTITY, 0, -1, () => assert.fail('the socket is closed'));
    harness.uplink.flush();
    harness.fate = 'fails';
    harness.worker.closed(request, IDENTITY);
    harness.uplink.flush();
    assert.deepEqual([harness.worker.pendingCount, harness.worker.busy], [1, 0]);
  });

  it('counts malformed crossings apart from those refused as busy', () => {
    const harness = new WorkerHarness();
    harness.post(1, '{');
    assert.deepEqual([harness.worker.malformed, harness.worker.busy], [1, 0]);
    for (let n = 0; n < PENDING_MAX - 1; n++) harness.post(2);
    assert.deepEqual([harness.worker.pendingCount, harness.worker.busy], [PENDING_MAX - 1, 0]);
    harness.post(3);
    assert.equal(harness.answers.length, 1, 'the last one with a free row is not refused');
    harness.post(4);
    assert.deepEqual(harness.answers.at(-1), { ticket: 4, ...BUSY });
    assert.deepEqual([harness.worker.malformed, harness.worker.busy], [1, 1]);
  });
});
