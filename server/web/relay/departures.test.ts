import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { addSprite, createSimulation, type Departure } from '../motion/simulation.ts';
import { CROSSINGS_AHEAD_MAX, Departures, type Way } from './departures.ts';
import type { Crossing, CrossingVerdict } from './transport.ts';

const nature = { width: 1, height: 1, walkSpeed: 1, jumpSpeed: 1, gravity: 1, bounce: 0, hopChance: 0 };

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

const seatOf = (desktop: string) => ({ desktop, token: `${desktop}.aa`, crossings: 'http://r/crossings' });

/** A way to the relay whose verdicts the test gives. */
class ManualWay implements Way {
  readonly sent: { crossing: Crossing; isRepeat: boolean; answer: (verdict: CrossingVerdict) => void }[] = [];
  isClosed = false;
  send(crossing: Crossing, isRepeat: boolean): Promise<CrossingVerdict> {
    if (this.isClosed) return Promise.resolve('unknown');
    return new Promise((answer) => this.sent.push({ crossing, isRepeat, answer }));
  }
  close(): void {
    this.isClosed = true;
    for (const { answer } of this.sent) answer('unknown');
  }
}

/** A page at its first seat, and the ways that it opens for seats that it has no longer. */
function begin() {
  const log: string[] = [];
  const former = new Map<string, ManualWay>();
  const departures = new Departures({
    save: () => {},
    accepted: ({ sprite }, to) => log.push(`${sprite.name} to ${to?.name}`),
    returned: ({ sprite }, { code }) => log.push(`${sprite.name} back: ${code}`),
    openFormer({ desktop }) {
      const way = new ManualWay();
      former.set(desktop, way);
      return way;
    },
  });
  const way = new ManualWay();
  departures.use(seatOf('1-1'), way);
  return { departures, way, former, log };
}

const numbers = (way?: ManualWay) => way?.sent.map(({ crossing }) => crossing.crossing);

describe('departures', () => {
  it('keeps a sprite until the relay has it, and returns it when it is refused', async () => {
    const { departures, way, log } = begin();
    departures.depart(departure('a'));
    departures.depart(departure('b'));
    assert.deepEqual(numbers(way), [1, 2]);
    assert.equal(departures.pending.length, 2);
    way.sent[1].answer({ refused: { code: 'mailbox-full', title: '' } });
    way.sent[0].answer({ to: { desktop: '1-1', name: 'Ada' } });
    await turn();
    assert.deepEqual(log, ['b back: mailbox-full', 'a to Ada']);
    assert.equal(departures.pending.length, 0);
  });

  it('sends pending sprites again over a new connection of the same seat, under the same number, once', async () => {
    const { departures, way, former, log } = begin();
    departures.depart(departure('a'));
    const next = new ManualWay();
    departures.use(seatOf('1-1'), next);
    way.close();
    await turn();
    assert.deepEqual(numbers(next), [1]);
    assert.ok(next.sent[0].isRepeat && !way.sent[0].isRepeat);
    assert.deepEqual([log, former.size], [[], 0]);
    next.sent[0].answer({ to: null });
    await turn();
    assert.deepEqual(log, ['a to undefined']);
  });

  it('asks the seat that sent a sprite, and no other one, when that seat has ended or was replaced', async () => {
    for (const hasEnded of [true, false]) {
      for (const [verdict, words] of [
        [{ to: null }, 'a to undefined'],
        [{ refused: { code: 'desktop-ended', title: '' } }, 'a back: desktop-ended'],
      ] as const) {
        const { departures, way, former, log } = begin();
        departures.depart(departure('a'));
        if (hasEnded) way.close();
        await turn();
        const next = new ManualWay();
        departures.use(seatOf('2-1'), next);
        if (!hasEnded) way.close();
        await turn();
        assert.deepEqual(numbers(next), [], 'for the new seat it would be a new throw');
        assert.deepEqual([numbers(former.get('1-1')), former.get('1-1')?.sent[0].isRepeat], [[1], true]);
        departures.depart(departure('b'));
        assert.deepEqual(numbers(next), [2]);
        assert.deepEqual(log, [], 'it is neither here nor there');
        former.get('1-1')?.sent[0].answer(verdict);
        await turn();
        assert.deepEqual(log, [words]);
        assert.ok(former.get('1-1')?.isClosed);
      }
    }
  });

  it('goes on at its seat when the page that was frozen is back, however often the relay was asked before', async () => {
    const { departures, way, former, log } = begin();
    departures.depart(departure('a'));
    way.close(); // the page is frozen
    await turn();
    assert.deepEqual(numbers(former.get('1-1')), [1]);
    const next = new ManualWay();
    departures.use(seatOf('1-1'), next);
    await turn();
    assert.ok(former.get('1-1')?.isClosed);
    assert.deepEqual([numbers(next), next.sent[0].isRepeat], [[1], true]);
    assert.deepEqual(log, []);
    next.sent[0].answer({ to: null });
    await turn();
    assert.deepEqual(log, ['a to undefined']);
  });

  it('returns a sprite when the relay of its former seat never answers', async () => {
    const { departures, way, former, log } = begin();
    departures.depart(departure('a'));
    way.close();
    await turn();
    former.get('1-1')?.sent[0].answer('unknown'); // it has tried FORMER_TRIES_MAX times
    await turn();
    assert.deepEqual(log, ['a back: desktop-ended']);
    assert.equal(departures.pending.length, 0);
  });

  it('continues the numbers from before a reload, each at the seat that sent it', async () => {
    const { departures, way, former } = begin();
    const { sprite, ...movement } = departure('a');
    const crossingSprite = { file: 'f', name: 'a', animation: 'fall', facing: 'right', scale: 2 } as const;
    for (const [number, desktop] of [
      [16, '0-1'],
      [17, '1-1'],
    ] as const) {
      departures.resume({
        departure: { sprite, ...movement },
        crossing: { crossing: number, ...movement, sprite: crossingSprite },
        sender: seatOf(desktop),
      });
    }
    departures.use(seatOf('1-1'), way);
    departures.depart(departure('b'));
    assert.deepEqual([numbers(former.get('0-1')), numbers(way)], [[16], [17, 18]]);
    assert.deepEqual(
      way.sent.map(({ isRepeat }) => isRepeat),
      [true, false],
    );
  });

  for (const ahead of [-1, 0, 1]) {
    const count = CROSSINGS_AHEAD_MAX + ahead;
    it(`sends ${Math.min(count, CROSSINGS_AHEAD_MAX)} of ${count} sprites while the oldest has no verdict; the rest come back`, async () => {
      const { departures, way, log } = begin();
      for (let i = 0; i < count; i++) departures.depart(departure(String(i)));
      assert.equal(way.sent.length, Math.min(count, CROSSINGS_AHEAD_MAX));
      assert.deepEqual(log, ahead > 0 ? ['32 back: too-fast'] : []);
      for (const { answer } of way.sent.slice(1)) answer({ to: null });
      await turn();
      log.length = 0;
      departures.depart(departure('more'));
      assert.deepEqual(log, ahead < 0 ? [] : ['more back: too-fast'], 'only the oldest counts');
      way.sent[0].answer({ to: null });
      await turn();
      departures.depart(departure('last'));
      assert.equal(way.sent.at(-1)?.crossing.sprite.name, 'last');
    });
  }
});
