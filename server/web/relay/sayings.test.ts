import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { PROBLEM_TEXTS, TEXTS } from '../texts/texts.ts';
import { Sayings, sizeBytes, tidy } from './sayings.ts';
import type { Saying, SayingVerdict, Transport } from './transport.ts';

const textContent = JSON.stringify({ texts: TEXTS.en, problems: PROBLEM_TEXTS.en });
Object.assign(globalThis, { document: { documentElement: { lang: 'en' }, getElementById: () => ({ textContent }) } });
const { heardWords, missedWords, refusalWords } = await import('../desktop/saying_words.ts');

/** A transport whose verdicts the test gives. */
class ManualTransport implements Transport {
  readonly said: { saying: Saying; answer: (verdict: SayingVerdict) => void }[] = [];
  send = async () => 'unknown' as const;
  show = async () => 'unknown' as const;
  peek = async () => 'unknown' as const;
  say(saying: Saying): Promise<SayingVerdict> {
    return new Promise((answer) => this.said.push({ saying, answer }));
  }
  close(): void {
    for (const { answer } of this.said) answer('unknown');
  }
}

function begin() {
  const log: string[] = [];
  const sayings = new Sayings({
    save: () => log.push(`save ${sayings.nextNumber} ${sayings.pending?.text ?? '-'}`),
    accepted: ({ text }, heard) => log.push(`${text}: heard by ${heard}`),
    refused: ({ text }, { code }) => log.push(`${text}: ${code}`),
  });
  const transport = new ManualTransport();
  sayings.use(transport);
  const said = () => transport.said.map(({ saying }) => saying);
  return { sayings, transport, said, log };
}

describe('sayings', () => {
  it('are saved before they are sent, and have rising numbers', async () => {
    const { sayings, transport, said, log } = begin();
    assert.ok(sayings.say('a'));
    assert.deepEqual(log, ['save 2 a']);
    transport.said[0].answer({ heard: 3 });
    await turn();
    assert.ok(sayings.say('b'));
    assert.deepEqual(said(), [
      { saying: 1, text: 'a' },
      { saying: 2, text: 'b' },
    ]);
    assert.deepEqual(log, ['save 2 a', 'save 2 -', 'a: heard by 3', 'save 3 b']);
  });

  it('are said one at a time: a second one is not accepted before the first has its answer', async () => {
    const { sayings, transport, said } = begin();
    sayings.say('a');
    assert.equal(sayings.say('b'), false);
    assert.equal(said().length, 1);
    transport.said[0].answer({ refused: { code: 'too-fast', title: '' } });
    await turn();
    assert.ok(sayings.say('b'));
  });

  it('are sent again over a new connection, under the same number, and answered once', async () => {
    const { sayings, transport, log } = begin();
    sayings.say('a');
    const next = new ManualTransport();
    sayings.use(next);
    transport.close();
    await turn();
    assert.deepEqual(
      next.said.map(({ saying }) => saying),
      [{ saying: 1, text: 'a' }],
    );
    next.said[0].answer({ heard: null });
    await turn();
    assert.deepEqual(log.slice(1), ['save 2 -', 'a: heard by null']);
  });

  it('are answered once when the former connection has the answer after all', async () => {
    const { sayings, transport, log } = begin();
    sayings.say('a');
    const next = new ManualTransport();
    sayings.use(next);
    transport.said[0].answer({ heard: 1 });
    await turn();
    next.said[0].answer({ heard: 1 });
    await turn();
    assert.deepEqual(log.slice(1), ['save 2 -', 'a: heard by 1']);
  });

  it('are sent again after a reload, under the same number, and the numbers go on from there', async () => {
    const { sayings, transport, said } = begin();
    sayings.resume({ nextNumber: 18, pending: { saying: 17, text: 'a' } });
    sayings.use(transport);
    transport.said[0].answer({ heard: 0 });
    await turn();
    sayings.say('b');
    assert.deepEqual(
      said().map(({ saying }) => saying),
      [17, 18],
    );
  });

  it('come back when the seat ended before the relay answered', async () => {
    const { sayings, transport, log } = begin();
    sayings.say('a');
    transport.close();
    await turn();
    assert.deepEqual(log.slice(1), ['save 2 -', 'a: desktop-ended']);
    assert.equal(sayings.pending, null);
  });

  it('have a text of at most as many bytes as the relay accepts, counted as the relay stores it', () => {
    for (const [text, tidied, bytes] of [
      ['', '', 0],
      ['   ', '', 0],
      [' a ', 'a', 1],
      ['Cafe\u0301', 'Café', 5],
      ['猫', '猫', 3],
      ['😀', '😀', 4],
    ] as const) {
      assert.equal(tidy(text), tidied);
      assert.equal(sizeBytes(tidy(text)), bytes, text);
    }
  });

  it('are answered in plain words', () => {
    assert.deepEqual([null, 0, 1, 3, 1023].map(heardWords), [
      'Said.',
      'Nobody is here to hear you.',
      '1 heard you.',
      '3 heard you.',
      '1,023 heard you.',
    ]);
    assert.deepEqual([1, 12].map(missedWords), ['1 saying was missed', '12 sayings were missed']);
    const words = (code: string) => refusalWords({ code, title: 'Title', detail: 'Detail' });
    assert.match(words('too-fast'), /too fast/);
    assert.match(words('sayings-off'), /turned sayings off/);
    assert.match(words('malformed'), /cannot be said/);
    for (const code of ['relay-busy', 'draining', 'http-502']) assert.match(words(code), /busy/, code);
    assert.equal(words('a-new-code'), 'Detail');
    assert.equal(refusalWords({ code: 'a-new-code', title: 'Title' }), 'Title');
  });
});
