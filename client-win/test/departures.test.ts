/** BEHAVIOUR.md, departures.vectors.json and the browser's departures agree. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { CROSSINGS_AHEAD_MAX, FORMER_TRIES_MAX, mayBeSent } from '../../server/web/relay/departures.ts';
import { createPosts } from '../../server/web/relay/posts.ts';
import { type Crossing, isBatchLost } from '../../server/web/relay/transport.ts';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const vectors = JSON.parse(read('../departures.vectors.json'));

const sender = { desktop: '1-1', token: '1-1.aa', crossings: 'http://r/v1/desktops/1-1/crossings' };
const crossing: Crossing = {
  ...{ crossing: 7, edge: 'right', at: 0.5, vx: 900, vy: 0 },
  sprite: { file: 'f', name: 'Blob', animation: 'fall', facing: 'right', scale: 2 },
};

/** What becomes of a sprite whose crossing gets this answer: `again` when it is sent once more. */
async function outcome(status: number, code: string | null, isRepeat: boolean): Promise<string> {
  let requests = 0;
  const closing = new AbortController();
  const answer = async () => {
    if (++requests > 1) closing.abort();
    if (status === 0) throw new TypeError('network');
    if (status === 202) return new Response('{"to":null}', { status });
    return new Response(code === null ? '<html>' : JSON.stringify({ code, title: '' }), { status });
  };
  const environment = { fetch: answer as typeof fetch, random: () => 0.5, sleep: async () => {} };
  const verdict = await createPosts(sender, { signal: closing.signal }, environment).send(crossing, isRepeat);
  if (verdict === 'unknown') return 'again';
  return 'refused' in verdict ? 'returned' : 'accepted';
}

describe('a throw without a verdict', () => {
  it('has the same constants in the browser and in BEHAVIOUR.md as in the vectors', () => {
    assert.deepEqual({ CROSSINGS_AHEAD_MAX, FORMER_TRIES_MAX }, vectors.constants);
    const text = read('../BEHAVIOUR.md').split('\n## A throw without a verdict\n')[1].split('\n## ')[0];
    const rows = [...text.matchAll(/^\| `([A-Z_]+)` \| ([\d ]+) \|/gm)];
    const written = Object.fromEntries(rows.map(([, name, value]) => [name, Number(value.replaceAll(' ', ''))]));
    assert.deepEqual(written, vectors.constants);
  });

  for (const { name, number, unanswered, isSent } of vectors.numbers) {
    it(`browser › a number › ${name}`, () => assert.equal(mayBeSent(number, unanswered), isSent));
  }

  for (const { name, status, code, first, repeat } of vectors.answers) {
    it(`browser › an answer › ${name}`, async () => {
      assert.equal(await outcome(status, code, false), first);
      assert.equal(await outcome(status, code, true), repeat, 'to a repeat');
    });
  }

  for (const { name, cursor, acknowledged, polls, isLost } of vectors.ends) {
    it(`browser › an end › ${name}`, () => {
      const problem = { code: 'desktop-ended', title: '', cursor: acknowledged ?? undefined };
      assert.equal(isBatchLost(problem, cursor, polls), isLost);
    });
  }
});
