/** The sprite store: its quota, what it evicts, its directory as crashes and other workers leave it, and files in memory. */

import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { hashOf, sprFile, wrongInLastRow } from '../test/spr_file.ts';
import { type ProblemCode, ProblemError } from '../wire/problem.ts';
import { SPR_BYTES_MAX } from '../wire/rules.ts';
import { writeFileAtomically } from './atomic_file.ts';
import {
  CHECKS_WAITING_MAX,
  PARTIAL_MS_MAX,
  REFUSALS_REMEMBERED,
  RESCAN_MS,
  SpriteStore,
  type StoreOptions,
  USED_LATELY_MS,
} from './sprite_store.ts';
import { HOUR_MS } from './stored_files.ts';

function directory(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'sprites-store-'));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

const is = (code: ProblemCode) => (error: unknown) => error instanceof ProblemError && error.document.code === code;
const isFull = is('store-full');

/** A store with a clock that the test moves, and its warnings. */
function clocked(path: string, options: StoreOptions = {}) {
  const clock = { nowMs: 1_000_000 * HOUR_MS }; // in 2084: later than the files, which have the time of the disk
  const warnings: string[] = [];
  const log = { warn: (_: unknown, text: string) => void warnings.push(text) } as unknown as StoreOptions['log'];
  const store = new SpriteStore(path, { wallMs: () => clock.nowMs, monotonicMs: () => clock.nowMs, log, ...options });
  return { store, clock, warnings, log };
}

const put = (store: SpriteStore, bytes: Buffer) => store.put(hashOf(bytes), bytes, undefined);
const has = async (store: SpriteStore, bytes: Buffer) => (await store.find(hashOf(bytes))) !== undefined;
const pathOf = (path: string, bytes: Buffer) =>
  join(path, 'sprites', hashOf(bytes).slice(0, 2), `${hashOf(bytes)}.spr`);

/** Puts a file into the directory as another worker does. */
function place(path: string, bytes: Buffer, usedMs: number): void {
  const file = pathOf(path, bytes);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, bytes);
  utimesSync(file, usedMs / 1000, usedMs / 1000);
}

describe('the sprite store', () => {
  const [first, second] = [sprFile(), sprFile()];

  it('accepts files up to the last of its bytes, and refuses one byte more', async (t) => {
    const both = first.length + second.length;
    const roomy = new SpriteStore(directory(t), { bytesMax: both });
    await put(roomy, first);
    await put(roomy, second);
    assert.ok((await roomy.find(hashOf(first))) && (await roomy.find(hashOf(second))));
    const tight = new SpriteStore(directory(t), { bytesMax: both - 1 });
    await put(tight, first);
    await assert.rejects(put(tight, second), isFull);
    assert.equal(await tight.find(hashOf(second)), undefined);
    assert.ok(await tight.find(hashOf(first)), 'stored files stay');
  });

  it('counts files that others have stored before', async (t) => {
    const path = directory(t);
    await put(new SpriteStore(path), first);
    await assert.rejects(put(new SpriteStore(path, { bytesMax: first.length + second.length - 1 }), second), isFull);
  });
});

