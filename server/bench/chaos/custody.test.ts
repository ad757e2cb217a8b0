import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { CUSTODY_MS } from '../../domain/peers/peers.ts';
import { FolderDisk } from '../../journal/disk.ts';
import { Journal } from '../../journal/journal.ts';
import { JOURNAL_FOLDER } from '../../roles/journaling.ts';
import { acquaint, ClusterRelay, deliver } from '../../test/cluster_relays.ts';
import { checkedCrossing } from '../../test/passages.ts';
import { FILE } from '../../test/relay_harness.ts';
import { checkCrossing } from '../../wire/crossing.ts';
import { GENERATION_KEY_BYTES } from '../../wire/generations.ts';
import type { Identity } from '../../wire/identity.ts';
import { keyOf, type Throw } from './account.ts';
import { custodyOf, readCustody } from './custody.ts';

/** A relay with a journal in a folder that the test removes. */
function begin(t: TestContext): { relay: ClusterRelay; journal: Journal; data: string } {
  const data = mkdtempSync(join(tmpdir(), 'sprites-custody-'));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  const journal = new Journal(new FolderDisk(join(data, JOURNAL_FOLDER)), {
    durability: 'process',
    epoch: 1,
    generationKey: Buffer.alloc(GENERATION_KEY_BYTES, 1),
    fail: (error) => {
      throw error;
    },
  });
  const relay = new ClusterRelay('a', 1, (empty) => void journal.recover(empty, 1_000));
  return { relay, journal, data };
}

/** Throws a sprite to the right. */
function throwSprite({ relay }: ClusterRelay, from: Identity, crossing: number, sprite: number): void {
  const thrown = { file: FILE, name: `sprite-${sprite}` };
  const checked = checkCrossing({ crossing, edge: 'right', at: 0.5, vx: 900, vy: 0, sprite: thrown });
  relay.accept(from, checkedCrossing(crossing, checked.edge, checked.passage), 0, crossing);
}

/** A throw of a desktop of this relay. */
function throwOf(identity: Identity, crossing: number): Throw {
  return { sprite: crossing, relay: 'a', identity, crossing };
}

const entries = (map: ReadonlyMap<number, unknown>) => Object.fromEntries(map);

it('custody has the sprites in mailboxes, and which of them were sent', async (t) => {
  const { relay, journal, data } = begin(t);
  const [ann, amy] = [relay.join('Ann'), relay.join('Amy')];
  for (const sprite of [10, 11]) throwSprite(relay, ann, sprite, sprite);
  relay.poll(amy);
  relay.poll(amy, 1);
  throwSprite(relay, amy, 1, 12);
  relay.turn();
  journal.commit();
  const custody = custodyOf({ data, throws: [] });
  assert.deepEqual(entries(custody.held), { 11: ['a mailbox in commons'], 12: ['a mailbox in commons'] });
  assert.deepEqual([...custody.sent], [[11, [`${amy.slot} of owner 1`]]]);
  assert.equal(custody.taken.size, 0);
  assert.deepEqual(custody.waiting.map(({ sprite, world, isKept }) => [sprite, world, isKept]).sort(), [
    [11, 'commons', false],
    [12, 'commons', false],
  ]);
  assert.deepEqual(await readCustody(data), custody);
});

it('custody has the sprites that wait for a desktop, and those on their way to another relay', (t) => {
  const { relay, journal, data } = begin(t);
  const other = new ClusterRelay('b', 2);
  const ann = relay.join('Ann');
  throwSprite(relay, ann, 1, 20);
  other.join('Bob');
  acquaint(relay, other);
  throwSprite(relay, ann, 2, 21);
  relay.turn(300);
  journal.commit();
  const custody = custodyOf({ data, throws: [] });
  assert.deepEqual(
    custody.waiting.map(({ sprite }) => sprite),
    [20, 21],
  );
  assert.deepEqual(entries(custody.held), { 20: ['a mailbox in commons'] });
  const [one, ...more] = custody.flying.get(21) ?? [];
  assert.deepEqual([one.thrown, one.isKept, more], [keyOf(throwOf(ann, 2)), false, []]);
  assert.deepEqual([...custody.flying.keys()], [21]);
});

it('custody has a throw that is in a frame until its verdict is written, and then it knows its number', async (t) => {
  const { relay, journal, data } = begin(t);
  const other = new ClusterRelay('b', 2);
  const [ann] = [relay.join('Ann'), other.join('Bob')];
  acquaint(relay, other);
  throwSprite(relay, ann, 1, 30);
  relay.relay.endTurn();
  const throws = [throwOf(ann, 1), throwOf(ann, 2), throwOf({ ...ann, token: new Uint32Array(4).fill(9) }, 1)];
  const seen: unknown[] = [];
  const look = () => {
    journal.commit();
    const { flying, known } = custodyOf({ data, throws });
    seen.push([flying.get(30)?.map(({ isKept }) => isKept), [...known]]);
  };
  look();
  const [frame] = relay.turn();
  relay.peers.failed(frame, false);
  relay.turn(CUSTODY_MS);
  look();
  deliver([other], [frame], relay);
  look();
  assert.deepEqual(seen, [
    [[false], []],
    [[true], [keyOf(throws[0])]],
    [undefined, [keyOf(throws[0])]],
  ]);
  assert.deepEqual(await readCustody(data, throws), custodyOf({ data, throws }));
});

it('custody knows the frame in which a sprite came from another relay, and the throws of a desktop that has ended', (t) => {
  const { relay, journal, data } = begin(t);
  const other = new ClusterRelay('b', 2);
  const [ann, bob] = [relay.join('Ann'), other.join('Bob')];
  acquaint(relay, other);
  throwSprite(other, bob, 1, 40);
  throwSprite(relay, ann, 1, 41);
  throwSprite(relay, relay.join('Amy', 'garden'), 1, 42);
  for (const one of [relay, other]) one.relay.endTurn();
  deliver([relay], other.turn(), other);
  deliver([other], relay.turn(), relay);
  relay.relay.leave(ann.slot);
  journal.commit();
  const { taken, known } = custodyOf({ data, throws: [throwOf(ann, 1), throwOf(bob, 1)] });
  const [frame] = taken.get(40) as string[];
  assert.match(frame, /^b\/2\/[0-9a-f]+\/1$/);
  assert.deepEqual([...taken], [[40, [frame]]]);
  assert.deepEqual([...known], [keyOf(throwOf(ann, 1))]);
});

it('custody of a journal that cannot be read is refused, in a thread too', async (t) => {
  const data = mkdtempSync(join(tmpdir(), 'sprites-custody-'));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  await assert.rejects(readCustody(join(data, 'a file\0that cannot be')));
});
