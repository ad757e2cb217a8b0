import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Logger } from 'pino';
import { moderatedRelay } from '../test/moderated_relay.ts';
import { joined } from '../test/relay_harness.ts';
import { ProblemError } from '../wire/problem.ts';
import {
  FEEDBACK_ALL_MAX,
  FEEDBACK_PER_WINDOW_MAX,
  FEEDBACK_WINDOW_MS,
  Moderator,
  type ModeratorOptions,
} from './moderator.ts';

/** A moderator of a relay without desktops, and the feedback that it has let through. */
function moderatorOf() {
  const texts: string[] = [];
  const clock = { nowMs: 0 };
  const moderator = new Moderator({
    turns: { relay: { desktops: { max: 1 }, torus: { worlds: () => [] } } },
    list: { copy: { addresses: [], pictures: [] } },
    gallery: { copy: { listed: [], waiting: [] } },
    feedback: { add: ({ text }: { text: string }) => void texts.push(text) },
    ...{ flights: { track: () => {} }, shipped: [], log: {} as Logger, send: async () => {}, clock: () => clock.nowMs },
  } as unknown as ModeratorOptions);
  /** Sends a text from the nth address. Returns whether it is let through. */
  const isAllowed = (n: number): boolean => {
    try {
      moderator.addFeedback({ text: `text ${n}`, contact: '', address: `203.0.113.${n}` });
      return true;
    } catch (error) {
      assert.ok(error instanceof ProblemError && error.document.code === 'too-fast', String(error));
      return false;
    }
  };
  return { isAllowed, texts, clock };
}

describe('the feedback of visitors', () => {
  it('is FEEDBACK_ALL_MAX texts in a window from all addresses, and one more is refused', () => {
    const { isAllowed, texts, clock } = moderatorOf();
    for (let n = 0; n < FEEDBACK_ALL_MAX; n++) assert.ok(isAllowed(n), `text ${n}`);
    assert.equal(texts.length, FEEDBACK_ALL_MAX);
    assert.ok(!isAllowed(FEEDBACK_ALL_MAX), 'from an address that has sent none');
    clock.nowMs = FEEDBACK_WINDOW_MS - 1;
    assert.ok(!isAllowed(FEEDBACK_ALL_MAX));
    clock.nowMs = FEEDBACK_WINDOW_MS;
    assert.ok(isAllowed(FEEDBACK_ALL_MAX), 'the next window');
    assert.equal(texts.length, FEEDBACK_ALL_MAX + 1);
  });

  it('is FEEDBACK_PER_WINDOW_MAX texts from one address, and those of others are still let through', () => {
    const { isAllowed } = moderatorOf();
    for (let n = 0; n < FEEDBACK_PER_WINDOW_MAX; n++) assert.ok(isAllowed(1));
    assert.ok(!isAllowed(1));
    assert.ok(isAllowed(2));
  });
});

describe('an operator whose disk is full', () => {
  /** A relay whose list of bans can't be written until mend() is called: something is in its way. */
  function blocked(t: { after(fn: () => void): void }) {
    const data = mkdtempSync(join(tmpdir(), 'moderator-'));
    t.after(() => rmSync(data, { recursive: true, force: true }));
    const errors: string[] = [];
    const log = { error: (_: unknown, text: string) => void errors.push(text), info: () => {}, warn: () => {} };
    const relay = moderatedRelay(data, log as unknown as Logger, Date.now);
    const path = join(data, 'moderation.json');
    mkdirSync(path);
    writeFileSync(join(path, 'in the way'), '');
    const mend = () => rmSync(path, { recursive: true });
    return { ...relay, errors, path, mend };
  }
  const FILE = 'ab'.repeat(32);

  it('removes a picture everywhere, and is told that the ban is not saved', async (t) => {
    const { moderator, sent, notices, errors } = blocked(t);
    const { unsaved } = await moderator.removePicture(FILE);
    assert.match(
      unsaved ?? '',
      /^the list of bans could not be written \(E\w+\): the change holds until the relay stops/,
    );
    assert.deepEqual(notices, [{ type: 'removed', file: FILE }]);
    assert.deepEqual(
      sent.map(({ type }) => type),
      ['bans', 'removed'],
    );
    assert.ok(moderator.list.isPictureBanned(FILE));
    await moderator.unbanPicture(FILE);
    assert.equal(errors.length, 1, 'one line in the log, however often it is tried');
  });

  it('bans an address, and what is not saved is saved when there is room again', async (t) => {
    const { moderator, list, path, mend } = blocked(t);
    t.after(() => list.close());
    const banned = await moderator.banAddress('192.0.2.7', undefined);
    assert.deepEqual([banned.address, banned.kicked, typeof banned.unsaved], ['192.0.2.7', 0, 'string']);
    assert.throws(() => moderator.admit('192.0.2.7'), /has banned your address/);
    mend();
    await list.close();
    assert.ok(existsSync(path), 'it was to be tried again');
    assert.equal((await moderator.unbanAddress('192.0.2.7')).unsaved, undefined);
  });
});