describe('the sprite store › a quota', () => {
  it('accepts so many files, and refuses one more while all were used lately', async (t) => {
    const { store } = clocked(directory(t), { filesMax: 3 });
    for (let n = 0; n < 3; n++) await put(store, sprFile());
    await assert.rejects(put(store, sprFile()), isFull);
    assert.equal(store.count, 3);
  });

  it('does not evict a file as long as it is in the gallery', async (t) => {
    const path = directory(t);
    const { store, clock } = clocked(path, { filesMax: 2 });
    const [a, b, c, d] = Array.from({ length: 4 }, () => sprFile());
    await put(store, a);
    await put(store, b);
    store.pin([hashOf(a)]);
    clock.nowMs += 2 * HOUR_MS;
    await put(store, c);
    assert.deepEqual(
      [a, b, c].map((bytes) => existsSync(pathOf(path, bytes))),
      [true, false, true],
    );
    store.pin([]);
    clock.nowMs += 2 * HOUR_MS;
    await put(store, d);
    assert.ok(!existsSync(pathOf(path, a)));
  });

  it('evicts the least recently used files, but none used lately', async (t) => {
    const path = directory(t);
    const { store, clock } = clocked(path, { filesMax: 3 });
    const [a, b, c, d, e] = Array.from({ length: 5 }, () => sprFile());
    for (const bytes of [a, b, c]) {
      await put(store, bytes);
      clock.nowMs += HOUR_MS;
    }
    assert.ok(await has(store, a), 'this is a use');
    await put(store, d);
    assert.deepEqual(await Promise.all([a, b, c, d].map((bytes) => existsSync(pathOf(path, bytes)))), [
      true,
      false,
      true,
      true,
    ]);
    await assert.rejects(put(store, e), isFull, 'the others were used within the last hour');
    clock.nowMs += USED_LATELY_MS - 1;
    await assert.rejects(put(store, e), isFull, 'still');
    clock.nowMs += 1;
    await put(store, e);
    assert.ok(!existsSync(pathOf(path, c)));
    assert.equal(store.evicted, 2);
    assert.equal(store.count, 3);
  });

  it('evicts files by their age although the clock is set back, and after a restart within the time of a use', async (t) => {
    const path = directory(t);
    const [a, b, c] = Array.from({ length: 3 }, () => sprFile());
    const wall = { nowMs: 1_000_000 * HOUR_MS };
    const first = clocked(path, { filesMax: 1, wallMs: () => wall.nowMs });
    await put(first.store, a);
    wall.nowMs -= 24 * HOUR_MS;
    first.clock.nowMs += 2 * HOUR_MS;
    await put(first.store, b);
    assert.deepEqual([existsSync(pathOf(path, a)), existsSync(pathOf(path, b))], [false, true]);
    utimesSync(pathOf(path, b), first.clock.nowMs / 1000, first.clock.nowMs / 1000);
    const second = clocked(path, { filesMax: 1, wallMs: () => wall.nowMs });
    await assert.rejects(put(second.store, c), isFull, 'a file of the future counts as used now');
    while (statSync(pathOf(path, b)).mtimeMs > wall.nowMs) await new Promise(setImmediate);
    second.clock.nowMs += USED_LATELY_MS + HOUR_MS;
    await put(second.store, c);
    assert.deepEqual([existsSync(pathOf(path, b)), existsSync(pathOf(path, c))], [false, true]);
  });

  it('evicts a file that was not used while the machine slept: its monotonic clock stood still', async (t) => {
    const [a, b] = Array.from({ length: 2 }, () => sprFile());
    const wall = { nowMs: 1_000_000 * HOUR_MS };
    const { store } = clocked(directory(t), { filesMax: 1, wallMs: () => wall.nowMs });
    await put(store, a);
    await assert.rejects(put(store, b), isFull);
    wall.nowMs += USED_LATELY_MS + HOUR_MS;
    await put(store, b);
    assert.deepEqual([await has(store, a), await has(store, b)], [false, true]);
  });

  it('evicts as many files as one needs, and stores nothing when they are too few', async (t) => {
    const [a, b, c] = Array.from({ length: 3 }, () => sprFile());
    const { store, clock } = clocked(directory(t), { bytesMax: a.length + b.length });
    await put(store, a);
    await put(store, b);
    clock.nowMs += 2 * HOUR_MS;
    await put(store, c);
    assert.ok(store.bytes <= a.length + b.length);
    assert.ok(await has(store, c));
  });

  it('keeps the time of the last use over a restart', async (t) => {
    const path = directory(t);
    const [a, b, c] = Array.from({ length: 3 }, () => sprFile());
    const first = clocked(path);
    await put(first.store, a);
    await put(first.store, b);
    for (const bytes of [a, b]) utimesSync(pathOf(path, bytes), first.clock.nowMs / 1000, first.clock.nowMs / 1000);
    first.clock.nowMs += 3 * HOUR_MS;
    assert.ok(await has(first.store, a));
    const usedMs = () => statSync(pathOf(path, a)).mtimeMs;
    while (usedMs() !== first.clock.nowMs) await new Promise(setImmediate);
    const second = clocked(path, { filesMax: 2 });
    second.clock.nowMs = first.clock.nowMs;
    await put(second.store, c);
    assert.deepEqual([existsSync(pathOf(path, a)), existsSync(pathOf(path, b))], [true, false]);
  });

  it('does not evict a file that another worker has used meanwhile', async (t) => {
    const path = directory(t);
    const [a, b, c] = Array.from({ length: 3 }, () => sprFile());
    const { store, clock } = clocked(path, { filesMax: 2 });
    place(path, a, clock.nowMs - 9 * HOUR_MS);
    place(path, b, clock.nowMs - 5 * HOUR_MS);
    await store.open();
    utimesSync(pathOf(path, a), clock.nowMs / 1000, clock.nowMs / 1000);
    await put(store, c);
    assert.deepEqual([existsSync(pathOf(path, a)), existsSync(pathOf(path, b))], [true, false]);
  });

  it('counts the files of other workers, and forgets those they delete, at most once in a while', async (t) => {
    const path = directory(t);
    const { store, clock } = clocked(path);
    const [a, b] = [sprFile(), sprFile()];
    await put(store, a);
    place(path, b, clock.nowMs);
    clock.nowMs += RESCAN_MS - 1;
    await put(store, sprFile());
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(store.count, 2, 'not yet');
    clock.nowMs += 1;
    rmSync(pathOf(path, a));
    await put(store, sprFile());
    while (store.has(hashOf(a)) || (store.count as number) !== 3) await new Promise(setImmediate);
  });
});

