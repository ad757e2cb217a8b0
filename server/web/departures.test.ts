import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { CROSSINGS_AHEAD_MAX, Departures } from './departures.ts';
import { addSprite, createSimulation, type Departure } from './simulation.ts';
import type { Crossing, Transport, Verdict } from './transport.ts';

const nature = { width: 1, height: 1, walkSpeed: 1, jumpSpeed: 1, gravity: 1, bounce: 0 };

function departure(name: string): Departure {
  const place = { scale: 2, fromShelf: true, nature, facing: 'right', x: 0, y: 0 } as const;
  return {
    sprite: addSprite(createSimulation(9, 9), { file: 'f', name, ...place }),
    edge: 'right',
    at: 0.5,
    vx: 900,
    vy: 0,
  };
}

/** A transport whose verdicts the test gives. */
class ManualTransport implements Transport {
  readonly sent: { crossing: Crossing; answer: (verdict: Verdict) => void }[] = [];
  send(crossing: Crossing): Promise<Verdict> {
    return new Promise((answer) => this.sent.push({ crossing, answer }));
  }
  say = async () => 'unknown' as const;
  show = async () => 'unknown' as const;
  close(): void {
    for (const { answer } of this.sent) answer('unknown');
  }
}

function begin() {
  const log: string[] = [];
  const departures = new Departures({
    save: () => {},
    accepted: ({ sprite }, to) => log.push(`${sprite.name} to ${to?.name}`),
    returned: ({ sprite }, { code }) => log.push(`${sprite.name} back: ${code}`),
  });
  const transport = new ManualTransport();
  departures.use(transport);
  return { departures, transport, log };
}

const numbers = (transport: ManualTransport) => transport.sent.map(({ crossing }) => crossing.crossing);

describe('departures', () => {
  it('keeps a sprite until the relay has it, and returns it when it is refused', async () => {
    const { departures, transport, log } = begin();
    departures.depart(departure('a'));
    departures.depart(departure('b'));
    assert.deepEqual(numbers(transport), [1, 2]);
    assert.equal(departures.pending.length, 2);
    transport.sent[1].answer({ refused: { code: 'mailbox-full', title: '' } });
    transport.sent[0].answer({ to: { desktop: '1-1', name: 'Ada' } });
    await turn();
    assert.deepEqual(log, ['b back: mailbox-full', 'a to Ada']);
    assert.equal(departures.pending.length, 0);
  });

  it('sends pending sprites again over a new connection, under the same number, once', async () => {
    const { departures, transport, log } = begin();
    departures.depart(departure('a'));
    const next = new ManualTransport();
    departures.use(next);
    transport.close();
    await turn();
    assert.deepEqual(numbers(next), [1]);
    assert.deepEqual(log, []);
    next.sent[0].answer({ to: null });
    await turn();
    assert.deepEqual(log, ['a to undefined']);
  });

  it('continues the numbers from before a reload', () => {
    const { departures, transport } = begin();
    const { sprite, ...movement } = departure('a');
    const crossingSprite = { file: 'f', name: 'a', animation: 'fall', facing: 'right', scale: 2 } as const;
    departures.resume({
      departure: { sprite, ...movement },
      crossing: { crossing: 17, ...movement, sprite: crossingSprite },
    });
    departures.use(transport);
    departures.depart(departure('b'));
    assert.deepEqual(numbers(transport), [17, 18]);
  });

  it('returns sprites when the seat ended before the relay answered', async () => {
    const { departures, transport, log } = begin();
    departures.depart(departure('a'));
    transport.close();
    await turn();
    assert.deepEqual(log, ['a back: desktop-ended']);
  });

  it('never gets further ahead of an unanswered crossing than the relay remembers numbers', async () => {
    const { departures, transport } = begin();
    for (let i = 0; i < CROSSINGS_AHEAD_MAX + 5; i++) departures.depart(departure(String(i)));
    assert.equal(transport.sent.length, CROSSINGS_AHEAD_MAX);
    for (const { answer } of transport.sent.slice(1)) answer({ to: null });
    await turn();
    assert.equal(transport.sent.length, CROSSINGS_AHEAD_MAX, 'the oldest has no answer yet');
    transport.sent[0].answer({ to: null });
    await turn();
    assert.equal(transport.sent.length, CROSSINGS_AHEAD_MAX + 5);
  });
});
