/** Shared moderation: several relays without processes, which share a pretend bucket. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Logger } from 'pino';
import type { GalleryList } from '../moderation/gallery_list.ts';
import { LISTED_MAX } from '../moderation/gallery_list.ts';
import { BANS_MAX, ModerationList } from '../moderation/moderation_list.ts';
import { moderatedRelay } from '../test/moderated_relay.ts';
import { PretendStore } from '../test/pretend_bucket.ts';
import { SharedModeration } from './shared_moderation.ts';

const PICTURE = 'a'.repeat(64);
const NETWORK = '192.0.2.0/24';
const OTHER = '2001:db8::/48';
const DAY_MS = 86_400_000;

/** More turns than any chain of promises here has, and more rounds than it has writes of files. */
const TURNS = 20;
const ROUNDS = 4;

class Cluster {
  readonly store = new PretendStore();
  readonly logged: string[] = [];
  readonly #t: TestContext;
  readonly #lists: (ModerationList | GalleryList)[] = [];
  nowMs = 100 * DAY_MS;

  constructor(t: TestContext) {
    this.#t = t;
  }

  folder(): string {
    const path = mkdtempSync(join(tmpdir(), 'sprites-shared-'));
    this.#t.after(() => rmSync(path, { recursive: true, force: true }));
    return path;
  }

  /** A relay that has started. `isCut`: NATS is away. */
  start(name: string, data = this.folder(), isCut = false) {
    const keep = (fields: unknown, text?: string) => void this.logged.push(JSON.stringify([fields, text]));
    const log = { error: keep, warn: keep, info: keep, debug: keep } as unknown as Logger;
    const clock = () => this.nowMs;
    const relay = moderatedRelay(data, log, clock);
    const { moderator, list, gallery } = relay;
    this.#lists.push(list, gallery);
    const bucket = this.store.bucket();
    if (isCut) bucket.cut();
    new SharedModeration({ name, bucket, moderator, log, clock });
    return { ...relay, bucket, data };
  }

  /** NATS stops, and starts again with nothing in its store. */
  async loseStore(...relays: ReturnType<Cluster['start']>[]): Promise<void> {
    for (const relay of relays) relay.bucket.cut();
    this.store.lose();
    for (const relay of relays) relay.bucket.connect();
    await this.quiet();
  }

  /** Until the bucket has all that these relays have decided. */
  async shared(...relays: ReturnType<Cluster['start']>[]): Promise<void> {
    do await this.quiet();
    while (relays.some(({ list }) => list.unshared.size > 0));
  }

  /** Until everything that was begun has ended. */
  async quiet(): Promise<void> {
    for (let round = 0; round < ROUNDS; round++) {
      for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve));
      // A save ends after those that were begun before.
      for (const list of this.#lists) await list.save();
    }
  }
}

const CAT = { file: PICTURE, title: 'My cat', author: 'Ann', licence: 'CC0-1.0' };

const listed = ({ gallery }: { gallery: GalleryList }) => gallery.copy.listed.map(({ title }) => title);
const networks = ({ list }: { list: ModerationList }) => list.bans.addresses.map(({ network }) => network);
const pictures = ({ list }: { list: ModerationList }) => list.bans.pictures.map(({ file }) => file);

