import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { FolderDisk } from '../../journal/disk.ts';
import { Journal } from '../../journal/journal.ts';
import { JOURNAL_FOLDER } from '../../roles/journaling.ts';
import { acquaint, ClusterRelay, FILE } from '../../test/cluster_relays.ts';
import { checkCrossing, type EdgeNumber } from '../../wire/crossing.ts';
import { GENERATION_KEY_BYTES } from '../../wire/generations.ts';
import type { Identity } from '../../wire/identity.ts';
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
  const passage = Buffer.from(checked.passage);
  relay.accept(from, crossing, checked.edge as EdgeNumber, passage, 0, passage.length, 0, crossing);
}

const entries = (map: ReadonlyMap<number, unknown>) => Object.fromEntries(map);

it('custody has the sprites in mailboxes, which of them were sent, and those that passed through', async (t) => {
  const { relay, journal, data } = begin(t);
  const [ann, amy] = [relay.join('Ann'), relay.join('Amy')];
  for (const sprite of [10, 11]) throwSprite(relay, ann, sprite, sprite);
  relay.poll(amy);
  relay.poll(amy, 1);
  throwSprite(relay, amy, 1, 12);
  relay.turn();
  journal.commit();
  const custody = custodyOf(data);
  assert.deepEqual(entries(custody.held), { 11: ['a mailbox in commons'], 12: ['a mailbox in commons'] });
  assert.deepEqual([...custody.sent], [[11, 1]]);
  assert.deepEqual(Object.keys(entries(custody.named)), ['10', '11', '12']);
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
  const custody = custodyOf(data);
  assert.deepEqual(
    custody.waiting.map(({ sprite }) => sprite),
    [20, 21],
  );
  assert.deepEqual(entries(custody.held), { 20: ['a mailbox in commons'], 21: ['a frame to a peer'] });
});

it('custody of a journal that cannot be read is refused, in a thread too', async (t) => {
  const data = mkdtempSync(join(tmpdir(), 'sprites-custody-'));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  await assert.rejects(readCustody(join(data, 'a file\0that cannot be')));
});
