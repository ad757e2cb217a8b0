import assert from 'node:assert/strict';
import { randomFillSync } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Relay } from '../domain/relay.ts';
import type { EndedRow, Facts } from '../domain/state/facts.ts';
import { DAY_STEP_MS } from '../domain/state/limits.ts';
import { addon, whyNoNativeFront } from '../front/native.ts';
import { setFormat } from '../test/other_format.ts';
import { checkedCrossing } from '../test/passages.ts';
import { PretendDisk } from '../test/pretend_disk.ts';
import { joined, makeRelay } from '../test/relay_harness.ts';
import type { Identity } from '../wire/identity.ts';
import type { Join } from '../wire/join.ts';
import { Standing } from '../wire/pictures.ts';
import { ProblemError } from '../wire/problem.ts';
import { type EdgeNumber, LEASE_MS, opposite } from '../wire/rules.ts';
import { type Disk, FolderDisk } from './disk.ts';
import { checkJournal, exportJournal } from './inspect.ts';
import { Journal, JournalDamaged, type JournalOptions, type Recovered, segmentsIn } from './journal.ts';
import { Locked, lockFile } from './lock.ts';
import { RecordWriter, readRecords } from './records.ts';
import { HEAD_BYTES, OtherFormat, readHead, segmentName, VERSION, VERSION_MIN } from './segments.ts';
import { readTail, TAIL, TAIL_HEAD_BYTES } from './tail.ts';

const FIRST = segmentName(1);
const KEY = Buffer.alloc(16, 7);

interface Life {
  readonly relay: Relay;
  readonly journal: Journal;
  readonly recovered: Recovered;
  /** Each answer to a poll: status and body. */
  readonly answers: { status: number; body: { cursor: string; events: { sprite?: string }[] } }[];
}

/** A relay with its journal. Every life finds what the one before has written. */
function live(disk: Disk, options: Partial<JournalOptions> = {}, slots = 64): Life {
  const journal = new Journal(disk, {
    ...{ durability: 'process', epoch: 0xabc, generationKey: KEY, reserveBytes: 1000 },
    fail: (error) => {
      throw error;
    },
    ...options,
  });
  const answers: Life['answers'] = [];
  const relay = makeRelay({
    ...{ slots, slabBytes: 32 << 20, epoch: journal.epoch, generationKey: journal.generationKey, nowMs: 1000 },
    answers: {
      room: (bytes) => Buffer.alloc(bytes),
      roomAt: () => 0,
      answer: (_, { status, body, start, end }) =>
        void answers.push({ status, body: JSON.parse((body as Buffer).toString('utf8', start, end)) }),
    },
    randomize: randomFillSync,
  });
  return { relay, journal, recovered: journal.recover(relay, 1000), answers };
}

function throwSprite(relay: Relay, from: Identity, crossing: number, sprite: string, edge: EdgeNumber = 1): string {
  return relay.accept(from, checkedCrossing(crossing, edge, `"edge":${opposite(edge)},"sprite":"${sprite}"}`)).verdict;
}

/** Polls and returns the names of the sprites in the answer, and its sequence. */
function poll({ relay, answers }: Life, desktop: Identity, seq: number): { sprites: string[]; seq: number } {
  answers.length = 0;
  relay.poll(desktop, 1, relay.epoch, seq);
  relay.endTurn();
  const [answer] = answers;
  assert.equal(answer?.status, 200);
  const sprites = answer.body.events.flatMap(({ sprite }) => sprite ?? []);
  return { sprites, seq: Number(answer.body.cursor.split('-')[1]) };
}

function pretend(): PretendDisk {
  return new PretendDisk(() => 0.5);
}

/** Two desktops, three sprites on the way to the second one, one of them received. */
function begin(disk: Disk): { life: Life; ann: Identity; bob: Identity } {
  const life = live(disk);
  const ann = joined(life.relay, { name: 'Ann' });
  const bob = joined(life.relay, { name: 'Bob' });
  throwSprite(life.relay, ann, 1, 'one');
  life.journal.commit();
  assert.deepEqual(poll(life, bob, 0), { sprites: ['one'], seq: 1 });
  throwSprite(life.relay, ann, 2, 'two');
  throwSprite(life.relay, ann, 3, 'three');
  life.journal.commit();
  return { life, ann, bob };
}