describe('what an operator of a cluster decides', () => {
  it('holds at every relay, also at one that starts later, and so does its end', async (t) => {
    const cluster = new Cluster(t);
    const [r1, r2] = [cluster.start('r1'), cluster.start('r2')];
    await cluster.quiet();
    await r1.moderator.banAddress(NETWORK, undefined);
    await r1.moderator.banPicture(PICTURE, 600);
    await cluster.quiet();
    const r3 = cluster.start('r3');
    await cluster.quiet();
    for (const relay of [r1, r2, r3]) assert.deepEqual([networks(relay), pictures(relay)], [[NETWORK], [PICTURE]]);
    assert.equal(r2.list.bans.pictures[0].untilMs, r1.list.bans.pictures[0].untilMs);
    assert.throws(() => r2.moderator.admit('192.0.2.9'));
    await r3.moderator.unbanAddress(NETWORK);
    await cluster.quiet();
    for (const relay of [r1, r2, r3]) assert.deepEqual(networks(relay), []);
  });

  it('ends the desktops of a banned network at every relay', async (t) => {
    const cluster = new Cluster(t);
    const [r1, r2] = [cluster.start('r1'), cluster.start('r2')];
    await cluster.quiet();
    r2.master.seats.seat({ name: 'Bob', clientAddress: '192.0.2.9' });
    await r1.moderator.banAddress(NETWORK, undefined);
    await cluster.quiet();
    assert.equal(r2.master.relay.desktops.count, 0);
    assert.ok(r2.sent.some(({ type }) => type === 'ended'));
  });

  it('takes a removed picture off every desktop once, also when it was banned before', async (t) => {
    const cluster = new Cluster(t);
    const [r1, r2] = [cluster.start('r1'), cluster.start('r2')];
    await cluster.quiet();
    await r1.moderator.banPicture(PICTURE, undefined);
    await cluster.quiet();
    assert.deepEqual(r2.notices, []);
    await r1.moderator.removePicture(PICTURE);
    await cluster.quiet();
    r2.bucket.connect();
    await cluster.quiet();
    const removed = { type: 'removed', file: PICTURE };
    assert.deepEqual([r1.notices, r2.notices], [[removed], [removed]]);
    assert.deepEqual(
      r2.sent.filter(({ type }) => type === 'removed'),
      [removed],
    );
  });

  it('holds as far as a relay has room for it, which enforces that part at once', async (t) => {
    const cluster = new Cluster(t);
    const [r1, r2] = [cluster.start('r1'), cluster.start('r2')];
    await cluster.quiet();
    for (let n = 1; n < BANS_MAX; n++) r2.list.banAddress(`10.0.${n >> 8}.${n & 255}`, null);
    r2.master.seats.seat({ name: 'Bob', clientAddress: '192.0.2.9' });
    r2.bucket.cut();
    await r1.moderator.banAddress(NETWORK, undefined);
    await r1.moderator.banAddress(OTHER, undefined);
    await r1.moderator.removePicture(PICTURE);
    await cluster.quiet();
    r2.bucket.connect();
    await cluster.quiet();
    assert.ok(networks(r2).includes(NETWORK) && !networks(r2).includes(OTHER));
    assert.deepEqual(r2.notices, [{ type: 'removed', file: PICTURE }]);
    assert.equal(r2.master.relay.desktops.count, 0);
    assert.ok(cluster.logged.some((line) => line.includes('do not hold here')));
  });

  it('is announced once on the desktops of every relay that is there, and of none that starts later', async (t) => {
    const cluster = new Cluster(t);
    const [r1, r2] = [cluster.start('r1'), cluster.start('r2')];
    await cluster.quiet();
    r1.moderator.announce('Tea at five');
    await cluster.quiet();
    const r3 = cluster.start('r3');
    for (const relay of [r1, r2, r3]) relay.bucket.connect();
    await cluster.quiet();
    const notice = { type: 'announcement', text: 'Tea at five' };
    assert.deepEqual([r1.notices, r2.notices, r3.notices], [[notice], [notice], []]);
  });

  it('is not announced to a relay that was away for more than five minutes', async (t) => {
    const cluster = new Cluster(t);
    const [r1, r2] = [cluster.start('r1'), cluster.start('r2')];
    await cluster.quiet();
    for (const [awayMs, count] of [
      [300_000, 1],
      [300_001, 1],
    ]) {
      r2.bucket.cut();
      r1.moderator.announce(`After ${awayMs}`);
      await cluster.quiet();
      cluster.nowMs += awayMs;
      r2.bucket.connect();
      await cluster.quiet();
      assert.equal(r2.notices.length, count);
    }
  });

  it('holds at its own relay while NATS is away, and merges when it is back: the later write of a ban wins', async (t) => {
    const cluster = new Cluster(t);
    const [r1, r2] = [cluster.start('r1'), cluster.start('r2')];
    await r1.moderator.banAddress(NETWORK, undefined);
    await r1.moderator.banPicture(PICTURE, undefined);
    await cluster.quiet();
    r2.bucket.cut();
    await r2.moderator.unbanAddress(NETWORK);
    await r2.moderator.banAddress(OTHER, undefined);
    await r1.moderator.unbanPicture(PICTURE);
    await cluster.quiet();
    assert.deepEqual([networks(r1), networks(r2), pictures(r2)], [[NETWORK], [OTHER], [PICTURE]]);
    r2.bucket.connect();
    await cluster.quiet();
    for (const relay of [r1, r2]) assert.deepEqual([networks(relay), pictures(relay)], [[OTHER], []]);
  });

  it('reaches the others after a restart of its relay without NATS, too', async (t) => {
    const cluster = new Cluster(t);
    const [r1, r2] = [cluster.start('r1'), cluster.start('r2')];
    await r1.moderator.banAddress(NETWORK, undefined);
    await cluster.quiet();
    r2.bucket.cut();
    await r2.moderator.unbanAddress(NETWORK);
    await r2.moderator.banPicture(PICTURE, undefined);
    await cluster.quiet();
    await r2.list.close();
    const again = cluster.start('r2', r2.data, true);
    again.bucket.connect();
    await cluster.quiet();
    for (const relay of [r1, again]) assert.deepEqual([networks(relay), pictures(relay)], [[], [PICTURE]]);
    await again.list.close();
    assert.ok(!readFileSync(join(r2.data, 'moderation.json'), 'utf8').includes('unshared'));
  });

  it('includes the bans of a relay that was alone before', async (t) => {
    const cluster = new Cluster(t);
    const data = cluster.folder();
    const alone = new ModerationList(data, console as unknown as Logger, () => cluster.nowMs);
    alone.banAddress(OTHER, null);
    await alone.save();
    const r1 = cluster.start('r1');
    await r1.moderator.banAddress(NETWORK, undefined);
    await cluster.quiet();
    const r2 = cluster.start('r2', data);
    await cluster.quiet();
    for (const relay of [r1, r2]) assert.deepEqual(networks(relay).toSorted(), [NETWORK, OTHER]);
  });

  it('is shared again when NATS has lost everything, and so is what is decided after that', async (t) => {
    const cluster = new Cluster(t);
    const [r1, r2] = [cluster.start('r1'), cluster.start('r2')];
    await r1.moderator.banAddress(OTHER, undefined);
    await r1.moderator.unbanAddress(OTHER);
    await r1.moderator.banAddress(NETWORK, undefined);
    await cluster.quiet();
    await cluster.loseStore(r1, r2);
    const r3 = cluster.start('r3');
    await cluster.quiet();
    assert.deepEqual(networks(r3), [NETWORK]);
    await r3.moderator.unbanAddress(NETWORK);
    await cluster.quiet();
    for (const relay of [r1, r2, r3]) assert.deepEqual(networks(relay), []);
  });

  it('is forgotten thirty days after its end, when a relay starts', async (t) => {
    const cluster = new Cluster(t);
    const r1 = cluster.start('r1');
    await r1.moderator.banAddress(NETWORK, undefined);
    await r1.moderator.unbanAddress(NETWORK);
    await cluster.quiet();
    cluster.nowMs += 30 * DAY_MS - 1;
    cluster.start('r2');
    await cluster.quiet();
    assert.equal(cluster.store.entries.size, 1);
    cluster.nowMs += 1;
    cluster.start('r3');
    await cluster.quiet();
    assert.equal(cluster.store.entries.size, 0);
  });

  it('is refused when it is not understood, and no address is logged', async (t) => {
    const cluster = new Cluster(t);
    const r1 = cluster.start('r1');
    await cluster.quiet();
    for (const [key, value] of [
      ['address.00', { version: 1, network: '192.0.2.1', untilMs: null }],
      [`picture.${PICTURE}`, { version: 1, file: 'b'.repeat(64) }],
      [`picture.${PICTURE}`, { version: 2, file: PICTURE }],
      ['picture.cat', { version: 1, file: 'cat', isRemoved: true }],
      ['announcement', { version: 1, text: 'x'.repeat(401), by: 'r2', atMs: cluster.nowMs }],
      ['announcement', 'nonsense'],
      [`listing.${PICTURE}`, { version: 1, ...CAT, licence: 'mine', sinceMs: 1, acceptedMs: 2, relay: 'r2' }],
      [`listing.${PICTURE}`, { version: 1, ...CAT, sinceMs: 1, acceptedMs: null, relay: 'r2' }],
      [`listing.${PICTURE}`, { version: 1, ...CAT, sinceMs: 1, acceptedMs: 2, relay: 'R 2' }],
      [`listing.${'b'.repeat(64)}`, { version: 1, ...CAT, sinceMs: 1, acceptedMs: 2, relay: 'r2' }],
    ] as const) {
      cluster.store.write(key, Buffer.from(JSON.stringify(value)));
    }
    await cluster.quiet();
    assert.deepEqual([networks(r1), pictures(r1), listed(r1), r1.notices], [[], [], [], []]);
    assert.equal(cluster.logged.filter((line) => line.includes('not understood')).length, 10);
    assert.ok(!cluster.logged.some((line) => line.includes('192.0.2')));
  });
});

