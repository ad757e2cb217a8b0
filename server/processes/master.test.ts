import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Front } from '../front/front.ts';
import { checkedCrossing } from '../test/passages.ts';
import { joined, turnsOf } from '../test/relay_harness.ts';
import { DirectUplink } from './direct_uplink.ts';
import { Master } from './master.ts';
import { PendingRequests } from './pending.ts';
import { Seats } from './seats.ts';

/** A master in one process, and what happens to it in order. */
function setUp() {
  const happened: string[] = [];
  const turns = turnsOf({ slots: 4 }, { commit: () => void happened.push('commit') });
  const master = new Master({ turns, seats: new Seats(turns.relay) });
  const pending = new PendingRequests();
  const uplink = new DirectUplink(master, pending);
  turns.links.addFront({
    ...{ room: (bytes: number) => Buffer.alloc(bytes), roomAt: 0 },
    answer: () => void happened.push('the front has an answer'),
    flush: () => void happened.push('the front sends'),
  } as unknown as Front);
  turns.links.add({
    answer: () => void happened.push('the link has an answer'),
    ...{ hasRoom: () => true, hasRoomForSayings: () => true },
    flush: () => void happened.push('the link sends'),
  });
  return { master, pending, uplink, happened };
}

describe('a master with a journal', () => {
  it('commits a turn after it has answered the parked polls, and before any answer leaves', () => {
    const { master, happened } = setUp();
    const desktop = joined(master.relay);
    master.relay.poll(desktop, 1, 1, -1);
    master.crossing(1, 5, desktop, checkedCrossing(1, 1, '"edge":"left"}'));
    master.turns.end();
    assert.deepEqual(happened, [
      'the link has an answer',
      'the front has an answer',
      'commit',
      'the link sends',
      'the front sends',
    ]);
  });

  it('commits a turn that answers nothing at the next tick, or with the next answer', () => {
    const { master, happened } = setUp();
    const commits = () => happened.filter((what) => what === 'commit').length;
    const desktop = joined(master.relay);
    master.relay.poll(desktop, 1, 1, -1);
    master.turns.end();
    assert.equal(commits(), 0);
    master.turns.advance(1);
    assert.equal(commits(), 1);
    master.query('verify', 1, 5, desktop, '');
    master.turns.end();
    assert.deepEqual(happened.slice(-4), ['the link has an answer', 'commit', 'the link sends', 'the front sends']);
  });

  it('commits before a front sends in the middle of a turn', () => {
    const { master, happened } = setUp();
    master.handlers.sending?.();
    assert.deepEqual(happened, ['commit']);
  });

  it('answers a join in one process only after the commit', async () => {
    const { pending, uplink, happened } = setUp();
    await new Promise<void>((resolve) => {
      const request = pending.addCallback(() => {
        happened.push('the join is answered');
        resolve();
      });
      uplink.join(request, { name: '' });
      happened.push('the join is made');
    });
    assert.deepEqual(happened.slice(0, 3), ['the join is made', 'commit', 'the join is answered']);
  });
});