describe('the sprite store › a directory', () => {
  it('may have files that are not sprites: they are ignored, with one warning', async (t) => {
    const path = directory(t);
    const { store, clock, warnings } = clocked(path);
    mkdirSync(join(path, 'sprites', 'ab'), { recursive: true });
    for (const name of ['stray', 'ab/stray.spr', `ab/${'c'.repeat(64)}.spr`, `ab/${'a'.repeat(64)}.txt`]) {
      writeFileSync(join(path, 'sprites', name), 'x');
    }
    mkdirSync(join(path, 'sprites', 'folder'));
    await put(store, sprFile());
    assert.equal(store.count, 1);
    clock.nowMs += RESCAN_MS;
    await put(store, sprFile());
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.deepEqual(warnings, ['files that are not sprites are ignored']);
    assert.ok(existsSync(join(path, 'sprites', 'stray')), 'they stay');
  });

  it('loses old partial files when it is opened, and keeps new ones, which may have a writer', async (t) => {
    const path = directory(t);
    const { store } = clocked(path);
    const nowSeconds = Date.now() / 1000;
    const names: [string, number][] = [
      ['partial/old', 1],
      ['partial/new', -5],
    ];
    for (const [name, late] of names) {
      const at = join(path, 'sprites', name);
      mkdirSync(join(at, '..'), { recursive: true });
      writeFileSync(at, 'half');
      const seconds = nowSeconds - PARTIAL_MS_MAX / 1000 - late;
      utimesSync(at, seconds, late > 0 ? seconds : nowSeconds);
    }
    await store.open();
    assert.deepEqual(
      names.map(([name]) => existsSync(join(path, 'sprites', name))),
      [false, true],
    );
  });

  it('is full when the disk is: one line in the log a minute, and nothing half is left', async (t) => {
    const path = directory(t);
    let isFullDisk = true;
    const write: typeof writeFileAtomically = async (...args) => {
      if (isFullDisk) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      await writeFileAtomically(...args);
    };
    const { store, clock, warnings } = clocked(path, { write });
    const bytes = sprFile();
    for (let n = 0; n < 5; n++) await assert.rejects(put(store, n % 2 ? bytes : sprFile()), isFull);
    assert.deepEqual(warnings, ['no room for more sprite files']);
    clock.nowMs += 60_000 - 1;
    await assert.rejects(put(store, bytes), isFull);
    assert.equal(warnings.length, 1);
    clock.nowMs += 1;
    await assert.rejects(put(store, bytes), isFull);
    assert.equal(warnings.length, 2);
    isFullDisk = false;
    await put(store, bytes);
    assert.deepEqual([store.count, store.bytes], [1, bytes.length], 'room that was kept for the others is free again');
    assert.deepEqual(readdirSync(join(path, 'sprites', 'partial')), []);
  });

  it('gets a file once, although it is uploaded several times at once', async (t) => {
    let writes = 0;
    const write: typeof writeFileAtomically = async (...args) => {
      writes++;
      await writeFileAtomically(...args);
    };
    const { store } = clocked(directory(t), { write });
    const bytes = sprFile();
    await Promise.all(Array.from({ length: 20 }, () => put(store, bytes)));
    assert.deepEqual([writes, store.count, store.bytes], [1, 1, bytes.length]);
  });
});

