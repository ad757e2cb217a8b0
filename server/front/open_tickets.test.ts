/** Open tickets, compared with a plain set. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomOf } from '../test/random.ts';
import { OpenTickets } from './open_tickets.ts';

const ticketOf = (thread: number, generation: number, index: number) => thread * 2 ** 40 + generation * 2 ** 20 + index;

describe('open tickets', () => {
  it('are open until they are closed once', () => {
    const tickets = new OpenTickets(2);
    for (const ticket of [ticketOf(0, 0, 0), ticketOf(1, 1, 1), ticketOf(2, 2 ** 20 - 1, 2 ** 20 - 1)]) {
      assert.deepEqual([tickets.isOpen(ticket), tickets.close(ticket)], [false, false]);
      tickets.open(ticket);
      assert.deepEqual([tickets.isOpen(ticket), tickets.close(ticket)], [true, true]);
      assert.deepEqual([tickets.isOpen(ticket), tickets.close(ticket)], [false, false]);
    }
  });

  it('are never open for an unknown thread or an unknown index', () => {
    const tickets = new OpenTickets(1);
    assert.equal(tickets.close(ticketOf(2, 1, 0)), false);
    assert.equal(tickets.close(ticketOf(254, 1, 0)), false);
    assert.equal(tickets.close(ticketOf(1, 1, 500_000)), false);
  });

  it('close when their connection gets its next ticket', () => {
    const tickets = new OpenTickets(0);
    for (let generation = 0; generation < 2 ** 20; generation += 1) {
      tickets.open(ticketOf(0, generation, 7));
      if (generation > 0) assert.equal(tickets.close(ticketOf(0, generation - 1, 7)), false);
      assert.equal(tickets.isOpen(ticketOf(0, generation, 7)), true);
    }
  });

  it('agree with a plain set while the tables grow', (t) => {
    const random = randomOf(t);
    const tickets = new OpenTickets(3);
    const open = new Map<string, number>();
    const generations = new Map<string, number>();
    for (let step = 0; step < 200_000; step++) {
      const [thread, index] = [Math.floor(random() * 4), Math.floor(random() ** 4 * 50_000)];
      const place = `${thread}:${index}`;
      const generation = generations.get(place) ?? 0;
      const ticket = ticketOf(thread, generation, index);
      assert.equal(tickets.isOpen(ticket), open.get(place) === ticket);
      if (random() < 0.5) {
        generations.set(place, generation + 1);
        open.set(place, ticketOf(thread, generation + 1, index));
        tickets.open(ticketOf(thread, generation + 1, index));
      } else assert.equal(tickets.close(ticket), open.delete(place));
    }
  });
});
