import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FILES_MAX, FILES_PER_DESKTOP_MAX, FileSenders } from './file_senders.ts';

/** As many desktops as it takes name as many files, of which `0` is the first. */
function noteMany(senders: FileSenders, files: number): void {
  for (let file = 0; file < files; file++) {
    senders.note(`${file}`, 'b', `${Math.floor(file / FILES_PER_DESKTOP_MAX)}`);
  }
}

describe('the senders of sprite files', () => {
  it('are the relays that have named each file last', () => {
    const senders = new FileSenders();
    assert.equal(senders.relayOf('cat'), undefined);
    senders.note('cat', 'b', '1-1');
    assert.equal(senders.relayOf('cat'), 'b');
    senders.note('cat', 'c', '1-1');
    assert.equal(senders.relayOf('cat'), 'c');
  });

  it('are remembered for FILES_MAX files, and then the oldest is forgotten: one below, at the limit, one above', () => {
    for (const [files, relay] of [
      [FILES_MAX - 1, 'b'],
      [FILES_MAX, 'b'],
      [FILES_MAX + 1, undefined],
    ] as const) {
      const senders = new FileSenders();
      noteMany(senders, files);
      assert.equal(senders.relayOf('1'), 'b');
      assert.equal(senders.relayOf('0'), relay, `${files} files`);
    }
  });

  it('are remembered for FILES_PER_DESKTOP_MAX files of a desktop: one below, at the limit, one above', () => {
    for (const [files, relay] of [
      [FILES_PER_DESKTOP_MAX - 1, 'b'],
      [FILES_PER_DESKTOP_MAX, 'b'],
      [FILES_PER_DESKTOP_MAX + 1, undefined],
    ] as const) {
      const senders = new FileSenders();
      for (let file = 0; file < files; file++) senders.note(`${file}`, 'b', '1-1');
      assert.equal(senders.relayOf('1'), 'b');
      assert.equal(senders.relayOf('0'), relay, `${files} files`);
    }
  });

  it('are not forgotten because two other desktops name files without end', () => {
    const senders = new FileSenders();
    senders.note('cat', 'b', '1-1');
    for (let file = 0; file < 2 * FILES_MAX; file++) senders.note(`${file}`, 'b', file % 2 === 0 ? '2-1' : '3-1');
    assert.equal(senders.relayOf('cat'), 'b');
  });

  it('are not forgotten because another desktop has named the file too', () => {
    const senders = new FileSenders();
    senders.note('cat', 'b', '1-1');
    senders.note('cat', 'b', '2-1');
    for (let file = 0; file < FILES_PER_DESKTOP_MAX; file++) senders.note(`${file}`, 'b', '2-1');
    assert.equal(senders.relayOf('cat'), 'b');
  });

  it('count for a desktop of one relay, whatever a desktop of another one with its id does', () => {
    const senders = new FileSenders();
    senders.note('cat', 'b', '1-1');
    for (let file = 0; file < FILES_PER_DESKTOP_MAX; file++) senders.note(`${file}`, 'c', '1-1');
    assert.equal(senders.relayOf('cat'), 'b');
  });

  it('make room in the share of a desktop when they are forgotten for others', () => {
    const senders = new FileSenders();
    senders.note('cat', 'b', 'ann');
    noteMany(senders, FILES_MAX);
    assert.equal(senders.relayOf('cat'), undefined);
    for (let file = 0; file < FILES_PER_DESKTOP_MAX; file++) senders.note(`ann’s ${file}`, 'b', 'ann');
    assert.equal(senders.relayOf('ann’s 0'), 'b');
  });
});