describe('a journal', () => {
  it('gives the next relay the epoch, tokens, names, places, sequences, crossings and counters of the one before', () => {
    const disk = pretend();
    const { life, ann, bob } = begin(disk);
    const next = live(disk, { epoch: 0xdef, generationKey: Buffer.alloc(16, 9) });
    assert.equal(next.relay.epoch, 0xabc);
    assert.deepEqual(next.recovered.desktops, 2);
    assert.deepEqual(next.recovered.sprites, 3, 'the first one is not acknowledged');
    for (const { slot } of [ann, bob])
      assert.deepEqual(next.relay.directory.describe(slot), life.relay.directory.describe(slot));
    assert.deepEqual(poll(next, bob, 1), { sprites: ['two', 'three'], seq: 3 });
    assert.equal(throwSprite(next.relay, ann, 3, 'three'), 'repeated');
    assert.equal(throwSprite(next.relay, ann, 4, 'four'), 'accepted');
    assert.equal(next.relay.counters.accepted, 4);
    assert.equal(next.relay.counters.acknowledged, 1);
    const other = joined(next.relay);
    assert.ok(![ann.slot, bob.slot].includes(other.slot), 'a slot has one owner');
  });

  it('remembers desktops that ended, mutes, invitations and private worlds', () => {
    const disk = pretend();
    const { relay, journal } = live(disk);
    const [ann, bob, cid] = [joined(relay), joined(relay), joined(relay, { world: 'hidden' })];
    throwSprite(relay, ann, 7, 'one');
    relay.mute(bob.slot, ann);
    const invitation = new Uint32Array(4);
    relay.renewInvitation(cid.slot, invitation);
    relay.leave(ann.slot);
    journal.commit();
    const next = live(disk);
    assert.equal(next.relay.desktops.authenticate(ann), 'ended');
    assert.equal(throwSprite(next.relay, ann, 7, 'one'), 'repeated');
    assert.equal(throwSprite(next.relay, ann, 8, 'two'), 'desktop-ended');
    assert.deepEqual([...next.relay.mutes.of(bob.slot)], [ann.slot, ann.generation]);
    assert.equal(next.relay.torus.worldOf(cid.slot).name, 'hidden');
    assert.ok(next.relay.desktops.isInvitation(cid.slot, invitation));
  });

  it('remembers what a desktop that ended had acknowledged; of those that an earlier version wrote down that is unknown', () => {
    const disk = pretend();
    const { life, ann, bob } = begin(disk);
    assert.deepEqual(poll(life, bob, 1), { sprites: ['two', 'three'], seq: 3 });
    // The lease ends although the last poll was answered.
    life.relay.leave(bob.slot);
    life.journal.commit();
    let next = live(disk);
    for (let lives = 0; lives < 2; lives++) {
      const refused = next.relay.down.refusal(bob, 'ended');
      assert.deepEqual(
        [refused.code, refused.cursor],
        ['desktop-ended', `${next.relay.epoch.toString(16).padStart(8, '0')}-1`],
      );
      // The next one gets a snapshot.
      next.journal.commit();
      next = live(disk);
    }
    const writer = new RecordWriter(0);
    const identity = { slot: ann.slot, generation: ann.generation, token: ann.token };
    const row = { row: 0, nextRow: 1, ...identity, newestCrossing: 2 ** 40 + 3, acceptedBits: 5, acknowledged: 7 };
    writer.ended(row);
    const told: EndedRow[] = [];
    const reader = new Proxy({} as Facts, {
      get: () => (one: EndedRow) => told.push({ ...one, token: one.token.slice() }),
    });
    readRecords(writer.bytes, 0, writer.end, reader);
    assert.deepEqual(told, [row]);
  });

  it('keeps the sprites of an empty world for the desktop that joins it', () => {
    const disk = pretend();
    const { relay, journal } = live(disk);
    const ann = joined(relay, { world: 'hidden' });
    throwSprite(relay, ann, 1, 'one');
    relay.leave(ann.slot);
    journal.commit();
    const next = live(disk);
    assert.equal(next.recovered.sprites, 1);
    const bob = joined(next.relay, { world: 'hidden' });
    assert.deepEqual(poll(next, bob, 0).sprites, ['one']);
  });

  it('keeps the policy of a world for pictures', () => {
    const disk = pretend();
    const { relay, journal } = live(disk);
    const strict = joined(relay, { world: 'strict', pictures: 'known' });
    const ann = joined(relay);
    journal.commit();
    const next = live(disk);
    const thrown = (from: Identity, standing: Standing) => {
      return next.relay.accept(from, checkedCrossing(standing, 1, '"edge":"left","sprite":"one"}'), standing).verdict;
    };
    assert.equal(thrown(strict, Standing.unknown), 'picture-refused');
    assert.equal(thrown(strict, Standing.known), 'accepted');
    assert.equal(thrown(ann, Standing.unknown), 'accepted');
  });

  it('keeps whether each desktop shows its stage, and the default of its world, but no peeks', () => {
    const disk = pretend();
    const { relay, journal } = live(disk);
    const [shy, bold, silent, asked] = [
      ...[joined(relay, { world: 'w' }), joined(relay, { world: 'w' }), joined(relay, { world: 'x', stage: false })],
      joined(relay, { stage: true }),
    ];
    relay.peek(shy.slot, 0);
    journal.commit();
    relay.setShows(shy.slot, false);
    journal.commit();
    const shown = ({ relay }: { relay: Relay }) =>
      [shy, bold, silent, asked].map(({ slot }) => relay.directory.describe(slot).stage);
    const next = live(disk);
    assert.deepEqual(shown(next), [false, true, false, true]);
    assert.deepEqual([next.relay.peeks.count, next.relay.peeks.stages.count], [0, 0]);
    // The journal has written its state again, so each choice is now in the record of its desktop.
    next.relay.setShows(bold.slot, false);
    next.relay.setShows(shy.slot, true);
    const joinedNow = (join: Partial<Join>) => next.relay.directory.describe(joined(next.relay, join).slot).stage;
    assert.deepEqual([joinedNow({ world: 'w' }), joinedNow({ world: 'x' }), joinedNow({})], [true, false, false]);
    next.journal.commit();
    assert.deepEqual(shown(live(disk)), [true, false, false, true]);
  });

  it('keeps whether public pages may show the name of each desktop, beside its stage', () => {
    const disk = pretend();
    const { relay, journal } = live(disk);
    const [ann, bob, cid] = [
      joined(relay, { named: true }),
      joined(relay),
      joined(relay, { named: true, stage: true }),
    ];
    relay.setNamed(bob.slot, true);
    relay.setShows(bob.slot, true);
    relay.setNamed(cid.slot, false);
    journal.commit();
    const chosen = ({ relay: { desktops } }: { relay: Relay }) =>
      [ann, bob, cid].map(({ slot }) => [desktops.isNamed(slot), desktops.shows(slot)]);
    const expected = [
      [true, false],
      [true, true],
      [false, true],
    ];
    const next = live(disk);
    assert.deepEqual(chosen(next), expected);
    next.relay.leave(ann.slot);
    const dan = joined(next.relay);
    assert.deepEqual([dan.slot, next.relay.desktops.isNamed(dan.slot)], [ann.slot, false], 'a slot forgets its owner');
  });

  it('keeps what was counted for the page about the world, once a second and at its end, also in a snapshot', async () => {
    const disk = pretend();
    const { life, ann } = begin(disk);
    const { relay, journal } = life;
    const hidden = joined(relay, { world: 'hidden' });
    throwSprite(relay, hidden, 1, 'secret');
    const days = (of: Disk) => {
      const lines: string[] = [];
      exportJournal(of, (line) => void lines.push(line));
      return lines.filter((line) => line.startsWith('{"fact":"day"')).length;
    };
    assert.equal(days(disk), 0);
    for (const nowMs of [1000, 1000 + DAY_STEP_MS - 1]) {
      relay.advance(nowMs);
      throwSprite(relay, ann, nowMs, 'four');
      journal.commit();
      assert.equal(days(disk), 1, `${nowMs} ms`);
    }
    assert.equal(live(disk.copy()).relay.day.thrown, 3, 'a relay that dies has lost what came since');
    relay.advance(1000 + DAY_STEP_MS);
    journal.commit();
    assert.equal(days(disk), 2);
    const farthest = { file: 'ab'.repeat(32), desktops: 4, slot: ann.slot, generation: ann.generation, name: 'Ann' };
    relay.day.setFarthest(farthest);
    journal.close();
    const next = live(disk);
    assert.equal(next.relay.day.thrown, 5, 'the private world is not counted');
    assert.deepEqual(next.relay.day.farthest, farthest);
    assert.ok(await next.journal.compact());
    next.relay.advance(9_000);
    next.journal.commit();
    const last = live(disk);
    assert.deepEqual([last.relay.day.thrown, last.relay.day.farthest], [5, farthest]);
  });

  it('gives every desktop a new lease, since the absence was the relay’s', () => {
    const disk = pretend();
    const { ann } = begin(disk);
    const next = live(disk);
    next.relay.advance(1000 + LEASE_MS - 200);
    assert.equal(next.relay.desktops.authenticate(ann), 'live');
    next.relay.advance(1000 + LEASE_MS + 200);
    assert.equal(next.relay.desktops.authenticate(ann), 'ended');
  });

  it('keeps the order of the sprites, also of those that enter by different edges', () => {
    const disk = pretend();
    const { relay, journal } = live(disk);
    const [ann, bob] = [joined(relay), joined(relay)];
    for (const [n, edge] of ([1, 3, 0, 1, 2, 3, 0] as const).entries()) throwSprite(relay, ann, n + 1, `s${n}`, edge);
    journal.commit();
    const next = live(disk);
    assert.deepEqual(poll(next, bob, 0).sprites, ['s0', 's1', 's2', 's3', 's4', 's5', 's6']);
  });

  it('lacks what was not committed', () => {
    const disk = pretend();
    const { life, ann } = begin(disk);
    throwSprite(life.relay, ann, 4, 'four');
    assert.equal(throwSprite(live(disk).relay, ann, 4, 'four'), 'accepted');
  });

  it('cuts off a turn that was not written whole, at every byte', () => {
    const disk = pretend();
    const { life, ann } = begin(disk);
    const whole = disk.read(FIRST).length;
    throwSprite(life.relay, ann, 4, 'four');
    life.journal.commit();
    const bytes = disk.read(FIRST);
    for (let length = whole; length < bytes.length; length++) {
      const torn = pretend();
      torn.write(torn.create(FIRST), bytes, length, 0);
      const next = live(torn);
      assert.equal(next.recovered.tornBytes, length - whole);
      assert.equal(throwSprite(next.relay, ann, 4, 'four'), 'accepted');
      next.journal.commit();
      assert.equal(throwSprite(live(torn).relay, ann, 4, 'four'), 'repeated', 'it goes on behind the cut');
    }
  });

  it('starts anew when its very first file was not written whole', () => {
    for (const length of [0, 1, HEAD_BYTES - 1]) {
      const disk = pretend();
      live(disk);
      disk.resize(FIRST, length);
      assert.equal(live(disk).recovered.desktops, 0);
    }
  });

  it('refuses damage in the middle, and says where it is and what to do', () => {
    const disk = pretend();
    begin(disk);
    for (const at of [HEAD_BYTES, HEAD_BYTES + 4, HEAD_BYTES + 9, HEAD_BYTES + 40]) {
      disk.flip(FIRST, at);
      assert.throws(
        () => live(disk),
        (error: Error) => {
          assert.ok(error instanceof JournalDamaged);
          assert.match(error.message, /frame 1 in 0000000001\.segment at byte 64 .*journal check.*journal export/);
          return true;
        },
      );
      disk.flip(FIRST, at);
    }
    disk.flip(FIRST, 20);
    assert.throws(() => live(disk), /the head of 0000000001\.segment is wrong/);
  });

  it('refuses an older and a newer format, and changes nothing', () => {
    for (const version of [VERSION_MIN - 1, VERSION + 1]) {
      const disk = pretend();
      begin(disk);
      setFormat(disk, FIRST, version);
      const before = disk.read(FIRST);
      assert.throws(() => live(disk), OtherFormat);
      assert.deepEqual(disk.read(FIRST), before);
    }
  });

  it('reads the oldest format that it knows, and goes on in a file of its own format', () => {
    const disk = pretend();
    begin(disk);
    setFormat(disk, FIRST, VERSION_MIN);
    for (let start = 0; start < 2; start++) {
      const { relay, journal } = live(disk);
      assert.equal(relay.desktops.count, 2 + start);
      joined(relay);
      journal.close();
      const versions = [1, 2].map((number) => readHead(disk.read(segmentName(number), HEAD_BYTES))?.version);
      assert.deepEqual(versions, [VERSION_MIN, VERSION]);
    }
    assert.ok(!disk.names().includes(segmentName(3)));
  });

  it('refuses a file that is missing', () => {
    const disk = pretend();
    const { journal, relay } = live(disk, { segmentBytes: 100 });
    for (let n = 0; n < 4; n++) {
      joined(relay);
      journal.commit();
    }
    assert.ok(disk.names().includes(segmentName(3)));
    disk.remove(segmentName(2));
    assert.throws(() => live(disk), /0000000002\.segment is missing/);
    disk.remove(FIRST);
    assert.throws(() => live(disk), /the files before 0000000003\.segment are missing/);
  });

  it('says which option makes room when the relay has fewer slots than before', () => {
    const disk = pretend();
    const { relay, journal } = live(disk);
    for (let n = 0; n < 3; n++) joined(relay);
    journal.commit();
    assert.throws(() => live(disk, {}, 2), /more desktops than 2; start with --max-desktops 3/);
  });

  it('stays below its bound while desktops come, throw and go, and can be recovered at any moment', () => {
    const disk = pretend();
    const sizeBytesMin = 40_000;
    const { relay, journal } = live(disk, { sizeBytesMin, segmentBytes: 10_000 });
    const desktops = Array.from({ length: 20 }, () => joined(relay));
    for (let turn = 0; turn < 1500; turn++) {
      const from = desktops[turn % 20];
      if (turn % 37 === 0) {
        relay.leave(from.slot);
        desktops[turn % 20] = joined(relay);
      } else throwSprite(relay, from, turn + 1, `s${turn}`);
      const reader = desktops[(turn + 7) % 20];
      relay.poll(reader, turn, relay.epoch, relay.mailboxes.newest(reader.slot));
      relay.advance(1000 + turn * 100);
      journal.commit();
      assert.ok(journal.sizeBytes < sizeBytesMin, `${journal.sizeBytes} bytes`);
      if (turn % 50 > 0) continue;
      const next = disk.copy();
      const { recovered, relay: other } = live(next);
      assert.equal(recovered.sprites, relay.waiting);
      assert.deepEqual(other.counters.accepted, relay.counters.accepted);
      for (const { slot } of desktops) assert.deepEqual(other.directory.describe(slot), relay.directory.describe(slot));
    }
    assert.ok(journal.compactions > 2, `${journal.compactions} compactions`);
  });

  it('has nothing of a desktop that has left when it was compacted, while others throw and one compaction has begun', async () => {
    const disk = pretend();
    disk.canMap = true;
    const life = live(disk, { sizeBytesMin: 40_000 });
    const { relay, journal } = life;
    const cid = joined(relay, { name: 'Cid the secret', world: 'a hidden world' });
    const desktops = Array.from({ length: 60 }, (_, n) => joined(relay, { name: `somebody ${n}` }));
    let crossing = 0;
    const turn = () => {
      const from = desktops[crossing++ % 8];
      throwSprite(relay, from, crossing, `s${crossing}`);
      const reader = desktops[(crossing + 2) % 8];
      relay.poll(reader, crossing, relay.epoch, relay.mailboxes.newest(reader.slot));
      journal.commit();
    };
    while (!journal.isCompacting) turn();
    const newest = () => disk.read(segmentName(Math.max(...segmentsIn(disk))));
    while (!newest().includes('Cid the secret')) {
      turn();
      journal.tick(0); // which empties the tail
    }
    relay.leave(cid.slot);
    journal.commit();
    assert.ok(journal.isCompacting);
    const has = (text: string) => disk.names().some((name) => disk.read(name).includes(text));
    assert.ok(has('Cid the secret') && has('a hidden world'));
    let isCompacted: boolean | undefined;
    void journal.compact().then((done) => {
      isCompacted = done;
    });
    while (isCompacted === undefined) {
      turn();
      await nextTurn();
    }
    assert.equal(isCompacted, true);
    assert.ok(!has('Cid the secret') && !has('a hidden world'));
    for (let n = 0; n < 20; n++) turn();
    const { relay: next } = live(disk.copy());
    assert.equal(next.desktops.count, 60);
    assert.deepEqual(next.counters.accepted, relay.counters.accepted);
  });

  it('is not compacted on a full disk', async () => {
    const disk = pretend();
    const { relay, journal } = live(disk);
    joined(relay, { name: 'Ann' });
    journal.commit();
    disk.roomBytes = disk.usedBytes;
    while (journal.hasRoom) {
      relay.renewInvitation(0, new Uint32Array(4));
      journal.commit();
    }
    assert.equal(await journal.compact(), false);
  });

  it('ends few desktops with full mailboxes in one turn, so that no turn is long', () => {
    const disk = pretend();
    const { relay, journal } = live(disk, { sizeBytesMin: 1000 }, 4000);
    const desktops = Array.from({ length: 40 }, () => joined(relay));
    const passage = (n: number) => `${n}`.padStart(400, 'x');
    for (let n = 0; n < 40 * 180; n++) throwSprite(relay, desktops[n % 40], n + 1, passage(n));
    for (let n = 0; n < 150_000; n++) relay.renewInvitation(desktops[0].slot, new Uint32Array(4));
    journal.commit();
    assert.equal(journal.isCompacting, true);
    const ended: number[] = [];
    for (let step = 0, isMoreDue = true; isMoreDue; step++) {
      isMoreDue = relay.advance(1000 + LEASE_MS + step);
      ended.push(relay.counters.left - ended.reduce((sum, count) => sum + count, 0));
      journal.commit();
    }
    assert.equal(relay.counters.left, 40);
    assert.ok(Math.max(...ended) < 20, `${ended} ended in each step`);
    assert.equal(live(disk.copy(), {}, 4000).recovered.sprites, relay.waiting);
  });

  it('stays below three times what is alive when that is much', () => {
    const disk = pretend();
    const { relay, journal } = live(disk, { sizeBytesMin: 1000 }, 4000);
    const desktops = Array.from({ length: 2000 }, (_, n) => joined(relay, { name: `desktop ${n}` }));
    journal.commit();
    for (let n = 0; n < 20_000; n++) {
      const [from, to] = [desktops[n % 2000], desktops[(n + 1) % 2000]];
      throwSprite(relay, from, n + 1, `sprite ${n}`);
      relay.poll(to, n, relay.epoch, relay.mailboxes.newest(to.slot));
      if (n % 10 > 0) continue;
      relay.endTurn();
      journal.commit();
      assert.ok(journal.sizeBytes < 3 * journal.liveBytes, `${journal.sizeBytes}, ${journal.liveBytes}`);
    }
    assert.ok(journal.compactions > 2, `${journal.compactions} compactions`);
  });

  it('estimates what is alive well enough for its bound', () => {
    const disk = pretend();
    const { relay, journal } = live(disk, {}, 4000);
    for (let n = 0; n < 3000; n++) throwSprite(relay, joined(relay, { name: `desktop ${n}` }), 1, `sprite ${n}`);
    journal.commit();
    const told = disk.read(FIRST).length;
    assert.ok(journal.liveBytes > 0.7 * told && journal.liveBytes < 1.3 * told, `${journal.liveBytes} for ${told}`);
  });

  it('writes the turn that fills the disk, refuses what is new, and accepts again when there is room', () => {
    const disk = pretend();
    const changes: boolean[] = [];
    const options = { changed: (hasRoom: boolean) => void changes.push(hasRoom) };
    const { relay, journal } = live(disk, options);
    const ann = joined(relay);
    journal.commit();
    disk.roomBytes = disk.usedBytes;
    assert.equal(throwSprite(relay, ann, 1, 'one'), 'accepted');
    journal.commit();
    assert.deepEqual(changes, [false]);
    assert.equal(throwSprite(relay, ann, 2, 'two'), 'journal-full');
    assert.equal(throwSprite(relay, ann, 1, 'one'), 'repeated');
    assert.throws(
      () => joined(relay),
      (error) => error instanceof ProblemError && error.document.code === 'journal-full',
    );
    assert.equal(throwSprite(live(disk.copy()).relay, ann, 1, 'one'), 'repeated', 'it is on the disk');
    journal.tick(2000);
    assert.deepEqual(changes, [false], 'told once');
    disk.roomBytes = Number.POSITIVE_INFINITY;
    journal.tick(2500);
    assert.equal(throwSprite(relay, ann, 2, 'two'), 'journal-full', 'the disk is tried once a second');
    journal.tick(3000);
    assert.deepEqual(changes, [false, true]);
    assert.equal(throwSprite(relay, ann, 2, 'two'), 'accepted');
  });

  it('serves polls while nothing at all can be written, and then writes the whole state', () => {
    const disk = pretend();
    const { life, ann, bob } = begin(disk);
    disk.roomBytes = 0;
    assert.deepEqual(poll(life, bob, 1).sprites, ['two', 'three']);
    life.journal.commit();
    assert.equal(life.journal.isBehind, true);
    life.relay.poll(bob, 2, life.relay.epoch, 3);
    life.journal.commit();
    life.journal.tick(5000);
    assert.equal(life.journal.hasRoom, false);
    disk.roomBytes = Number.POSITIVE_INFINITY;
    for (let nowMs = 6000; !life.journal.hasRoom && nowMs < 20_000; nowMs += 100) life.journal.tick(nowMs);
    assert.equal(life.journal.isBehind, false);
    const next = live(disk);
    assert.equal(next.recovered.sprites, 0);
    assert.equal(throwSprite(next.relay, ann, 3, 'three'), 'repeated');
  });

  it('fails when a turn that has promised something cannot be written, or synced', () => {
    const disk = pretend();
    const { relay, journal } = live(disk, { durability: 'machine' });
    const ann = joined(relay);
    journal.commit();
    disk.syncsLeft = 1;
    throwSprite(relay, ann, 1, 'one');
    assert.throws(() => journal.commit(), /EIO/);
  });

  it('is on a real disk what it is on a pretended one', async (t) => {
    const folder = temporary(t);
    const disk = new FolderDisk(folder);
    const { life, ann } = begin(disk);
    life.journal.close();
    await disk.settled;
    const next = live(new FolderDisk(folder), { durability: 'machine' });
    assert.equal(throwSprite(next.relay, ann, 3, 'three'), 'repeated');
    next.journal.close();
  });

  it('names a segment that can’t be read', (t) => {
    const folder = temporary(t);
    const path = join(folder, FIRST);
    mkdirSync(path);
    assert.throws(() => live(new FolderDisk(folder)), { code: 'EISDIR', path });
  });

  it('writes what the faster way to write has not written, and throws what the system says', (t) => {
    const folder = temporary(t);
    const bytes = Buffer.from('0123456789');
    for (const taken of [0, 4, 10]) {
      const disk = new FolderDisk(folder, {
        writeAt: (file, from, length, at) => writeSync(file, from, 0, Math.min(taken, length), at),
      });
      const file = disk.create(`taken-${taken}`);
      disk.write(file, bytes, 8, 0);
      disk.write(file, bytes, 10, 8);
      assert.equal(disk.read(`taken-${taken}`).toString(), '012345670123456789');
      closeSync(file);
      assert.throws(() => new FolderDisk(folder, { writeAt: () => 0 }).write(file, bytes, 10, 0), { code: 'EBADF' });
    }
  });
});

