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

/** A relay that answers when it is told to. */
class Wire implements Transport {
  readonly sent: { crossing: Crossing; answer: (verdict: Verdict) => void }[] = [];
  send(crossing: Crossing): Promise<Verdict> {
    return new Promise((answer) => this.sent.push({ crossing, answer }));
  }
  close(): void {
    for (const { answer } of this.sent) answer('unknown');
  }
}

function begin() {
  const said: string[] = [];
  const departures = new Departures({
    keep: () => {},
    accepted: ({ sprite }, to) => said.push(`${sprite.name} to ${to?.name}`),
    returned: ({ sprite }, { code }) => said.push(`${sprite.name} back: ${code}`),
  });
  const wire = new Wire();
  departures.use(wire);
  return { departures, wire, said };
}

const numbers = (wire: Wire) => wire.sent.map(({ crossing }) => crossing.crossing);

describe('departures', () => {
  it('keeps a sprite until the relay has it, and gives it back when it is refused', async () => {
    const { departures, wire, said } = begin();
    departures.depart(departure('a'));
    departures.depart(departure('b'));
    assert.deepEqual(numbers(wire), [1, 2]);
    assert.equal(departures.leaving.length, 2);
    wire.sent[1].answer({ refused: { code: 'mailbox-full', title: '' } });
    wire.sent[0].answer({ to: { desktop: '1-1', name: 'Ada' } });
    await turn();
    assert.deepEqual(said, ['b back: mailbox-full', 'a to Ada']);
    assert.equal(departures.leaving.length, 0);
  });

  it('sends whoever is on the way again over a new connection, under the same number, once', async () => {
    const { departures, wire, said } = begin();
    departures.depart(departure('a'));
    const next = new Wire();
    departures.use(next);
    wire.close();
    await turn();
    assert.deepEqual(numbers(next), [1]);
    assert.deepEqual(said, []);
    next.sent[0].answer({ to: null });
    await turn();
    assert.deepEqual(said, ['a to undefined']);
  });

  it('goes on with the numbers of before a reload', () => {
    const { departures, wire } = begin();
    const { sprite, ...movement } = departure('a');
    const traveller = { file: 'f', name: 'a', animation: 'fall', facing: 'right', scale: 2 } as const;
    departures.resume({
      departure: { sprite, ...movement },
      crossing: { crossing: 17, ...movement, sprite: traveller },
    });
    departures.use(wire);
    departures.depart(departure('b'));
    assert.deepEqual(numbers(wire), [17, 18]);
  });

  it('gives sprites back when the seat ended before anybody answered', async () => {
    const { departures, wire, said } = begin();
    departures.depart(departure('a'));
    wire.close();
    await turn();
    assert.deepEqual(said, ['a back: desktop-ended']);
  });

  it('never runs further ahead of an unanswered crossing than the relay remembers numbers', async () => {
    const { departures, wire } = begin();
    for (let i = 0; i < CROSSINGS_AHEAD_MAX + 5; i++) departures.depart(departure(String(i)));
    assert.equal(wire.sent.length, CROSSINGS_AHEAD_MAX);
    for (const { answer } of wire.sent.slice(1)) answer({ to: null });
    await turn();
    assert.equal(wire.sent.length, CROSSINGS_AHEAD_MAX, 'the oldest has no answer yet');
    wire.sent[0].answer({ to: null });
    await turn();
    assert.equal(wire.sent.length, CROSSINGS_AHEAD_MAX + 5);
  });
});