describe('the sprite store › a file that is refused', () => {
  it('is remembered, with the reason; the least recently refused is forgotten beyond the limit', async (t) => {
    const { store } = clocked(directory(t));
    const names: string[] = [];
    const refuse = async (n: number) => {
      const bytes = Buffer.from(`not a picture ${n}`);
      names.push(hashOf(bytes));
      await assert.rejects(put(store, bytes), is('sprite-invalid'));
    };
    for (let n = 0; n < REFUSALS_REMEMBERED; n++) await refuse(n);
    assert.throws(() => store.throwIfRefused(names[0]), /signature/);
    await refuse(REFUSALS_REMEMBERED);
    for (const n of [0, 2, REFUSALS_REMEMBERED]) assert.throws(() => store.throwIfRefused(names[n]), /signature/);
    store.throwIfRefused(names[1]);
  });

  it('is not the file that a wrong hash names', async (t) => {
    const { store } = clocked(directory(t));
    const good = sprFile();
    await assert.rejects(store.put(hashOf(good), Buffer.from('another'), undefined), is('sprite-invalid'));
    store.throwIfRefused(hashOf(good));
    await put(store, good);
  });

  it('does not wait without bound: so many checks wait, one more is busy', async (t) => {
    const { store } = clocked(directory(t));
    const slow = wrongInLastRow();
    // The same picture under other names: the hash is the caller's.
    const names = Array.from({ length: CHECKS_WAITING_MAX + 3 }, (_, n) => n.toString(16).padStart(64, '0'));
    const codes = await Promise.all(
      names.map((name, n) => {
        const bytes = n < 2 ? slow : Buffer.from('x');
        return store.put(name, bytes, undefined, name).then(
          () => 'stored',
          (error: ProblemError) => error.document.code,
        );
      }),
    );
    assert.deepEqual(codes, [...Array(CHECKS_WAITING_MAX + 2).fill('sprite-invalid'), 'relay-busy']);
  });

  it('is deleted by remove(), also while it is being stored', async (t) => {
    const path = directory(t);
    const { store } = clocked(path);
    const bytes = sprFile();
    await put(store, bytes);
    const held = await store.hold(hashOf(bytes), undefined);
    assert.equal(await store.remove(hashOf(bytes)), true);
    assert.equal(await store.hold(hashOf(bytes), undefined), undefined);
    held?.release();
    assert.equal(await store.remove(hashOf(bytes)), false);
    assert.equal(await store.remove('../../etc/passwd'), false);
    const storing = put(store, bytes);
    assert.equal(await store.remove(hashOf(bytes)), true);
    await storing;
    assert.ok(!existsSync(pathOf(path, bytes)));
    assert.deepEqual([store.count, store.bytes, store.has(hashOf(bytes))], [0, 0, false]);
  });
});

