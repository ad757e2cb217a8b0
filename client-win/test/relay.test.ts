/** BEHAVIOUR.md, relay.vectors.json and what the page does with a relay agree. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { seating } from '../../server/web/desktop/company_panel.ts';
import { Games } from '../../server/web/desktop/games.ts';
import type { Sprite } from '../../server/web/motion/simulation.ts';
import { Arrivals } from '../../server/web/relay/arrivals.ts';
import { Away } from '../../server/web/relay/away.ts';
import { CROSSINGS_AHEAD_MAX, FORMER_TRIES_MAX, mayBeSent } from '../../server/web/relay/departures.ts';
import { nextStep } from '../../server/web/relay/goal.ts';
import { readJourney, travelled } from '../../server/web/relay/journey.ts';
import { poll } from '../../server/web/relay/poll.ts';
import { createPosts } from '../../server/web/relay/posts.ts';
import {
  type Arrival,
  BACKOFF_MS_FIRST,
  BACKOFF_MS_MAX,
  type Crossing,
  joinPauseMs,
  lostAfter,
  pauseMsMax,
  REFUSED_MS_MAX,
  readProblem,
  readSeat,
  type Seat,
  silenceMs,
} from '../../server/web/relay/transport.ts';
import { checkCrossing } from '../../server/wire/crossing.ts';
import { BYE_MS_MAX, PING_MS, RECONNECT_MS_MAX, SILENCE_FACTOR } from '../../server/wire/rules.ts';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const vectors = JSON.parse(read('../relay.vectors.json'));

const joined = {
  ...{ desktop: '1-1', token: '1-1.aa', invitation: '1.aa', world: 'commons', cursor: '00000001-0' },
  ...{ events: 'http://r/events', crossings: 'http://r/v1/desktops/1-1/crossings', socket: 'ws://r/socket' },
} as Seat;
const crossing: Crossing = {
  ...{ crossing: 7, edge: 'right', at: 0.5, vx: 900, vy: 0 },
  sprite: { file: 'f', name: 'Blob', animation: 'fall', facing: 'right', scale: 2 },
};

interface Answer {
  /** 0 for none. */
  status: number;
  body?: unknown;
  /** In seconds. */
  retryAfter?: number;
}

function responseOf({ status, body, retryAfter }: Answer): Response {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return new Response(text, { status, headers: retryAfter === undefined ? {} : { 'retry-after': `${retryAfter}` } });
}

/** A relay that gives the answers of a case, and a sleep that adds up how long it should be. */
class Relay {
  readonly requests: { url: string; body: unknown }[] = [];
  readonly environment;
  #sleptMs = 0;
  #answer: (answer: Answer) => void = () => {};

  constructor(random = 0.5) {
    this.environment = {
      fetch: ((url: string, { signal, body }: RequestInit) => {
        this.requests.push({ url, body: JSON.parse((body as string | undefined) ?? 'null') });
        return new Promise((resolve, reject) => {
          signal?.addEventListener('abort', () => reject(new Error('aborted')));
          this.#answer = (answer) =>
            answer.status === 0 ? reject(new TypeError('network')) : resolve(responseOf(answer));
        });
      }) as typeof fetch,
      random: () => random,
      sleep: async (ms: number) => {
        this.#sleptMs += ms;
      },
    };
  }

  /** Answers the last request, and resolves when the next one is here: to how long the page waited before it. */
  async answer(answer: Answer): Promise<number> {
    const before = this.requests.length;
    this.#sleptMs = 0;
    this.#answer(answer);
    await until(() => this.requests.length > before);
    return this.#sleptMs;
  }

  /** Answers the last request: none follows. */
  answerLast(answer: Answer): void {
    this.#answer(answer);
  }
}

/** Waits for a condition, one turn of the event loop at a time. */
async function until(condition: () => boolean): Promise<void> {
  for (let turns = 0; !condition(); turns++) {
    assert.ok(turns < 1000, `never: ${condition}`);
    await turn();
  }
}

