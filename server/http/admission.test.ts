import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import { checkedCrossing } from '../test/passages.ts';
import { joined, makeRelay } from '../test/relay_harness.ts';
import type { Identity } from '../wire/identity.ts';
import type { Join } from '../wire/join.ts';
import { type ProblemCode, ProblemError } from '../wire/problem.ts';
import { FIRST_POLL_MS } from '../wire/rules.ts';
import {
  JOINS_BURST_MAX,
  JOINS_PER_MINUTE_MAX,
  PLACES_MAX,
  ROWS,
  SOCKETS_MAX,
  StrictAdmission,
  UPLOAD_BYTES_PER_MINUTE_MAX,
  UPLOADS_BURST_MAX,
  UPLOADS_PER_MINUTE_MAX,
  WORKER_ROWS,
  WORLDS_BY_ADDRESS_MAX,
  WorkerAdmission,
} from './admission.ts';

const MINUTE_MS = 60_000;
const ANN = '203.0.113.1';
const BOB = '203.0.113.2';

function refuses(code: ProblemCode, act: () => unknown): void {
  assert.throws(act, (error) => {
    assert.ok(error instanceof ProblemError, String(error));
    assert.equal(error.document.code, code);
    assert.match(error.document.detail, /--admission open/, 'it says how the operator lifts it');
    return true;
  });
}

/** A relay with admission, whose desktops join from addresses. */
class AdmissionHarness {
  readonly admission = new StrictAdmission(2000);
  nowMs = 1_000_000;
  readonly #polling = new Map<number, Identity>();
  readonly relay = makeRelay({ slots: 2000, nowMs: this.nowMs, admission: this.admission });

  /** Joins from an address, and polls, so that the desktop stays. */
  join(address: string | undefined, more: Partial<Join> = {}): { slot: number; invitation: number[] } {
    const identity = joined(this.relay, { address, ...more });
    const { slot, invitation } = identity;
    this.#polling.set(slot, identity);
    this.relay.poll(identity, slot, 0, -1);
    return { slot, invitation: [...invitation] };
  }