describe('the gallery of a cluster', () => {
  /** Two relays; the operator of the first one has accepted a picture. */
  async function accepted(t: TestContext) {
    const cluster = new Cluster(t);
    const [r1, r2] = [cluster.start('r1'), cluster.start('r2')];
    await cluster.quiet();
    r1.gallery.publish(CAT);
    await r1.moderator.acceptPicture(PICTURE);
    await cluster.quiet();
    return { cluster, r1, r2 };
  }

  it('lists at every relay what one operator has accepted, and tells which relay has the file', async (t) => {
    const { cluster, r1, r2 } = await accepted(t);
    const r3 = cluster.start('r3');
    await cluster.quiet();
    for (const relay of [r1, r2, r3]) assert.deepEqual(relay.gallery.copy.listed, [CAT]);
    assert.deepEqual(
      [r1, r2, r3].map(({ gallery }) => gallery.relayOf(PICTURE)),
      [undefined, 'r1', 'r1'],
    );
    assert.ok(r2.sent.some((message) => message.type === 'bans' && message.bans.gallery.listed.length === 1));
    await r2.gallery.close();
    const again = cluster.start('r2', r2.data, true);
    assert.deepEqual([listed(again), again.gallery.relayOf(PICTURE)], [['My cat'], 'r1'], 'after a restart too');
  });

  it('does not list a picture that the operator of any relay has removed or banned', async (t) => {
    for (const end of ['refusePicture', 'banPicture'] as const) {
      const { cluster, r1, r2 } = await accepted(t);
      await r2.moderator[end](PICTURE, undefined);
      await cluster.quiet();
      const r3 = cluster.start('r3');
      await cluster.quiet();
      for (const relay of [r1, r2, r3]) assert.deepEqual(listed(relay), [], end);
      if (end === 'banPicture') await r1.moderator.unbanPicture(PICTURE);
      await cluster.quiet();
      for (const relay of [r1, r2, r3]) assert.deepEqual(listed(relay), [], `${end}, and no ban`);
    }
  });

  it('does not list a picture that one operator accepts before the ban of another one has come', async (t) => {
    for (const end of ['banPicture', 'removePicture'] as const) {
      const cluster = new Cluster(t);
      const [r1, r2] = [cluster.start('r1'), cluster.start('r2')];
      await cluster.quiet();
      r2.gallery.publish(CAT);
      r1.bucket.cut();
      await r1.moderator[end](PICTURE, undefined);
      await r2.moderator.acceptPicture(PICTURE);
      await cluster.quiet();
      r1.bucket.connect();
      await cluster.shared(r1, r2);
      const r3 = cluster.start('r3');
      await cluster.quiet();
      for (const relay of [r1, r2, r3]) assert.deepEqual(listed(relay), [], end);
      const wasListed = r1.sent.some((message) => message.type === 'bans' && message.bans.gallery.listed.length > 0);
      assert.ok(!wasListed, 'not even for a moment at the relay that bans it');
      await r1.moderator.unbanPicture(PICTURE);
      await cluster.quiet();
      const r4 = cluster.start('r4');
      await cluster.quiet();
      for (const relay of [r1, r2, r3, r4]) assert.deepEqual(listed(relay), [], `${end}, and no ban`);
    }
  });

  it('keeps what waits for an operator at its own relay', async (t) => {
    const { cluster, r1, r2 } = await accepted(t);
    const other = { ...CAT, file: 'b'.repeat(64) };
    for (const relay of [r1, r2]) relay.gallery.publish(other);
    await r1.moderator.refusePicture(other.file);
    await cluster.quiet();
    assert.deepEqual([r1.gallery.copy.waiting, r2.gallery.copy.waiting], [[], [other.file]]);
    await r2.moderator.acceptPicture(other.file);
    await cluster.quiet();
    assert.equal(r1.gallery.copy.listed.length, 2);
  });

  it('loses a picture that was removed without NATS, also after a restart of that relay', async (t) => {
    const { cluster, r1, r2 } = await accepted(t);
    r2.bucket.cut();
    await r2.moderator.refusePicture(PICTURE);
    await cluster.quiet();
    await r2.list.close();
    const again = cluster.start('r2', r2.data, true);
    again.bucket.connect();
    await cluster.quiet();
    assert.deepEqual([listed(r1), listed(again)], [[], []]);
  });

  it('merges when NATS is back, and when NATS has lost everything', async (t) => {
    const { cluster, r1, r2 } = await accepted(t);
    const other = { ...CAT, file: 'b'.repeat(64), title: 'My dog' };
    r2.bucket.cut();
    r2.gallery.publish(other);
    await r2.moderator.acceptPicture(other.file);
    await r2.moderator.refusePicture(PICTURE);
    await cluster.quiet();
    assert.deepEqual([listed(r1), listed(r2)], [['My cat'], ['My dog']]);
    r2.bucket.connect();
    await cluster.quiet();
    assert.deepEqual([listed(r1), listed(r2)], [['My dog'], ['My dog']]);
    await cluster.loseStore(r1, r2);
    const r3 = cluster.start('r3');
    await cluster.quiet();
    assert.deepEqual([listed(r3), r3.gallery.relayOf(other.file)], [['My dog'], 'r2']);
  });

  it(`lists at most ${LISTED_MAX} pictures at a relay, and says when that is too few`, async (t) => {
    for (const room of [2, 1, 0]) {
      const cluster = new Cluster(t);
      const [r1, r2] = [cluster.start('r1'), cluster.start('r2', undefined, true)];
      for (let n = 0; n < LISTED_MAX - room; n++) {
        const file = n.toString(16).padStart(64, '0');
        r2.gallery.adopt({ ...CAT, file, sinceMs: 1, acceptedMs: 1 });
      }
      r1.gallery.publish(CAT);
      await r1.moderator.acceptPicture(PICTURE);
      await cluster.quiet();
      r2.bucket.connect();
      await cluster.quiet();
      assert.equal(r2.gallery.listing(PICTURE) !== undefined, room > 0);
      const isLogged = cluster.logged.some((line) => line.includes('do not hold here'));
      // The first relay has room for the second one's or not, as one picture more does not fit there either.
      assert.equal(isLogged, room === 0);
    }
  });
});
