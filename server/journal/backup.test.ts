import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { addon, whyNoNativeFront } from '../front/native.ts';
import { joined, KEY, makeRelay } from '../test/relay_harness.ts';
import { copyJournal } from './backup.ts';
import { FolderDisk } from './disk.ts';
import { checkJournal, exportJournal } from './inspect.ts';
import { Journal } from './journal.ts';
import { lockCopies } from './lock.ts';
import { TAIL } from './tail.ts';

/** Desktops that are there at once, after some turns. */
const DESKTOPS = 8;

const COPIES = 4;

/** Turns between two steps of a copy: in some five steps the journal is compacted; or in none, and much of it is in the tail. */
const TURNS = [60, 1];

/** A relay whose journal is compacted all the time, because it and its segments are small. */
function busyRelay(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'sprites-backup-'));
  const own = join(folder, 'own');
  const disk = new FolderDisk(own, whyNoNativeFront() ? {} : addon());
  const fail = (error: Error): never => {
    throw error;
  };
  const small = { segmentBytes: 10_000, sizeBytesMin: 100_000, reserveBytes: 1, tailBytes: 4_096 };
  const journal = new Journal(disk, { durability: 'process', epoch: 1, generationKey: KEY, fail, ...small });
  const relay = makeRelay({ slots: 16, epoch: 1, generationKey: KEY, nowMs: 0 });
  journal.recover(relay, 0);
  t.after(async () => {
    journal.close();
    await disk.settled;
    rmSync(folder, { recursive: true });
  });
  let newest = 0;
  const here: number[] = [];
  return {
    folder,
    own,
    journal,
    newest: () => newest,
    /** Somebody joins, and the one that was here for longest leaves; now and then the tail is written. */
    turn() {
      here.push(joined(relay, { name: `${++newest}` }).slot);
      if (here.length > DESKTOPS) relay.leave(here.shift() as number, '');
      journal.commit();
      if (newest % 50 === 0) journal.tick(newest);
    },
  };
}

/** What a relay would start with, and the newest desktop that is mentioned. */
function readCopy(folder: string): { refusal: string | undefined; desktops: number; newest: number } {
  const disk = new FolderDisk(folder);
  let newest = 0;
  exportJournal(disk, (line) => {
    const { fact, name } = JSON.parse(line);
    if (fact === 'desktop') newest = Math.max(newest, Number(name));
  });
  return { ...checkJournal(disk), newest };
}

describe('backup of a journal', () => {
  it('is whole, and no older than its beginning, while the relay writes and begins its journal anew', async (t) => {
    const { folder, own, journal, newest, turn } = busyRelay(t);
    for (let n = 0; n < DESKTOPS; n++) turn();
    for (let copies = 0; copies < COPIES; copies++) {
      const to = join(folder, `${copies}`);
      mkdirSync(to);
      const [before, compactions] = [newest(), journal.compactions];
      let isDone = false;
      const copying = copyJournal(own, to).finally(() => {
        isDone = true;
      });
      while (!isDone || journal.compactions === compactions) {
        for (let n = 0; n < TURNS[copies % 2]; n++) turn();
        await nextTurn();
      }
      await copying;
      const copy = readCopy(to);
      assert.equal(copy.refusal, undefined);
      assert.equal(copy.desktops, DESKTOPS);
      assert.ok(copy.newest >= before && copy.newest <= newest(), `${before} ≤ ${copy.newest} ≤ ${newest()}`);
    }
  });

  it('has what only the tail of a dead relay has', { skip: whyNoNativeFront() }, async (t) => {
    const { folder, own, newest, turn } = busyRelay(t);
    turn();
    const to = join(folder, 'copy');
    mkdirSync(to);
    await copyJournal(own, to);
    assert.deepEqual([readCopy(to).desktops, readCopy(to).newest], [1, newest()]);
    assert.ok(!existsSync(join(to, TAIL)));
  });
});

describe('lock of all copies of a journal', { skip: process.platform !== 'linux' }, () => {
  it('is held by one, for one key, until that gives it free', async () => {
    const unlock = await lockCopies(Buffer.alloc(16, 1));
    await lockCopies(Buffer.alloc(16, 2));
    await assert.rejects(lockCopies(Buffer.alloc(16, 1)), /another relay of this machine .* stop that one first/);
    unlock();
    await lockCopies(Buffer.alloc(16, 1));
  });
});