describe('what the page does with a relay', () => {
  it('has the same constants in BEHAVIOUR.md as in the vectors', () => {
    const constants = { BACKOFF_MS_FIRST, BACKOFF_MS_MAX, BYE_MS_MAX, REFUSED_MS_MAX };
    assert.deepEqual({ ...constants, CROSSINGS_AHEAD_MAX, FORMER_TRIES_MAX }, vectors.constants);
    const text = read('../BEHAVIOUR.md').split('\n## Waiting for a relay\n')[1].split('\n## Moving to')[0];
    const rows = [...text.matchAll(/^\| `([A-Z_]+)` \| ([\d ]+) \|/gm)];
    const written = Object.fromEntries(rows.map(([, name, value]) => [name, Number(value.replaceAll(' ', ''))]));
    assert.deepEqual(written, vectors.constants);
  });

  // Without an expected time, it is that of the rules.
  const usual = { silenceMs: PING_MS * SILENCE_FACTOR, pauseMsMax: RECONNECT_MS_MAX };
  for (const { name, said, ...expected } of vectors.times) {
    it(`times › ${name}`, () => {
      const seat = readSeat({ ...joined, ...said });
      const granted = { silenceMs: silenceMs(seat), pauseMsMax: pauseMsMax(seat) };
      assert.deepEqual(granted, { ...usual, ...expected });
    });
  }

  for (const { name, leaseSeconds = 30, random, steps } of vectors.polls) {
    it(`polls › ${name}`, async () => {
      const relay = new Relay(random);
      const news: { received?: number; restarts?: true; isUp?: boolean; lostAfter?: number } = {};
      const handlers = {
        connected: (is: boolean) => Object.assign(news, { isUp: is }),
        events: async ({ length }: unknown[]) => Object.assign(news, { received: length }),
        cursorLost: () => Object.assign(news, { restarts: true }),
        ended: (_: unknown, seq: number) => Object.assign(news, { lostAfter: seq }),
      };
      const transport = poll(readSeat({ ...joined, leaseSeconds }), handlers as never, relay.environment);
      for (const { answer, waitMs, poll: cursor, ...expected } of steps) {
        news.restarts = undefined;
        if (cursor === undefined) {
          relay.answerLast(answer);
          await until(() => news.lostAfter !== undefined);
          assert.equal(news.lostAfter, expected.lostAfter ?? Number.POSITIVE_INFINITY);
        } else {
          assert.equal(await relay.answer(answer), waitMs);
          assert.equal(relay.requests.at(-1)?.url, `http://r/events?cursor=${cursor}`);
          assert.equal(news.restarts, expected.restarts);
          assert.partialDeepStrictEqual(news, expected);
        }
      }
      transport.close();
    });
  }

  for (const { name, answers, waitsMs } of vectors.joins) {
    it(`joins › ${name}`, async () => {
      const problems = await Promise.all(
        answers.map((answer: Answer) => (answer.status === 0 ? undefined : readProblem(responseOf(answer)))),
      );
      const waits = problems.map((problem, attempt) => joinPauseMs(attempt, () => 0.5, problem));
      assert.deepEqual(waits, waitsMs);
    });
  }

  for (const { name, number, unanswered, isSent } of vectors.numbers) {
    it(`numbers of throws › ${name}`, () => assert.equal(mayBeSent(number, unanswered), isSent));
  }

  for (const { name, answer, first, repeat } of vectors.answers) {
    for (const [isRepeat, expected] of [
      [false, first],
      [true, repeat],
    ]) {
      it(`answers to a ${isRepeat ? 'repeat' : 'throw'} › ${name}`, async () => {
        const relay = new Relay();
        const closing = new AbortController();
        const verdict = createPosts(joined, closing, relay.environment).send(crossing, isRepeat);
        relay.answerLast(answer);
        const isAgain = until(() => relay.requests.length > 1).then(
          () => 'again',
          () => 'never',
        );
        const outcome = await Promise.race([verdict, isAgain]);
        closing.abort();
        assert.equal(typeof outcome === 'string' ? outcome : 'refused' in outcome ? 'returned' : 'accepted', expected);
      });
    }
  }

  for (const kind of ['throws', 'sayings'] as const) {
    for (const { name, answers, waitsMs, outcome, to, heard } of vectors[kind]) {
      it(`${kind} › ${name}`, async () => {
        const relay = new Relay();
        const posts = createPosts(joined, new AbortController(), relay.environment);
        const saying = { saying: 7, text: 'Hi' };
        const answered = kind === 'throws' ? posts.send(crossing, false) : posts.say(saying);
        const waited: number[] = [];
        for (const answer of answers.slice(0, -1)) waited.push(await relay.answer(answer));
        relay.answerLast(answers.at(-1));
        const verdict = await answered;
        assert.deepEqual(waited, waitsMs);
        const request =
          kind === 'throws'
            ? { url: joined.crossings, body: crossing }
            : { url: 'http://r/v1/desktops/1-1/sayings', body: saying };
        for (const one of relay.requests) assert.deepEqual(one, request);
        assert.ok(verdict !== 'unknown');
        assert.equal('refused' in verdict ? verdict.refused.code : 'accepted', outcome);
        if ('to' in verdict) assert.equal(verdict.to?.name ?? null, to);
        if ('heard' in verdict) assert.equal(verdict.heard, heard);
      });
    }
  }

  for (const { name, cursor, acknowledged, polls, lostAfter: expected } of vectors.ends) {
    it(`ends of a seat › ${name}`, () => {
      const problem = { code: 'desktop-ended', title: '', cursor: acknowledged ?? undefined };
      assert.equal(lostAfter(problem, cursor, polls), expected ?? Number.POSITIVE_INFINITY);
    });
  }

  for (const { name, goal, self, beyond, next } of vectors.goals) {
    it(`thrown to a friend › ${name}`, () => {
      const named = Object.entries(beyond).map(([edge, one]) => [edge, { desktop: '9-3e', name: one }]);
      assert.deepEqual(nextStep(goal, self, Object.fromEntries(named)), next);
    });
  }

  for (const { name, answer, picture, people, isWhole } of vectors.companies) {
    it(`who is here › ${name}`, () => {
      const { others, ...seats } = seating(answer);
      assert.deepEqual(seats, picture);
      assert.deepEqual([answer.desktops - answer.residents, others === 0], [people, isWhole]);
    });
  }

  for (const { name, journey, thrower, author, nowS, next } of vectors.journeys) {
    it(`journeys › ${name}`, () => {
      const said = { name: thrower, author, nowMs: nowS * 1000 };
      assert.deepEqual(travelled(readJourney(journey), said), next);
      const given = { ...crossing, sprite: { ...crossing.sprite, file: 'a'.repeat(64), journey: next } };
      assert.doesNotThrow(() => checkCrossing(given), 'the relay accepts it');
    });
  }

  for (const { name, steps, away: left } of vectors.away) {
    it(`sprites that are away › ${name}`, () => {
      const away = new Away();
      for (const { does, file, journey, nowS, to, isOwn = false, home } of steps) {
        const leaving = { sprite: { file, name: 'Miso' }, journey: readJourney(journey) };
        if (does === 'leave') away.leave(leaving, nowS);
        else if (does === 'accept') away.accept(leaving, to, nowS);
        else if (does === 'refuse') away.refuse(leaving);
        else assert.deepEqual(away.comeHome(file, leaving.journey, isOwn) ?? null, home);
      }
      assert.deepEqual(away.all, left);
    });
  }

  for (const { name, steps } of vectors.games) {
    it(`games › ${name}`, () => {
      let said: string[] = [];
      const tell = (words: string) => said.push(words.replace('game.', ''));
      const tags = new Map<Sprite, string>();
      const tag = (sprite: Sprite, words: string) => tags.set(sprite, words);
      const games = new Games({ tags, tag, announce: tell, over: tell });
      const all = new Map<number, Sprite>();
      const here = new Set<Sprite>();
      for (const { atMs, does, sprite: number, animation, luck, mode, says = [] } of steps) {
        if (does === 'arrive' || does === 'stand') {
          const added = { file: 'f', name: 'Miso', mode: does === 'arrive' ? 'fall' : 'idle' } as Sprite;
          all.set(number, added);
          here.add(added);
          if (does === 'arrive') games.arrived(added, animation, atMs);
        }
        const sprite = all.get(number)!;
        if (does === 'light') games.light(sprite, luck, atMs);
        if (does === 'mode') sprite.mode = mode;
        if (does === 'leave') {
          assert.equal(games.animationOf(sprite, atMs) ?? 'fall', animation);
          here.delete(sprite);
        }
        if (does === 'accept') games.gone(sprite);
        if (does === 'refuse') here.add(sprite);
        games.step([...here], atMs);
        assert.deepEqual(said, says, `at ${atMs}`);
        said = [];
      }
    });
  }

  it('games › shows which sprite is hot, as long as it is', () => {
    const tags = new Map<Sprite, string>();
    const tag = (sprite: Sprite, words: string) => tags.set(sprite, words);
    const games = new Games({ tags, tag, announce: () => {}, over: () => {} });
    const sprite = { file: 'f', name: 'Miso', mode: 'idle' } as Sprite;
    games.light(sprite, 0, 0);
    assert.deepEqual([...tags], [[sprite, 'game.hot']]);
    tags.clear();
    games.step([sprite], 14_999);
    assert.deepEqual([...tags], [[sprite, '🔥']]);
    games.step([sprite], 15_000);
    assert.equal(tags.size, 0);
  });

  for (const { name, room, steps } of vectors.arrivals) {
    it(`arrivals › ${name}`, () => {
      const inside: number[] = [];
      let roomNow = room;
      const arrivals = new Arrivals({
        enter: ({ seq }) => (inside.length < roomNow && inside.push(seq) ? ({ x: seq } as Sprite) : null),
        remove: ({ x }) => inside.splice(inside.indexOf(x), 1),
      });
      for (const { batch, room: newRoom, restart, lostAfter: seq, ...expected } of steps) {
        if (batch)
          arrivals.receive([
            { type: 'ping' },
            ...batch.map((number: number) => ({ type: 'sprite', seq: number }) as Arrival),
          ]);
        if (restart) arrivals.restart();
        if (seq !== undefined) arrivals.removeAfter(seq);
        roomNow = newRoom ?? roomNow;
        if (newRoom) arrivals.admitWaiting();
        assert.deepEqual({ inside, waiting: arrivals.waiting.map((one) => one.seq) }, expected);
      }
    });
  }
});
