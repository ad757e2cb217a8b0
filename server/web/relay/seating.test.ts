import assert from 'node:assert/strict';
import { afterEach, describe, it, mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Arrivals } from './arrivals.ts';
import { Refused } from './joining.ts';
import { Seating } from './seating.ts';
import type { RelayEvent, Seat, Transport, TransportHandlers } from './transport.ts';

const seatAt = (relay: string, desktop: string): Seat => ({
  ...{ desktop, token: `${desktop}.aa`, invitation: '1.aa', world: 'commons', cursor: '00000001-0' },
  ...{ pingSeconds: 120, leaseSeconds: 30 },
  ...{ events: `${relay}/events`, crossings: `${relay}/crossings`, socket: `${relay}/socket` },
});
const bye = (join: string) => ({ type: 'bye', retryAfterMs: 2000, join }) as const;

let begun: { close(): void };

/** A desktop that began at r1. The next answers to joins are in `answers`; without one, the join is held. */
function begin(first: Seat) {
  const log: string[] = [];
  const answers: (Seat | Error | (() => Error))[] = [];
  const opened: TransportHandlers[] = [];
  const open = (seat: Seat, handlers: TransportHandlers): Transport => {
    opened.push(handlers);
    const unknown = async () => 'unknown' as const;
    return {
      send: unknown,
      say: unknown,
      show: unknown,
      peek: unknown,
      close: () => log.push(`closed ${seat.desktop}`),
    };
  };
  const held: ((seat: Seat) => void)[] = [];
  const environment = {
    fetch: () => Promise.reject(new TypeError('network')),
    random: () => 0.5,
    sleep: async (ms: number) => void log.push(`waited ${ms}`),
  };
  const arrivals = new Arrivals<{ file: string }>({
    enter: ({ sprite }) => sprite,
    remove: ({ file }) => log.push(`removed ${file}`),
  });
  const seating = new Seating(
    { began: 'http://r1', first: 'poll', open: { poll: open, socket: open }, arrivals, environment },
    {
      join: async (relay) => {
        log.push(`joins ${relay}`);
        const answer = answers.shift();
        if (answer instanceof Error) throw answer;
        if (typeof answer === 'function') throw answer();
        return answer ?? new Promise((resolve) => held.push(resolve));
      },
      seated: ({ desktop }) => log.push(`has ${desktop}`),
      leaving: () => log.push('leaving'),
      replaced: (reason) => log.push(reason),
      opened: () => {},
      changed: () => {},
      received: () => {},
      save: () => {},
    },
  );
  begun = seating;
  seating.take(first);
  log.length = 0;
  const receive = (...events: RelayEvent[]) => opened.at(-1)!.events(events, '00000001-1');
  return { seating, log, answers, opened, held, receive };
}

const unreachable = new TypeError('network');

describe('seating', () => {
  // Its timer would keep the process for two leases.
  afterEach(() => begun.close());

  it('joins where it began and at the relay of its seat, in turn, when the seat has ended, until one accepts', async () => {
    const { log, answers, opened, receive } = begin(seatAt('http://r2', '1-1'));
    await receive({ type: 'sprite', seq: 1, sprite: { file: 'f' } } as RelayEvent);
    const full = new Refused({ code: 'relay-full', title: '', retryAfterMs: 9_000 });
    answers.push(unreachable, full, seatAt('http://r1', '2-1'));
    opened[0].ended({ code: 'desktop-ended', title: '' }, 0);
    while (log.at(-1) !== 'ended') await turn();
    assert.deepEqual(log, [
      ...['removed f', 'leaving', 'joins http://r1', 'waited 300', 'joins http://r2', 'waited 9000'],
      ...['joins http://r1', 'closed 1-1', 'has 2-1', 'ended'],
    ]);
  });

  it('moves to the relay that a bye names, after its time, or to where it began, and polls no more meanwhile', async () => {
    const { log, answers, receive } = begin(seatAt('http://r1', '1-1'));
    answers.push(unreachable, seatAt('http://r1', '2-1'));
    assert.equal(await receive(bye('http://r2/v1/desktops')), false);
    while (log.at(-1) !== 'stopped') await turn();
    assert.deepEqual(log, [
      ...[
        'leaving',
        'waited 2000',
        'joins http://r2',
        'waited 300',
        'joins http://r1',
        'closed 1-1',
        'has 2-1',
        'stopped',
      ],
    ]);
  });

  it('stays, and polls again, when a bye names no relay to which it may go', async () => {
    const { log, receive } = begin(seatAt('http://r1', '1-1'));
    assert.equal(await receive(bye('ftp://r2')), true);
    assert.deepEqual(log, []);
  });

  it('joins where it began when another relay is gone for two leases, unless that answers again meanwhile', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const { log, answers, opened } = begin(seatAt('http://r2', '1-1'));
    const answersAgain = () => {
      opened[0].connected(true);
      return unreachable;
    };
    answers.push(unreachable, answersAgain);
    mock.timers.tick(59_999);
    assert.deepEqual(log, []);
    mock.timers.tick(1);
    for (let turns = 0; turns < 9; turns++) await turn();
    assert.deepEqual(log, ['joins http://r1', 'waited 300', 'joins http://r1', 'waited 600']);
    assert.equal(opened.length, 1, 'it has its seat');
    mock.timers.reset();
  });

  it('takes no seat that comes after it was closed', async () => {
    const { seating, log, opened, held } = begin(seatAt('http://r1', '1-1'));
    opened[0].ended({ code: 'desktop-ended', title: '' }, 0);
    assert.deepEqual(log, ['leaving', 'joins http://r1']);
    seating.close();
    held[0](seatAt('http://r1', '2-1'));
    await turn();
    assert.equal(opened.length, 1);
  });
});
