import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { Logger } from 'pino';
import { LICENCES } from '../wire/gallery.ts';
import { ProblemError } from '../wire/problem.ts';
import { GalleryList, LISTED_MAX, WAITING_MAX } from './gallery_list.ts';

const fileOf = (n: number) => n.toString(16).padStart(64, '0');
const publicationOf = (n: number) => ({ file: fileOf(n), title: `Cat ${n}`, author: 'Ann', licence: LICENCES[0] });
const isFull = (error: unknown) => error instanceof ProblemError && error.document.code === 'list-full';

describe('the list of the gallery', () => {
  const folders: string[] = [];
  after(() => {
    for (const folder of folders) rmSync(folder, { recursive: true });
  });

  function open(data = mkdtempSync(join(tmpdir(), 'gallery-'))) {
    if (!folders.includes(data)) folders.push(data);
    const errors: object[] = [];
    const clock = { nowMs: 1000 };
    const log = { error: (what: object) => errors.push(what) } as unknown as Logger;
    return { data, errors, clock, list: new GalleryList(data, log, () => clock.nowMs) };
  }

  it('lists a picture when the operator has accepted it, the newest first', () => {
    const { list, clock } = open();
    for (const n of [1, 2, 3]) assert.equal(list.publish(publicationOf(n)), 'waiting');
    assert.deepEqual(list.copy, { listed: [], waiting: [1, 2, 3].map(fileOf) });
    list.accept(fileOf(1));
    clock.nowMs++;
    list.accept(fileOf(3));
    assert.deepEqual(list.copy, { listed: [publicationOf(3), publicationOf(1)], waiting: [fileOf(2)] });
    assert.equal(list.publish({ ...publicationOf(3), title: 'Mine' }), 'listed', 'nobody else can rename it');
    assert.deepEqual(list.copy.listed[0], publicationOf(3));
    assert.ok(list.remove(fileOf(3)));
    assert.ok(!list.remove(fileOf(3)));
    assert.deepEqual(list.copy.listed, [publicationOf(1)]);
    assert.throws(() => list.accept(fileOf(9)), /Nobody has published/);
  });

  it('is the same after a restart', async () => {
    const { data, list } = open();
    list.publish(publicationOf(1));
    list.publish(publicationOf(2));
    list.accept(fileOf(2));
    await list.close();
    const again = open(data);
    assert.deepEqual(again.list.entries, list.entries);
    assert.deepEqual(again.errors, []);
  });

  it('accepts at most WAITING_MAX publications, and always a repeated one', () => {
    const { list } = open();
    for (let n = 0; n < WAITING_MAX; n++) list.publish(publicationOf(n));
    assert.throws(() => list.publish(publicationOf(WAITING_MAX)), isFull);
    assert.equal(list.publish({ ...publicationOf(0), title: 'Better' }), 'waiting');
    list.accept(fileOf(1));
    list.publish(publicationOf(WAITING_MAX));
  });

  it('lists at most LISTED_MAX pictures', () => {
    const { list } = open();
    for (let n = 0; n <= LISTED_MAX; n++) {
      list.publish(publicationOf(n));
      if (n < LISTED_MAX) list.accept(fileOf(n));
    }
    assert.throws(() => list.accept(fileOf(LISTED_MAX)), isFull);
    list.remove(fileOf(0));
    list.accept(fileOf(LISTED_MAX));
  });

  it('is empty when its file cannot be understood, which is kept aside', () => {
    const good = { ...publicationOf(1), sinceMs: 1, acceptedMs: null };
    for (const text of [
      ...['', 'null', '{}', '{"version":2,"entries":[]}', '{"version":1,"entries":[null]}'],
      JSON.stringify({ version: 1, entries: [{ ...good, title: '' }] }),
      JSON.stringify({ version: 1, entries: [{ ...good, acceptedMs: 'now' }] }),
      JSON.stringify({ version: 1, entries: [{ ...good, file: '../x' }] }),
    ]) {
      const data = mkdtempSync(join(tmpdir(), 'gallery-'));
      writeFileSync(join(data, 'gallery.json'), text);
      const { list, errors } = open(data);
      assert.deepEqual(list.copy, { listed: [], waiting: [] });
      assert.equal(errors.length, 1, text);
      assert.deepEqual(readdirSync(data), ['gallery.json.malformed-1000']);
    }
  });
});