describe('a name on the page about the world', () => {
  it('goes when the operator ends its desktop, also one that has left or that is banned', async (t) => {
    const data = mkdtempSync(join(tmpdir(), 'moderator-'));
    t.after(() => rmSync(data, { recursive: true, force: true }));
    const file = 'ab'.repeat(32);
    const { moderator, master } = moderatedRelay(data, { info: () => {} } as unknown as Logger, Date.now, [file]);
    const { day, desktops } = master.relay;
    const show = (slot: number) => {
      const generation = desktops.generation(slot);
      day.setFarthest({ file, desktops: 2, slot, generation, name: 'Ann' });
    };
    const [ann, bob, cid] = [joined(master.relay), joined(master.relay), joined(master.relay)];
    show(ann.slot);
    moderator.kick(desktops.id(bob.slot));
    assert.equal(day.farthest?.name, 'Ann', 'that of another one stays');
    moderator.kick(desktops.id(ann.slot));
    assert.deepEqual([day.farthest?.name, day.farthest?.desktops], ['', 2]);
    show(ann.slot);
    assert.equal((await moderator.forget(desktops.id(ann.slot))).ended, false);
    assert.equal(day.farthest?.name, '');
    show(cid.slot);
    moderator.joined(cid.slot, '192.0.2.7');
    assert.equal((await moderator.banAddress('192.0.2.7', undefined)).kicked, 1);
    assert.equal(day.farthest?.name, '');
  });
});

describe('a ban of an IPv6 address', () => {
  it('is of its /64, which is what one subscriber has; /128 bans one address; unban ends both', async (t) => {
    const data = mkdtempSync(join(tmpdir(), 'moderator-'));
    t.after(() => rmSync(data, { recursive: true, force: true }));
    const { moderator } = moderatedRelay(data, { info: () => {} } as unknown as Logger, Date.now);
    for (const [text, network] of [
      ['2001:db8::7', '2001:db8::/64'],
      ['2001:db8::7/128', '2001:db8::7'],
      ['2001:db8::7/65', '2001:db8::/65'],
      ['2001:db8::/63', '2001:db8::/63'],
      ['192.0.2.7', '192.0.2.7'],
      ['::ffff:192.0.2.8', '192.0.2.8'],
    ]) {
      assert.equal((await moderator.banAddress(text, undefined)).address, network);
    }
    assert.throws(() => moderator.admit('2001:db8::ffff:1:2:3'), /has banned your address/);
    await moderator.unbanAddress('2001:db8::7');
    await moderator.unbanAddress('2001:db8::/65');
    await moderator.unbanAddress('2001:db8::/63');
    moderator.admit('2001:db8::7');
    await assert.rejects(moderator.unbanAddress('2001:db8::7'), /2001:db8::\/64 and 2001:db8::7: not banned/);
    await moderator.unbanAddress('::ffff:192.0.2.7');
    moderator.admit('192.0.2.7');
  });
});
