import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Logger } from 'pino';
import { isProblemDocument } from '../test/problem_check.ts';
import type { ProblemError } from '../wire/problem.ts';
import { BANS_MAX, ModerationList, REASONS_KEPT, REPORTS_MAX, THROWERS_KEPT } from './moderation_list.ts';

const hash = (n: number) => n.toString(16).padStart(64, '0');

function directory(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'sprites-moderation-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function listIn(path: string, clock = { nowMs: 1_000 }) {
  const errors: { fields: Record<string, unknown>; text: string }[] = [];
  const log = { error: (fields: Record<string, unknown>, text: string) => errors.push({ fields, text }) };
  return { list: new ModerationList(path, log as unknown as Logger, () => clock.nowMs), errors, clock };
}

describe('the moderation list', () => {
  it('is read again as it was saved, from a file that only its owner may read', async (t) => {
    const path = directory(t);
    const { list } = listIn(path);
    list.banAddress('192.0.2.0/24', null);
    list.banAddress('2001:db8::/48', 5_000);
    list.banPicture(hash(1), null);
    list.report(hash(2), 'rude');
    list.report(hash(2), '', '9-3e');
    await list.save();
    assert.deepEqual(readdirSync(path), ['moderation.json']);
    assert.equal(statSync(join(path, 'moderation.json')).mode & 0o777, 0o600);
    const { list: again, errors } = listIn(path);
    assert.deepEqual(errors, []);
    assert.deepEqual(again.bans, list.bans);
    const report = { file: hash(2), count: 2, firstMs: 1_000, lastMs: 1_000, reasons: ['rude'], desktops: ['9-3e'] };
    assert.deepEqual(again.reports, [report]);
  });

  it('drops a ban whose time is over', (t) => {
    const { list, clock } = listIn(directory(t));
    list.banAddress('192.0.2.7', 5_000);
    clock.nowMs = 4_999;
    assert.equal(list.bans.addresses.length, 1);
    clock.nowMs = 5_000;
    assert.equal(list.bans.addresses.length, 0);
  });

  it(`holds ${BANS_MAX} bans, a repeat among them, and refuses one more`, (t) => {
    const { list } = listIn(directory(t));
    for (let n = 0; n < BANS_MAX; n++) list.banPicture(hash(n), null);
    list.banPicture(hash(0), 9_000);
    assert.throws(
      () => list.banPicture(hash(BANS_MAX), null),
      (error: ProblemError) => {
        isProblemDocument(error.document, 'list-full');
        return true;
      },
    );
    list.banAddress('192.0.2.7', null);
    assert.ok(list.unbanPicture(hash(1)));
    list.banPicture(hash(BANS_MAX), null);
  });

  it('forgets a desktop that was reported, and keeps the reports', (t) => {
    const { list } = listIn(directory(t));
    list.report(hash(1), 'rude', '9-3e');
    list.report(hash(1), '', '8-3e');
    list.report(hash(2), '', '8-3e');
    assert.equal(list.forget('9-3e'), 1);
    assert.equal(list.forget('9-3e'), 0);
    assert.deepEqual(list.reports.map(({ desktops }) => desktops).sort(), [['8-3e'], ['8-3e']]);
  });

  it(`holds ${REPORTS_MAX} reported pictures; one more replaces the least reported`, (t) => {
    const { list, clock } = listIn(directory(t));
    for (let n = 0; n < REPORTS_MAX; n++) {
      clock.nowMs++;
      list.report(hash(n), '');
      if (n !== 7) list.report(hash(n), '');
    }
    list.report(hash(REPORTS_MAX), '');
    const files = new Set(list.reports.map(({ file }) => file));
    assert.equal(files.size, REPORTS_MAX);
    assert.ok(!files.has(hash(7)) && files.has(hash(REPORTS_MAX)));
  });

  it('keeps the newest reasons of a picture, each once, and drops the reports of one that is banned', (t) => {
    const { list } = listIn(directory(t));
    for (let n = 0; n <= THROWERS_KEPT; n++) {
      list.report(hash(2), '', `${n}-1`);
      const kept = [...Array(n + 1).keys()].map((id) => `${id}-1`).slice(-THROWERS_KEPT);
      assert.deepEqual(list.reports[0].desktops, kept);
    }
    list.dismiss(hash(2));
    for (let n = 0; n <= REASONS_KEPT; n++) list.report(hash(1), `reason ${n}`);
    list.report(hash(1), 'reason 1');
    assert.deepEqual(list.reports[0].reasons, ['reason 1', 'reason 2', 'reason 3']);
    list.banPicture(hash(1), null);
    assert.deepEqual(list.reports, []);
  });

  it('moves a malformed file aside with an error that names it, and begins empty', (t) => {
    const good = { version: 1, addresses: [], pictures: [], reports: [] };
    for (const text of [
      '',
      'null',
      '{"version":2}',
      JSON.stringify({ ...good, addresses: [{ network: '192.0.2.1/24', sinceMs: 0, untilMs: null }] }),
      JSON.stringify({ ...good, addresses: [{ network: 'x', sinceMs: 0, untilMs: null }] }),
      JSON.stringify({ ...good, pictures: [{ file: 'x', sinceMs: 0, untilMs: null }] }),
      JSON.stringify({ ...good, pictures: [{ file: hash(1), sinceMs: 0, untilMs: 'x' }] }),
      JSON.stringify({ ...good, reports: [null] }),
      JSON.stringify({ ...good, reports: [{ file: hash(1), count: 1, firstMs: 0, lastMs: 0, reasons: [1] }] }),
      JSON.stringify({
        ...good,
        reports: [{ file: hash(1), count: 1, firstMs: 0, lastMs: 0, reasons: [], desktops: 1 }],
      }),
    ]) {
      const path = directory(t);
      const file = join(path, 'moderation.json');
      writeFileSync(file, text);
      const { list, errors } = listIn(path);
      assert.equal(errors.length, 1, text);
      assert.equal(errors[0].fields.file, file);
      assert.deepEqual(list.bans, { addresses: [], pictures: [] });
      assert.equal(readFileSync(errors[0].fields.aside as string, 'utf8'), text);
    }
  });
});
