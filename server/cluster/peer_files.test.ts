import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PretendNetwork } from '../test/pretend_network.ts';
import { hashOf, largeSprFile, sprFile } from '../test/spr_file.ts';
import {
  ANSWER_MS,
  ANSWERS_MAX,
  ANSWERS_WAITING_MAX,
  FETCHES_MAX,
  FETCHES_WAITING_MAX,
  type Fetched,
  PeerFiles,
} from './peer_files.ts';

const folders: string[] = [];

/** Relays that have these files, and where each has a file from. */
class Files {
  readonly network = new PretendNetwork(() => 0.5);
  readonly of: Record<string, PeerFiles> = {};
  questions = 0;
  #nowMs = 0;

  add(name: string, senders: Record<string, string>, ...files: Buffer[]): PeerFiles {
    const data = mkdtempSync(join(tmpdir(), 'sprites-peer-files-'));
    folders.push(data);
    for (const bytes of files) {
      const file = hashOf(bytes);
      mkdirSync(join(data, 'sprites', file.slice(0, 2)), { recursive: true });
      writeFileSync(join(data, 'sprites', file.slice(0, 2), `${file}.spr`), bytes);
    }
    const network = this.network.node();
    const request = network.request.bind(network);
    network.request = (...args) => {
      this.questions++;
      return request(...args);
    };
    const made = new PeerFiles({ name, network, data, senderOf: (file) => senders[file] });
    this.of[name] = made;
    return made;
  }

  /** Carries messages until all are fetched. */
  async settle<T>(fetches: Promise<T>[]): Promise<T[]> {
    let isOver = false;
    const all = Promise.all(fetches).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      this.#nowMs++;
      this.network.advance(this.#nowMs);
      await nextTurn();
    }
    return all;
  }
}

/** A relay that fetches so many files from one that has none of them. */
function fetchMissing(count: number, client?: string): { files: Files; fetches: Promise<Fetched>[] } {
  const files = new Files();
  files.add('r1', {});
  const hashes = Array.from({ length: count }, (_, n) => n.toString(16).padStart(64, '0'));
  const r2 = files.add('r2', Object.fromEntries(hashes.map((hash) => [hash, 'r1'])));
  return { files, fetches: hashes.map((hash) => r2.fetch(hash, client)) };
}

const isSame = (fetched: Fetched, bytes: Buffer) => Buffer.isBuffer(fetched) && fetched.equals(bytes);

after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await nextTurn();
}

