import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import pino from 'pino';
import { Locked } from '../journal/lock.ts';
import { HEAD_BYTES, segmentName } from '../journal/segments.ts';
import { makeRelay } from '../test/relay_harness.ts';
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
      message: `${file} must be an empty file; if no relay uses this data directory, remove it`,
    });
  });
});

describe('a journal that has lost its contents', () => {
  /** Starts a relay on a data directory, and stops it. Returns the warnings. */
  async function warningsOf(data: string): Promise<string[]> {
    const warnings: string[] = [];
    const stream = { write: (line: string) => void warnings.push(JSON.parse(line).msg) };
    const journaling = new Journaling(data, 'process', pino({ level: 'warn' }, stream));
    const { epoch, generationKey } = journaling.journal;
    journaling.recover(makeRelay({ slots: 4, epoch, generationKey, nowMs: 0 }), 0);
    await journaling.close();
    return warnings;
  }

  function dataFolder(t: TestContext): { data: string; segment: string } {
    const data = mkdtempSync(join(tmpdir(), 'journaling-'));
    t.after(() => rmSync(data, { recursive: true }));
    return { data, segment: join(data, JOURNAL_FOLDER, segmentName(1)) };
  }

  it('is told from a new one, and from one in which nothing has happened', async (t) => {
    const { data } = dataFolder(t);
    for (let start = 0; start < 3; start++) assert.deepEqual(await warningsOf(data), []);
  });

  it('is reported with its folder and the way back, whether its files were removed or cut', async (t) => {
    for (const bytes of [undefined, 0, 1, HEAD_BYTES - 1]) {
      const { data, segment } = dataFolder(t);
      await warningsOf(data);
      if (bytes === undefined) rmSync(segment);
      else truncateSync(segment, bytes);
      const warnings = await warningsOf(data);
      assert.match(warnings.at(-1) as string, /has lost its contents.*starts empty.*put the whole folder back/);
      assert.deepEqual(await warningsOf(data), [], 'once');
    }
  });
});
