import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Edge } from '../../wire/rules.ts';
import { ALIVE_MS, POST_GAP_MS, RETRY_MS, StagePosts } from './stage_posts.ts';
import type { Stage, StageVerdict } from './transport.ts';

const refused = (code: string): StageVerdict => ({ refused: { code, title: '' } });

/** A desktop with a sprite of each of some files. The test sets their place, and the time. */
function begin() {
  const state = { nowMs: 10_000, x: 100, files: ['a'] };
  const posted: { ms: number; stage: Stage; answer: (verdict: StageVerdict) => void }[] = [];
  const signs: string[] = [];
  const posts = new StagePosts({
    now: () => state.nowMs,
    stage: (_, without) => {
      const files = state.files.filter((file) => !without.has(file));
      return { width: 900, height: 600, files, sprites: files.map((_, id) => ({ id, file: id, x: state.x, y: 600 })) };
    },
    post: (stage) => new Promise((answer) => posted.push({ ms: state.nowMs, stage, answer })),
    watched: (edges) => signs.push(edges.join(' ')),
  });
  const answer = async (verdict: StageVerdict) => {
    posted.at(-1)!.answer(verdict);
    await turn();
  };
  /** Ticks as often as a page does, until so many ms have passed. */
  const pass = async (ms: number, edges: Edge[] = ['left']) => {
    for (const untilMs = state.nowMs + ms; state.nowMs < untilMs; ) {
      state.nowMs += 10;
      const before = posted.length;
      posts.tick();
      if (posted.length > before) await answer({ edges });
    }
  };
  return { state, posts, posted, signs, answer, pass };
}

describe('the posts of a stage', () => {
  it('begin when somebody watches, and end when nobody does', async () => {
    const { posts, posted, signs, pass } = begin();
    await pass(5_000);
    assert.equal(posted.length, 0);
    posts.watched(['left']);
    assert.equal(posted.length, 1, 'at once');
    posted[0].answer({ edges: ['left'] });
    await turn();
    posts.watched([]);
    await pass(5_000);
    assert.equal(posted.length, 1);
    assert.deepEqual(signs, ['left', '']);
  });

  it('end when an answer says that nobody watches, unless an event has come in between', async () => {
    const { posts, posted, answer, pass, signs } = begin();
    posts.watched(['left']);
    posts.watched(['left', 'top']);
    await answer({ edges: [] });
    await pass(POST_GAP_MS);
    assert.equal(posted.length, 2);
    posts.watched(['top']);
    await pass(POST_GAP_MS, []);
    assert.equal(posted.length, 3);
    await pass(5_000);
    assert.equal(posted.length, 3);
    assert.equal(signs.at(-1), '');
  });

  it(`come when something has changed, at most one in ${POST_GAP_MS} ms, and every ${ALIVE_MS} ms as a sign of life`, async () => {
    const { state, posts, posted, answer, pass } = begin();
    posts.watched(['left']);
    await answer({ edges: ['left'] });
    await pass(ALIVE_MS - 10);
    assert.equal(posted.length, 1);
    await pass(10);
    assert.equal(posted.length, 2);
    state.x += 50;
    await pass(10);
    assert.equal(posted.length, 2, 'too early');
    await pass(POST_GAP_MS);
    assert.equal(posted.length, 3);
    for (let i = 0; i < 100; i++) {
      state.x += 10;
      await pass(10);
    }
    assert.ok(posted.length <= 3 + 1000 / POST_GAP_MS, `${posted.length}`);
    for (const [i, { ms }] of posted.entries()) if (i > 0) assert.ok(ms - posted[i - 1].ms >= POST_GAP_MS);
  });

  it('wait for their answers', async () => {
    const { state, posts, posted, answer } = begin();
    posts.watched(['left']);
    state.x += 50;
    state.nowMs += 60_000;
    posts.tick();
    assert.equal(posted.length, 1);
    await answer({ edges: ['left'] });
    posts.tick();
    assert.equal(posted.length, 2);
  });

  it('rest after a refusal and a lost post, and then send what was lost', async () => {
    for (const verdict of [refused('too-fast'), 'unknown'] as const) {
      const { posts, posted, answer, pass } = begin();
      posts.watched(['left']);
      await answer(verdict);
      await pass(RETRY_MS - 10);
      assert.equal(posted.length, 1);
      await pass(10);
      assert.equal(posted.length, 2);
    }
  });

  it('leave out pictures that the relay does not carry, and end after any other refusal', async () => {
    const { state, posts, posted, answer, pass, signs } = begin();
    posts.watched(['left']);
    await answer({ edges: ['left'] });
    state.files = ['a', 'banned'];
    await pass(POST_GAP_MS - 10);
    state.nowMs += 10;
    posts.tick();
    await answer(refused('picture-refused'));
    await pass(RETRY_MS);
    assert.deepEqual(
      posted.map(({ stage }) => stage.files),
      [['a'], ['a', 'banned'], ['a']],
    );
    state.x += 50;
    await pass(POST_GAP_MS - 10);
    state.nowMs += 10;
    posts.tick();
    await answer(refused('not-found'));
    await pass(5_000);
    assert.equal(posted.length, 4);
    assert.equal(signs.at(-1), '');
  });
});