describe('the tail of a journal', () => {
  const mapping = () => Object.assign(pretend(), { canMap: true });

  it('has the turns since the last write, and the next relay finds them, whether or not it has a tail itself', () => {
    for (const canMap of [true, false]) {
      const disk = mapping();
      const { ann } = begin(disk);
      assert.equal(disk.read(FIRST).length, HEAD_BYTES, 'the segment has nothing yet');
      disk.canMap = canMap;
      const next = live(disk);
      assert.equal(next.recovered.sprites, 3);
      assert.ok(next.recovered.tailBytes > 0);
      assert.equal(throwSprite(next.relay, ann, 3, 'three'), 'repeated');
      assert.equal(disk.names().includes(TAIL), canMap, 'it has its own, or none');
      const third = live(disk);
      assert.deepEqual([third.recovered.sprites, third.recovered.tailBytes], [3, 0], 'they are in the segment');
    }
  });

  it('is written to its segment with each tick, and gone when the journal is closed', () => {
    const disk = mapping();
    const { life } = begin(disk);
    const { frames } = readTail(disk) as { frames: Buffer };
    life.journal.tick(2000);
    assert.equal(readTail(disk), undefined);
    assert.deepEqual(disk.read(FIRST).subarray(HEAD_BYTES), frames);
    joined(life.relay);
    life.journal.close();
    assert.deepEqual(disk.names().sort(), [FIRST, 'reserve']);
    const { recovered } = live(disk);
    assert.deepEqual([recovered.desktops, recovered.tailBytes], [3, 0]);
  });

  it('is written when a turn does not fit, and a turn that never fits goes to the segment', () => {
    const disk = mapping();
    const life = live(disk);
    const ann = joined(life.relay, { name: 'Ann' });
    life.journal.commit();
    const { length } = (readTail(disk) as { frames: Buffer }).frames;
    for (const [tailBytes, isInTail] of [
      [length - 1, false],
      [length, true],
      [length + 1, true],
    ] as const) {
      const other = mapping();
      const { relay, journal } = live(other, { tailBytes: TAIL_HEAD_BYTES + tailBytes });
      joined(relay, { name: 'Ann' });
      journal.commit();
      assert.equal(readTail(other)?.frames.length, isInTail ? length : undefined);
      joined(relay, { name: 'Bob' });
      journal.commit();
      assert.equal(
        other.read(FIRST).length,
        HEAD_BYTES + (isInTail ? 1 : 2) * length,
        'the first one is in the segment',
      );
      assert.equal(live(other).recovered.desktops, 2);
    }
    assert.equal(throwSprite(life.relay, ann, 1, 'one'), 'accepted');
  });

  it('is written before the next segment begins', () => {
    const disk = mapping();
    const { journal, relay } = live(disk, { segmentBytes: 300 });
    for (let n = 0; n < 9; n++) {
      joined(relay);
      journal.commit();
      assert.equal(live(disk.copy()).recovered.desktops, n + 1);
    }
    assert.ok(disk.names().includes(segmentName(2)));
  });

  it('never has the end of a compaction, after which the older segments go', () => {
    const disk = mapping();
    const { relay, journal } = live(disk, { sizeBytesMin: 20_000 });
    const ann = joined(relay);
    for (let n = 1; journal.compactions === 0; n++) {
      assert.ok(n < 1000);
      relay.renewInvitation(ann.slot, new Uint32Array(4));
      journal.commit();
    }
    assert.equal(readTail(disk), undefined);
    disk.remove(TAIL);
    assert.equal(live(disk).recovered.desktops, 1);
  });

  it('takes nothing more when the journal is closed', () => {
    const { relay, journal } = live(mapping());
    journal.close();
    joined(relay);
    assert.throws(() => journal.commit());
  });

  it('is not made with --durability machine, nor where files cannot be mapped', () => {
    const durable = mapping();
    live(durable, { durability: 'machine' });
    const plain = pretend();
    live(plain);
    for (const disk of [durable, plain]) assert.deepEqual(disk.names().sort(), [FIRST, 'reserve']);
  });

  it('is done without, and said so once, when it cannot be made', () => {
    const errors: string[] = [];
    const tailless = ({ message }: Error) => void errors.push(message);
    const full = mapping();
    full.roomBytes = HEAD_BYTES + 1000 + 100;
    const unmapped = mapping();
    unmapped.map = () => {
      throw new Error('ENODEV: pretended');
    };
    for (const disk of [full, unmapped]) {
      const { relay, journal } = live(disk, { tailless });
      assert.equal(journal.hasRoom, true);
      assert.ok(!disk.names().includes(TAIL));
      disk.roomBytes = Number.POSITIVE_INFINITY;
      joined(relay);
      journal.commit();
      assert.equal(live(disk.copy()).recovered.desktops, 1);
    }
    assert.deepEqual(errors, ['ENOSPC: pretended', 'ENODEV: pretended']);
  });

  it('keeps what cannot be written, fails a turn that has promised something, and loses nothing', () => {
    const disk = mapping();
    const { relay, journal } = live(disk, { tailBytes: 400 });
    const ann = joined(relay);
    journal.commit();
    disk.writesLeft = 1;
    throwSprite(relay, ann, 1, 'one'.repeat(100));
    assert.throws(() => journal.commit(), /EIO/);
    disk.restart(false);
    const next = live(disk);
    assert.equal(next.recovered.desktops, 1);
    assert.equal(throwSprite(next.relay, ann, 1, 'one'), 'accepted', 'that turn was not answered');
  });

  it('fills the disk, and what is in it comes to its segment when there is room', () => {
    const disk = mapping();
    const { relay, journal } = live(disk, { reserveBytes: 0 });
    const ann = joined(relay);
    disk.roomBytes = disk.usedBytes;
    journal.commit();
    assert.equal(throwSprite(relay, ann, 1, 'one'), 'accepted');
    journal.commit();
    journal.tick(2000);
    assert.equal(journal.hasRoom, false);
    assert.equal(throwSprite(relay, ann, 2, 'two'), 'journal-full');
    assert.equal(throwSprite(live(disk.copy()).relay, ann, 1, 'one'), 'repeated');
    disk.roomBytes = Number.POSITIVE_INFINITY;
    journal.tick(4000);
    assert.equal(journal.hasRoom, true);
    assert.equal(readTail(disk), undefined);
    assert.equal(throwSprite(live(disk.copy()).relay, ann, 1, 'one'), 'repeated');
  });

  it('lets a relay start on a full disk: it serves polls, and writes the whole state when there is room', () => {
    const disk = mapping();
    const { ann, bob } = begin(disk);
    disk.remove('reserve');
    disk.roomBytes = disk.usedBytes;
    for (let life = 0; life < 2; life++) {
      const { relay, journal, recovered } = live(disk);
      assert.equal(recovered.sprites, 3);
      assert.deepEqual([journal.hasRoom, journal.isBehind], [false, true]);
      assert.equal(throwSprite(relay, ann, 4, 'four'), 'journal-full');
    }
    const life = live(disk);
    assert.deepEqual(poll(life, bob, 1).sprites, ['two', 'three']);
    disk.roomBytes = Number.POSITIVE_INFINITY;
    for (let nowMs = 2000; !life.journal.hasRoom && nowMs < 20_000; nowMs += 100) life.journal.tick(nowMs);
    assert.equal(life.journal.isBehind, false);
    assert.equal(throwSprite(life.relay, bob, 1, 'five'), 'accepted');
    life.journal.commit();
    assert.ok((readTail(disk)?.segment ?? 0) > 1, 'it has a tail of its own');
    const next = live(disk);
    assert.equal(next.recovered.sprites, 3);
    assert.equal(throwSprite(next.relay, ann, 3, 'three'), 'repeated');
  });

  it('still counts when a relay that started on a full disk died while it began a segment', () => {
    const disk = mapping();
    begin(disk);
    disk.remove('reserve');
    disk.roomBytes = disk.usedBytes;
    const { journal } = live(disk);
    assert.equal(journal.isBehind, true);
    disk.roomBytes = disk.usedBytes + HEAD_BYTES;
    // The next segment is created, and the process dies while it writes the head.
    disk.callsLeft = 2;
    journal.tick(4000);
    assert.equal(disk.isDead, true);
    assert.ok(disk.read(segmentName(2)).length < HEAD_BYTES);
    disk.restart(false);
    disk.roomBytes = Number.POSITIVE_INFINITY;
    assert.equal(live(disk).recovered.sprites, 3);
  });

  it('uses the room of the reserve when a relay starts on a full disk', () => {
    const disk = mapping();
    begin(disk);
    disk.roomBytes = disk.usedBytes;
    const { journal, recovered } = live(disk);
    assert.equal(recovered.sprites, 3);
    assert.deepEqual([journal.hasRoom, journal.isBehind], [false, false]);
    assert.equal(live(disk.copy()).recovered.sprites, 3);
  });

  it('is in what check and export read, which change nothing', () => {
    const disk = mapping();
    begin(disk);
    const before = disk.names().map((name) => disk.read(name));
    const { desktops, sprites, refusal, segments } = checkJournal(disk);
    assert.deepEqual({ desktops, sprites, refusal }, { desktops: 2, sprites: 3, refusal: undefined });
    assert.deepEqual(
      segments.map(({ problems }) => problems),
      [[]],
    );
    const lines: string[] = [];
    exportJournal(disk, (line) => void lines.push(line));
    assert.equal(lines.filter((line) => line.startsWith('{"fact":"accepted"')).length, 3);
    assert.deepEqual(
      disk.names().map((name) => disk.read(name)),
      before,
    );
  });

  it('is on a real disk what it is on a pretended one', { skip: whyNoNativeFront() ?? false }, async (t) => {
    const folder = temporary(t);
    const disk = new FolderDisk(folder, addon());
    const tailless = (error: Error) => assert.fail(error);
    const life = live(disk, { tailless });
    const ann = joined(life.relay);
    throwSprite(life.relay, ann, 1, 'one');
    life.journal.commit();
    assert.equal(disk.read(FIRST).length, HEAD_BYTES);
    const killed = temporary(t);
    cpSync(folder, killed, { recursive: true });
    assert.equal(throwSprite(live(new FolderDisk(killed)).relay, ann, 1, 'one'), 'repeated');
    life.journal.close();
    await disk.settled;
    assert.equal(throwSprite(live(new FolderDisk(folder, addon()), { tailless }).relay, ann, 1, 'one'), 'repeated');
  });

  it('is forgotten with the segment of a compaction that did not end, and used again', () => {
    const disk = mapping();
    const { relay, journal } = live(disk, { tailBytes: TAIL_HEAD_BYTES + 200 });
    const ann = joined(relay);
    journal.commit();
    disk.roomBytes = disk.usedBytes;
    for (let n = 0; !journal.isBehind; n++) {
      assert.ok(n < 1000);
      relay.renewInvitation(ann.slot, new Uint32Array(4));
      journal.commit();
    }
    // There is room for what the tail has, for the head of a segment, and for no more.
    disk.roomBytes = disk.usedBytes + 200 + HEAD_BYTES;
    journal.tick(4000);
    assert.equal(journal.isCompacting, true);
    disk.roomBytes = disk.usedBytes;
    journal.tick(4050);
    assert.equal(readTail(disk)?.segment, 2);
    for (let nowMs = 4100; journal.isCompacting; nowMs += 50) journal.tick(nowMs);
    assert.equal(journal.isBehind, true);
    assert.ok(!disk.names().includes(segmentName(2)));
    disk.roomBytes = Number.POSITIVE_INFINITY;
    for (let nowMs = 8000; !journal.hasRoom && nowMs < 20_000; nowMs += 50) journal.tick(nowMs);
    assert.deepEqual([journal.hasRoom, journal.isBehind], [true, false]);
    assert.equal(throwSprite(relay, ann, 1, 'one'), 'accepted');
    journal.commit();
    assert.equal(throwSprite(live(disk).relay, ann, 1, 'one'), 'repeated');
  });

  it('that is full and damaged is refused or cut off, and the next relay says so, whatever byte it is', () => {
    const disk = mapping();
    const tailBytes = TAIL_HEAD_BYTES + 500;
    const { relay, journal } = live(disk, { tailBytes });
    let frames = 0;
    for (; disk.read(FIRST).length === HEAD_BYTES; frames++) {
      joined(relay, { name: 'Ann' });
      journal.commit();
    }
    // The last one began the tail anew, so this fills it again.
    for (let added = 1; added < frames - 1; added++) {
      joined(relay, { name: 'Ann' });
      journal.commit();
    }
    const { frames: bytes } = readTail(disk) as { frames: Buffer };
    assert.ok(bytes.length > 500 - bytes.length / (frames - 1), 'no further frame fits');
    const desktops = live(disk.copy()).recovered.desktops;
    for (let at = 0; at < TAIL_HEAD_BYTES + bytes.length; at++) {
      // The length is no part of what is checked, and zeros follow the head.
      if (at >= 28 && at < TAIL_HEAD_BYTES) continue;
      const damaged = disk.copy();
      damaged.flip(TAIL, at);
      try {
        const { recovered } = live(damaged);
        assert.ok(recovered.tornBytes > 0 && recovered.desktops === desktops - 1, `byte ${at}`);
      } catch (error) {
        if (!(error instanceof JournalDamaged)) throw error;
      }
    }
  });

  it('says how much its segment lacks when that was cut', () => {
    const disk = mapping();
    const { relay, journal } = live(disk);
    joined(relay);
    journal.commit();
    journal.tick(2000);
    joined(relay);
    journal.commit();
    const { length } = disk.read(FIRST);
    for (const lacking of [0, 1, 40]) {
      const cut = disk.copy();
      cut.resize(FIRST, length - lacking);
      assert.equal(live(cut).recovered.missingBytes, lacking);
    }
  });

  it('that was left behind changes nothing', () => {
    const disk = mapping();
    const { life, ann } = begin(disk);
    const old = disk.read(TAIL);
    life.journal.tick(2000);
    throwSprite(life.relay, ann, 4, 'four');
    life.journal.close();
    disk.write(disk.create(TAIL), old, old.length, 0);
    const { relay, recovered } = live(disk);
    assert.equal(recovered.tailBytes, 0);
    assert.equal(throwSprite(relay, ann, 4, 'four'), 'repeated');
  });
});

describe('the lock of a journal', () => {
  it('is held by one at a time, and free again when it is given back', (t) => {
    const path = join(temporary(t), 'lock');
    const { wasUsed, unlock } = lockFile(path);
    assert.equal(wasUsed, false);
    assert.throws(() => lockFile(path), Locked);
    unlock();
    const again = lockFile(path);
    assert.equal(again.wasUsed, true);
    again.unlock();
  });

  it('is a file for its owner only, also when it was for others', { skip: process.platform === 'win32' }, (t) => {
    const path = join(temporary(t), 'lock');
    for (const mode of [undefined, 0o644, 0o666]) {
      if (mode !== undefined) chmodSync(path, mode);
      lockFile(path).unlock();
      assert.equal(statSync(path).mode & 0o777, 0o600);
    }
  });

  it('that has content, or is a folder, is named, and left as it is', (t) => {
    const folder = temporary(t);
    const path = join(folder, 'lock');
    writeFileSync(path, 'not a database at all');
    assert.throws(() => lockFile(path), { message: /lock must be an empty file; .*remove it/ });
    assert.equal(readFileSync(path, 'utf8'), 'not a database at all');
    assert.throws(() => lockFile(folder), /must be an empty file/);
  });
});

function temporary(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'sprites-journal-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
