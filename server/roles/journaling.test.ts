import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import pino from 'pino';
import { Locked } from '../journal/lock.ts';
import { JOURNAL_FOLDER, Journaling } from './journaling.ts';

const log = pino({ level: 'silent' });

describe('the lock of a journal', () => {
  it('belongs to one relay at a time', async (t) => {
    const data = mkdtempSync(join(tmpdir(), 'journaling-'));
    t.after(() => rmSync(data, { recursive: true }));
    const first = new Journaling(data, 'process', log);
    assert.throws(() => new Journaling(data, 'process', log), Locked);
    await first.close();
    await new Journaling(data, 'process', log).close();
  });

  it('that can’t be taken is named, and what to do', (t) => {
    const data = mkdtempSync(join(tmpdir(), 'journaling-'));
    t.after(() => rmSync(data, { recursive: true }));
    const file = join(data, JOURNAL_FOLDER, 'lock');
    mkdirSync(file, { recursive: true });
    assert.throws(() => new Journaling(data, 'process', log), {
      message: `the file ${file} can't be locked (unable to open database file); the user of the relay must own the data directory and its files`,
    });
  });
});