describe('sprite files of peers', () => {
  it('come whole from the relay that sent the sprite, large ones too', async () => {
    for (const bytes of [sprFile(), largeSprFile()]) {
      const files = new Files();
      files.add('r1', {}, bytes);
      const r2 = files.add('r2', { [hashOf(bytes)]: 'r1' });
      const [fetched] = await files.settle([r2.fetch(hashOf(bytes), undefined)]);
      assert.ok(isSame(fetched, bytes));
    }
  });

  it('are fetched once, however many ask', async () => {
    const bytes = sprFile();
    const files = new Files();
    files.add('r1', {}, bytes);
    const r2 = files.add('r2', { [hashOf(bytes)]: 'r1' });
    const all = await files.settle(Array.from({ length: 50 }, () => r2.fetch(hashOf(bytes), undefined)));
    assert.ok(all.every((fetched) => isSame(fetched, bytes)));
    assert.equal(files.questions, 1);
    assert.equal(r2.fetched, 1);
  });

  it('are fetched through a relay that has the sprite, but not the file', async () => {
    const bytes = sprFile();
    const files = new Files();
    files.add('r1', {}, bytes);
    files.add('r2', { [hashOf(bytes)]: 'r1' });
    const r3 = files.add('r3', { [hashOf(bytes)]: 'r2' });
    const [fetched] = await files.settle([r3.fetch(hashOf(bytes), undefined)]);
    assert.ok(isSame(fetched, bytes));
  });

  it('are missing when relays know of one only from each other', async () => {
    const file = 'ab'.repeat(32);
    const files = new Files();
    const r1 = files.add('r1', { [file]: 'r2' });
    files.add('r2', { [file]: 'r1' });
    assert.deepEqual(await files.settle([r1.fetch(file, undefined)]), [undefined]);
  });

  it('are not asked for when no peer has sent them, and not when the name is not a hash', async () => {
    const files = new Files();
    const r1 = files.add('r1', { '../../etc/passwd': 'r2' });
    files.add('r2', {});
    assert.deepEqual(
      await files.settle([r1.fetch('ab'.repeat(32), undefined), r1.fetch('../../etc/passwd', undefined)]),
      [undefined, undefined],
    );
    assert.equal(files.questions, 0);
  });

  it('are reported as missing when a question is malformed', async () => {
    const bytes = sprFile();
    const files = new Files();
    files.add('r1', {}, bytes);
    const node = files.network.node();
    const subject = 'sprites.files.r1';
    const past = Buffer.alloc(68);
    past.write(hashOf(bytes), 'latin1');
    past.writeUInt32LE(0xffffffff, 64);
    for (const question of [Buffer.alloc(0), Buffer.alloc(68), Buffer.from('../'.repeat(30)), past]) {
      const [answer] = await files.settle([node.request(subject, question, 1000)]);
      assert.deepEqual([...answer], [0]);
    }
    node.subscribe('sprites.files.bad', (_, answer) => answer?.(Buffer.from([1, 255, 255, 255, 255, 7])));
    const r2 = files.add('r2', { [hashOf(bytes)]: 'bad', ['cd'.repeat(32)]: 'nobody' });
    assert.deepEqual(await files.settle([r2.fetch(hashOf(bytes), undefined), r2.fetch('cd'.repeat(32), undefined)]), [
      undefined,
      'unanswered',
    ]);
  });

  it('are refused when a part has no bytes, or more than the relay that sends them says: as many, one more', async () => {
    const files = new Files();
    const file = 'ab'.repeat(32);
    const node = files.network.node();
    for (const [name, answered] of [
      ['honest', [1, 2, 0, 0, 0, 7, 8]],
      ['longer', [1, 2, 0, 0, 0, 7, 8, 9]],
      ['endless', [1, 2, 0, 0, 0]],
    ] as const) {
      node.subscribe(`sprites.files.${name}`, (_, answer) => answer?.(Buffer.from(answered)));
      const [fetched] = await files.settle([files.add(`asks ${name}`, { [file]: name }).fetch(file, undefined)]);
      assert.deepEqual(fetched, name === 'honest' ? Buffer.from([7, 8]) : undefined, name);
    }
  });

  it('are fetched FETCHES_MAX at a time', async () => {
    for (const count of [FETCHES_MAX - 1, FETCHES_MAX, FETCHES_MAX + 1]) {
      const { files, fetches } = fetchMissing(count);
      await nextTurn();
      assert.equal(files.questions, Math.min(count, FETCHES_MAX));
      await files.settle(fetches);
      assert.equal(files.questions, count);
    }
  });

  it('wait in a queue of FETCHES_WAITING_MAX, and one more is refused', async () => {
    for (const more of [-1, 0, 1]) {
      const { files, fetches } = fetchMissing(FETCHES_MAX + FETCHES_WAITING_MAX + more);
      const fetched = await files.settle(fetches);
      assert.equal(fetched.filter((one) => one === 'refused').length, Math.max(0, more));
    }
  });

  it('are fetched for one client in a third of the places: one below, at the limit, one above', async () => {
    const third = (FETCHES_MAX + FETCHES_WAITING_MAX) / 3;
    for (const more of [-1, 0, 1]) {
      const { files, fetches } = fetchMissing(third + more, '192.0.2.1');
      const fetched = await files.settle(fetches);
      assert.equal(fetched.filter((one) => one === 'refused').length, Math.max(0, more));
    }
  });

  it('are read ANSWERS_MAX at a time for others; ANSWERS_WAITING_MAX wait, and one more is reported as missing', async () => {
    const bytes = sprFile();
    const files = new Files();
    files.add('r1', {}, bytes);
    const node = files.network.node();
    const question = Buffer.alloc(68);
    question.write(hashOf(bytes), 'latin1');
    for (const more of [-1, 0, 1]) {
      const count = ANSWERS_MAX + ANSWERS_WAITING_MAX + more;
      const asked = Array.from({ length: count }, () => node.request('sprites.files.r1', question, 60_000));
      const answers = await files.settle(asked);
      assert.equal(answers.filter((answer) => answer[0] === 0).length, Math.max(0, more));
    }
  });

  it('are answered within ANSWER_MS: one below, at the limit, one above', async () => {
    const bytes = sprFile();
    for (const ms of [ANSWER_MS - 1, ANSWER_MS, ANSWER_MS + 1]) {
      const files = new Files();
      files.add('r1', {}, bytes);
      const r2 = files.add('r2', { [hashOf(bytes)]: 'r1' });
      const { network } = files;
      // Half of it each way.
      network.faults.delayMs = ms;
      const fetch = r2.fetch(hashOf(bytes), undefined);
      await until(() => network.onTheWay === 2); // the question, and the end of the time for its answer
      network.advance(ms / 2);
      await until(() => network.onTheWay === 2); // the answer
      network.advance(ms);
      const fetched = await fetch;
      if (ms < ANSWER_MS) assert.ok(isSame(fetched, bytes));
      else assert.equal(fetched, 'unanswered', `after ${ms} ms`);
    }
  });

  it('can be asked for again when the relay that has one did not answer in time', async () => {
    const bytes = sprFile();
    const files = new Files();
    files.add('r1', {}, bytes);
    const r2 = files.add('r2', { [hashOf(bytes)]: 'r1' });
    files.network.faults.lost = 1;
    assert.deepEqual(await files.settle([r2.fetch(hashOf(bytes), undefined)]), ['unanswered']);
    files.network.faults.lost = 0;
    const [fetched] = await files.settle([r2.fetch(hashOf(bytes), undefined)]);
    assert.ok(isSame(fetched, bytes));
  });
});
