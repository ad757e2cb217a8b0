import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ProblemError } from '../wire/problem.ts';
import { FetchedSprites } from './fetched_sprites.ts';

const FILE = 'ab'.repeat(32);
const isBusy = (error: unknown) => error instanceof ProblemError && error.document.code === 'relay-busy';

/** The files of a worker whose master the test plays. `queries` are the clients that it asks for. */
function begin(put = async (_client: string | undefined) => {}) {
  const queries: (string | undefined)[] = [];
  const answers: ((status: number) => void)[] = [];
  const worker = {
    query: (_name: string, _desktop: unknown, json?: string) =>
      new Promise((resolve) => {
        queries.push(JSON.parse(json ?? '').client);
        answers.push((status) => resolve({ status, body: Buffer.from('bytes') }));
      }),
  };
  const store = {
    checkName: () => {},
    put: (_file: string, _bytes: Buffer, client: string | undefined) => put(client),
  };
  const files = new FetchedSprites(worker as never, store as never, { checkUpload: () => {} } as never);
  return { files, queries, answers };
}

describe('sprite files that a worker fetches', () => {
  it('are fetched once for all that ask meanwhile, and again for those that ask later', async () => {
    for (const [status, isStored] of [
      [200, true],
      [404, false],
    ] as const) {
      const { files, queries, answers } = begin();
      const both = [files.fetch(FILE, 'ann'), files.fetch(FILE, 'bob')];
      answers[0](status);
      assert.deepEqual(await Promise.all(both), [isStored, isStored]);
      assert.deepEqual(queries, ['ann']);
      const later = files.fetch(FILE, 'bob');
      answers[1](status);
      assert.equal(await later, isStored);
    }
  });

  it('are fetched for each client in turn while the shares of those before are used up', async () => {
    const { files, queries, answers } = begin();
    const asked = ['ann', 'bob', 'ann', 'cora', 'dan'].map((client) => files.fetch(FILE, client));
    const settled = Promise.allSettled(asked);
    answers[0](429);
    while (queries.length < 2) await turn();
    answers[1](429);
    while (queries.length < 3) await turn();
    answers[2](200);
    const outcomes = (await settled).map((one) => (one.status === 'fulfilled' ? one.value : isBusy(one.reason)));
    assert.deepEqual(queries, ['ann', 'bob', 'cora']);
    assert.deepEqual(
      (await settled).map(({ status }) => status),
      ['rejected', 'rejected', 'rejected', 'fulfilled', 'fulfilled'],
    );
    assert.deepEqual(outcomes, [true, true, true, true, true]);
  });

  it('are fetched for the next client when only the checks of the one before are too many', async () => {
    const { files, queries, answers } = begin(async (client) => {
      if (client === 'ann') throw new ProblemError('relay-busy', 'Too many checks.');
    });
    const [ann, bob] = [files.fetch(FILE, 'ann'), files.fetch(FILE, 'bob')];
    answers[0](200);
    await assert.rejects(ann, isBusy);
    while (queries.length < 2) await turn();
    answers[1](200);
    assert.equal(await bob, true);
  });

  it('are refused to all at once when the other relay does not answer', async () => {
    const { files, queries, answers } = begin();
    const both = [files.fetch(FILE, 'ann'), files.fetch(FILE, 'bob')];
    answers[0](503);
    for (const one of both) await assert.rejects(one, isBusy);
    assert.deepEqual(queries, ['ann']);
  });
});