describe('the sprite store › files in memory', () => {
  it('are read once for all who hold them, and again from the cache', async (t) => {
    const path = directory(t);
    const { store } = clocked(path);
    const bytes = sprFile();
    await put(store, bytes);
    const held = await Promise.all(Array.from({ length: 100 }, () => store.hold(hashOf(bytes), undefined)));
    for (const one of held) assert.equal(one?.bytes, held[0]?.bytes);
    assert.equal(store.sendingBytes, bytes.length);
    for (const one of held) one?.release();
    assert.equal(store.sendingBytes, 0);
    const again = await store.hold(hashOf(bytes), undefined);
    assert.equal(again?.bytes, held[0]?.bytes);
    again?.release();
  });

  it('are held up to the last byte of the budget; one more file is busy, one that is held already is not', async (t) => {
    const [a, b, c] = Array.from({ length: 3 }, () => sprFile());
    const { store } = clocked(directory(t), { sendingMax: a.length + b.length });
    for (const bytes of [a, b, c]) await put(store, bytes);
    const first = await store.hold(hashOf(a), undefined);
    const second = await store.hold(hashOf(b), undefined);
    await assert.rejects(store.hold(hashOf(c), undefined), is('relay-busy'));
    const third = await store.hold(hashOf(a), undefined);
    first?.release();
    await assert.rejects(store.hold(hashOf(c), undefined), is('relay-busy'));
    third?.release();
    const fourth = await store.hold(hashOf(c), undefined);
    assert.deepEqual(fourth?.bytes, c);
    fourth?.release();
    second?.release();
    assert.equal(store.sendingBytes, 0);
  });

  it('are held for one client up to a third of the budget, and a file that several read counts for each of them', async (t) => {
    const files = Array.from({ length: 4 }, () => sprFile());
    const size = Math.max(...files.map(({ length }) => length));
    for (const [sendingMax, isHeld] of [
      [3 * size - 3, false],
      [3 * size, true],
      [3 * size + 3, true],
    ] as const) {
      const [first] = files.filter(({ length }) => length === size);
      const { store } = clocked(directory(t), { sendingMax });
      await put(store, first);
      const held = store.hold(hashOf(first), 'eve');
      if (isHeld) (await held)?.release();
      else await assert.rejects(held, is('relay-busy'), 'one third, less a byte');
    }
    const { store } = clocked(directory(t), { sendingMax: 4 * size });
    for (const bytes of files) await put(store, bytes);
    const [a, b, c] = files.map(hashOf);
    const ofVic = await store.hold(a, 'vic');
    const ofEve = await store.hold(a, 'eve');
    const again = await store.hold(a, 'eve');
    assert.equal(store.sendingBytes, files[0].length, 'once in the sum');
    await assert.rejects(store.hold(b, 'eve'), is('relay-busy'), 'Eve has her share, though Vic paid for the bytes');
    ofVic?.release();
    again?.release();
    await assert.rejects(store.hold(b, 'eve'), is('relay-busy'), 'Eve still reads it');
    assert.equal(store.sendingBytes, files[0].length);
    const others = await store.hold(c, 'vic');
    others?.release();
    ofEve?.release();
    assert.equal(store.sendingBytes, 0);
    (await store.hold(b, 'eve'))?.release();
  });

  it('are not those that somebody else has put into the directory, larger than a sprite can be', async (t) => {
    const path = directory(t);
    const { store, clock } = clocked(path);
    const name = '0'.repeat(64);
    mkdirSync(join(path, 'sprites', '00'), { recursive: true });
    const at = join(path, 'sprites', '00', `${name}.spr`);
    for (const [size, isServed] of [
      [SPR_BYTES_MAX - 1, true],
      [SPR_BYTES_MAX, true],
      [SPR_BYTES_MAX + 1, false],
    ] as const) {
      writeFileSync(at, '');
      truncateSync(at, size);
      clock.nowMs += HOUR_MS;
      const held = await store.hold(name, undefined);
      assert.equal(held !== undefined, isServed, `${size} bytes`);
      held?.release();
    }
  });
});
