import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { Logger } from 'pino';
import { ProblemError } from '../wire/problem.ts';
import { FEEDBACK_FILE_BYTES_MAX, FeedbackFile } from './feedback_file.ts';

describe('the file of feedback', () => {
  const data = mkdtempSync(join(tmpdir(), 'feedback-'));
  const path = join(data, 'feedback.jsonl');
  after(() => rmSync(data, { recursive: true }));
  const log = { error: assert.fail } as unknown as Logger;

  it('keeps each text as a line of JSON, in order, for its owner only', async () => {
    const file = new FeedbackFile(data, log, () => 0);
    assert.deepEqual(file.read(), []);
    file.add({ text: 'More cats\n', contact: 'ann@example.org' });
    file.add({ text: 'Fewer cats', contact: '' });
    await file.close();
    assert.deepEqual(
      file.read().map((line) => JSON.parse(line)),
      [
        { at: '1970-01-01T00:00:00.000Z', text: 'More cats\n', contact: 'ann@example.org' },
        { at: '1970-01-01T00:00:00.000Z', text: 'Fewer cats', contact: '' },
      ],
    );
    assert.equal(statSync(path).mode & 0o777, 0o600);
  });

  it('loses the texts that came with a contact, also those that are being written', async () => {
    const file = new FeedbackFile(data, log, () => 0);
    const before = file.read().length;
    for (const contact of ['bob@example.org', '', 'Bob@Example.org', 'bob']) file.add({ text: 'Dogs', contact });
    assert.equal(await file.forget('bob@example.ORG'), 2);
    assert.equal(await file.forget('bob@example.org'), 0);
    const contacts = file.read().map((line) => JSON.parse(line).contact);
    assert.deepEqual(contacts.slice(before), ['', 'bob']);
    assert.equal(statSync(path).mode & 0o777, 0o600);
  });

  it('is not taken for empty when it can’t be read', () => {
    const other = join(data, 'other');
    mkdirSync(join(other, 'feedback.jsonl'), { recursive: true });
    assert.throws(() => new FeedbackFile(other, log).read(), { code: 'EISDIR' });
  });

  it('is filled to its limit, and refuses more', async () => {
    const file = new FeedbackFile(data, log, () => 0);
    const line = JSON.stringify({ at: '1970-01-01T00:00:00.000Z', text: 'x', contact: '' });
    writeFileSync(path, ' '.repeat(FEEDBACK_FILE_BYTES_MAX - line.length - 2));
    file.add({ text: 'x', contact: '' }); // one byte is left
    const isFull = (error: unknown) => error instanceof ProblemError && error.document.code === 'store-full';
    assert.throws(() => file.add({ text: 'x', contact: '' }), isFull, 'what is being written counts');
    await file.close();
    assert.equal(statSync(path).size, FEEDBACK_FILE_BYTES_MAX - 1);
    assert.throws(() => file.add({ text: 'x', contact: '' }), isFull);
  });
});
