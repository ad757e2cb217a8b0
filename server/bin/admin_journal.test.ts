import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { FolderDisk } from '../journal/disk.ts';
import { Journal } from '../journal/journal.ts';
import { FRAME_HEAD_BYTES, HEAD_BYTES, segmentName } from '../journal/segments.ts';
import { JOURNAL_FOLDER } from '../roles/journaling.ts';
import { checkedCrossing } from '../test/passages.ts';
import { joined, makeRelay } from '../test/relay_harness.ts';
import { journalCommand } from './admin_journal.ts';

/** A data directory whose journal has two desktops, each in a turn of its own, and in a third turn a sprite that waits. */
async function makeJournal(t: TestContext): Promise<{ data: string; disk: FolderDisk }> {
  const data = mkdtempSync(join(tmpdir(), 'sprites-admin-journal-'));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  const disk = new FolderDisk(join(data, JOURNAL_FOLDER));
  const fail = (error: Error): never => {
    throw error;
  };
  const generationKey = Buffer.alloc(16, 1);
  const journal = new Journal(disk, { durability: 'process', epoch: 1, generationKey, fail });
  const randomize = (words: Uint32Array) => words.fill(0x5ec2e7);
  const relay = makeRelay({ slots: 4, epoch: 1, generationKey, nowMs: 0, randomize });
  journal.recover(relay, 0);
  const ann = joined(relay, { name: 'Ann' });
  journal.commit();
  joined(relay, { name: 'Bob' });
  journal.commit();
  relay.accept(ann, checkedCrossing(1, 1, '"edge":"left","sprite":{"name":"Blob"}}'));
  journal.close(); // it commits the third turn, and what was counted of the day
  await disk.settled;
  return { data, disk };
}

function runs(words: string[], data: string): { code: number; text: string } {
  const lines: string[] = [];
  const code = journalCommand(words, data, undefined, (line) => void lines.push(line));
  return { code, text: lines.join('\n') };
}

/** Changes a byte of the second turn. */
function damage(disk: FolderDisk): void {
  const bytes = disk.read(segmentName(1));
  const second = HEAD_BYTES + FRAME_HEAD_BYTES + bytes.readUInt32LE(HEAD_BYTES);
  bytes[second + 30] ^= 1;
  disk.write(disk.open(segmentName(1)), bytes, bytes.length, 0);
}

describe('admin journal', () => {
  it('check says what a relay would start with', async (t) => {
    const { data } = await makeJournal(t);
    const { code, text } = runs(['check'], data);
    assert.equal(code, 0);
    assert.match(text, /^0000000001\.segment +\d+ bytes +3 frames\n/);
    assert.match(text, /A relay can start with it: 2 desktops in 1 world, 1 sprite waiting\.$/);
  });

  it('check names a turn that was cut off', async (t) => {
    const { data, disk } = await makeJournal(t);
    const { length } = disk.read(segmentName(1));
    disk.truncate(disk.open(segmentName(1)), length - 5);
    const { code, text } = runs(['check'], data);
    assert.equal(code, 0);
    assert.match(text, /a turn that was not written whole; a relay cuts them off/);
    assert.match(text, /2 desktops in 1 world, 0 sprites/);
  });

  it('check names what is damaged and fails; export saves the rest', async (t) => {
    const { data, disk } = await makeJournal(t);
    damage(disk);
    const { code, text } = runs(['check'], data);
    assert.equal(code, 1);
    assert.match(text, /frame 2 at byte \d+ is wrong; frame 3 at byte \d+ is the next good one/);
    assert.match(text, /The journal is damaged: frame 2/);
    assert.doesNotMatch(text, /journal check/);
    runs(['export'], data);
    const lines = readFileSync(join(data, 'journal.jsonl'), 'utf8').trim().split('\n');
    const facts = lines.map((line) => JSON.parse(line));
    assert.deepEqual(
      facts.filter(({ fact }) => fact === 'desktop').map(({ name }) => name),
      ['Ann'],
    );
    assert.equal(facts.find(({ fact }) => fact === 'accepted').event.sprite.name, 'Blob');
    assert.match(facts.find(({ problem }) => problem).problem, /frame 2 at byte \d+ is wrong/);
  });

  it('export writes no token and no invitation, for its owner only, and over no file', async (t) => {
    const { data } = await makeJournal(t);
    runs(['export'], data);
    const file = join(data, 'journal.jsonl');
    assert.doesNotMatch(readFileSync(file, 'utf8'), /token|6210279|5ec2e7/);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.throws(() => runs(['export'], data), /exists already/);
  });

  it('says where it looked when there is no journal', () => {
    assert.throws(() => runs(['check'], '/nowhere'), /There is no journal at \/nowhere\/journal; --data names/);
    assert.throws(() => runs([], '/nowhere'), /must be followed by check or export/);
  });
});