  /** Lets time pass. Desktops that have polled once go on polling. */
  rest(ms: number): void {
    for (let left = ms; left > 0; left -= FIRST_POLL_MS) {
      this.nowMs += Math.min(left, FIRST_POLL_MS);
      while (this.relay.advance(this.nowMs));
      for (const [slot, identity] of this.#polling) this.relay.poll(identity, slot, 0, -1);
    }
  }

  /** Joins this often, with pauses so long that the rate allows all. */
  joinSlowly(address: string, count: number, more: (n: number) => Partial<Join> = () => ({})): number[] {
    return Array.from({ length: count }, (_, n) => {
      if (n % JOINS_BURST_MAX === 0) this.rest(2 * MINUTE_MS);
      return this.join(address, more(n)).slot;
    });
  }
}

describe('admission of joins', () => {
  it('allows JOINS_BURST_MAX at once and no more, then JOINS_PER_MINUTE_MAX a minute, to each address', () => {
    const harness = new AdmissionHarness();
    const joins = (count: number) => {
      for (let n = 0; n < count; n++) harness.relay.leave(harness.join(ANN).slot);
    };
    joins(JOINS_BURST_MAX);
    refuses('too-many-joins', () => harness.join(ANN));
    refuses('too-many-joins', () => harness.join(ANN));
    harness.join(BOB);
    harness.rest(MINUTE_MS / JOINS_PER_MINUTE_MAX - 1);
    refuses('too-many-joins', () => harness.join(ANN));
    harness.rest(1);
    joins(1);
    refuses('too-many-joins', () => harness.join(ANN));
    harness.rest(10 * MINUTE_MS);
    joins(JOINS_BURST_MAX);
    refuses('too-many-joins', () => harness.join(ANN));
    assert.equal(harness.admission.refused, 5);
  });

  it('counts every try, so that invitations cannot be guessed fast', () => {
    const harness = new AdmissionHarness();
    const { slot } = harness.join(BOB);
    for (let n = 0; n < JOINS_BURST_MAX; n++) {
      assert.throws(
        () => harness.join(ANN, { near: { slot, secret: [n, n, n, ~0] } }),
        (error) => error instanceof ProblemError && error.document.code === 'near-gone',
      );
    }
    refuses('too-many-joins', () => harness.join(ANN, { near: { slot, secret: [0, 0, 0, 0] } }));
  });

  it('limits nobody whose address is not counted', () => {
    const harness = new AdmissionHarness();
    for (let n = 0; n < PLACES_MAX + JOINS_BURST_MAX; n++) harness.join(undefined);
    for (let n = 0; n <= WORLDS_BY_ADDRESS_MAX; n++) harness.join(undefined, { world: String(n) });
  });
});

describe('admission of places in the default world', () => {
  it('gives PLACES_MAX to an address, and another one when one of its desktops has ended', () => {
    const harness = new AdmissionHarness();
    const slots = harness.joinSlowly(ANN, PLACES_MAX);
    harness.rest(MINUTE_MS);
    refuses('too-many-places', () => harness.join(ANN));
    harness.join(ANN, { world: 'elsewhere' });
    const bob = harness.join(BOB);
    refuses('too-many-places', () => harness.join(ANN, { near: { slot: bob.slot, secret: bob.invitation } }));
    refuses('too-many-places', () => harness.join(ANN, { world: 'commons' }));
    for (const slot of [slots[0], bob.slot]) harness.relay.leave(slot);
    harness.join(ANN);
    refuses('too-many-places', () => harness.join(ANN));
  });

  it('gives back the places of ghosts within FIRST_POLL_MS', () => {
    const harness = new AdmissionHarness();
    const words = new Uint32Array(4);
    for (let n = 0; n < JOINS_BURST_MAX; n++) harness.relay.join({ name: '', address: ANN }, words, words);
    assert.equal(harness.relay.desktops.count, JOINS_BURST_MAX);
    harness.rest(FIRST_POLL_MS);
    assert.equal(harness.relay.desktops.count, 0);
    harness.joinSlowly(ANN, PLACES_MAX);
  });
});

describe('admission of worlds', () => {
  it('opens WORLDS_BY_ADDRESS_MAX for an address, and another one when one of them is empty', () => {
    const harness = new AdmissionHarness();
    const slots = harness.joinSlowly(ANN, WORLDS_BY_ADDRESS_MAX, (n) => ({ world: `${n}` }));
    refuses('too-many-worlds', () => harness.join(ANN, { world: 'one more' }));
    assert.equal(harness.relay.torus.find('one more'), undefined);
    harness.join(ANN);
    harness.join(ANN, { world: '0' });
    harness.join(BOB, { world: 'one more' });
    harness.relay.leave(slots[0]);
    refuses('too-many-worlds', () => harness.join(ANN, { world: 'two more' }));
    harness.relay.leave(slots[1]);
    harness.join(ANN, { world: 'two more' });
    refuses('too-many-worlds', () => harness.join(ANN, { world: 'three more' }));
  });

  it('counts a world that waits empty with sprites for none, and for whoever opens it again', () => {
    const harness = new AdmissionHarness();
    const token = new Uint32Array(4);
    const join = (world: string, address: string) => {
      const slot = harness.relay.join({ name: '', address, world }, token, new Uint32Array(4));
      return { slot, generation: harness.relay.desktops.generation(slot), token: token.slice() };
    };
    for (let n = 0; n < 2 * WORLDS_BY_ADDRESS_MAX; n++) {
      const identity = join(`${n}`, ANN);
      const passage = Buffer.from('"edge":"left"}');
      assert.equal(harness.relay.accept(identity, checkedCrossing(1, 1, passage)).verdict, 'accepted');
      harness.relay.leave(identity.slot);
    }
    assert.equal(harness.relay.waiting, 2 * WORLDS_BY_ADDRESS_MAX);
    harness.rest(10 * MINUTE_MS);
    for (let n = 0; n < WORLDS_BY_ADDRESS_MAX; n++) join(`${n}`, ANN);
    refuses('too-many-worlds', () => join(`${WORLDS_BY_ADDRESS_MAX}`, ANN));
    join(`${WORLDS_BY_ADDRESS_MAX}`, BOB);
  });
});

describe('admission of uploads and sockets', () => {
  const from = (remoteAddress: string) => ({ socket: { remoteAddress }, headers: {} }) as unknown as IncomingMessage;

  it('allows UPLOADS_BURST_MAX uploads at once, then UPLOADS_PER_MINUTE_MAX a minute', () => {
    let nowMs = 5;
    const admission = new WorkerAdmission([], () => nowMs);
    for (let n = 0; n < UPLOADS_BURST_MAX; n++) admission.countUpload(from(ANN), 1);
    refuses('too-many-uploads', () => admission.countUpload(from(ANN), 1));
    admission.countUpload(from(BOB), 1);
    nowMs += MINUTE_MS / UPLOADS_PER_MINUTE_MAX - 1;
    refuses('too-many-uploads', () => admission.countUpload(from(ANN), 1));
    nowMs += 1;
    admission.countUpload(from(ANN), 1);
    refuses('too-many-uploads', () => admission.countUpload(from(ANN), 1));
    assert.equal(admission.refused, 3);
  });

  it('allows UPLOAD_BYTES_PER_MINUTE_MAX of them, and not a byte more; a refused upload counts nothing', () => {
    let nowMs = 0;
    const admission = new WorkerAdmission([], () => nowMs);
    refuses('too-many-uploads', () => admission.countUpload(from(ANN), UPLOAD_BYTES_PER_MINUTE_MAX + 2));
    for (let n = 0; n < 64; n++) admission.countUpload(from(ANN), UPLOAD_BYTES_PER_MINUTE_MAX / 64);
    refuses('too-many-uploads', () => admission.countUpload(from(ANN), 2));
    nowMs = MINUTE_MS / 2;
    refuses('too-many-uploads', () => admission.countUpload(from(ANN), UPLOAD_BYTES_PER_MINUTE_MAX / 2 + 2));
    admission.countUpload(from(ANN), UPLOAD_BYTES_PER_MINUTE_MAX / 2);
  });

  it('allows SOCKETS_MAX at once, and another when one has closed', () => {
    const admission = new WorkerAdmission([]);
    const closes = Array.from({ length: SOCKETS_MAX }, () => admission.countSocket(from(ANN)));
    refuses('too-many-connections', () => admission.countSocket(from(ANN)));
    admission.countSocket(from(BOB));
    closes[0]();
    admission.countSocket(from(ANN));
    refuses('too-many-connections', () => admission.countSocket(from(ANN)));
  });
});

describe('admission, its memory', () => {
  it('is fixed: a stranger with a thousand networks a second fills no table, and takes nothing from others', () => {
    const harness = new AdmissionHarness();
    for (let n = 0; n < 20_000; n++) harness.admission.countJoin(harness.admission.rowOf(`2001:db8:${n}:0::/64`), 0);
    harness.join(ANN);
    assert.equal(harness.admission.refused, 0);
    assert.ok(ROWS >= 1 << 20 && WORKER_ROWS >= 1 << 16);
  });

  it('has rows that differ in each process, so that nobody can choose whose row to share', () => {
    const [one, other] = [new StrictAdmission(1), new StrictAdmission(1)];
    const same = Array.from({ length: 100 }, (_, n) => one.rowOf(`${n}`) === other.rowOf(`${n}`));
    assert.ok(same.filter(Boolean).length < 10);
    assert.equal(one.rowOf(ANN), one.rowOf(ANN));
  });
});
