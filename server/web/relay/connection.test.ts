import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { Connection, type OpenTransport, SOCKET_OPENINGS_MAX, type TransportKind } from './connection.ts';
import { lostMs } from './moves.ts';
import type { Seat, TransportHandlers } from './transport.ts';

const LEASE_SECONDS = 90;
const LOST_MS = lostMs({ leaseSeconds: LEASE_SECONDS });
const seatOf = (desktop: string) => ({ desktop, leaseSeconds: LEASE_SECONDS }) as Seat;

/** Transports that the test plays the network of. */
function begin(first: TransportKind) {
  const log: string[] = [];
  const opened: TransportHandlers[] = [];
  const open =
    (kind: TransportKind): OpenTransport =>
    (seat, handlers) => {
      const number = opened.push(handlers);
      log.push(`open ${kind} ${number} for ${seat.desktop}`);
      return {
        send: async () => 'unknown',
        say: async () => 'unknown',
        show: async () => 'unknown',
        peek: async () => 'unknown',
        close: () => log.push(`close ${number}`),
      };
    };
  const connection = new Connection(
    first,
    { socket: open('socket'), poll: open('poll') },
    {
      opened: (_seat, _transport, kind) => log.push(`opened ${kind}`),
      events: async () => true,
      cursorLost: () => {},
      changed: ({ desktop }, up) => log.push(`${desktop} ${up ? 'up' : 'down'}`),
      lost: ({ desktop }) => log.push(`${desktop} lost`),
      ended: () => {},
    },
  );
  return { connection, opened, log };
}

describe('connection', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  it('opens the transport of a new seat before it closes that of the former one', () => {
    const { connection, log } = begin('socket');
    connection.sit(seatOf('1-1'));
    connection.sit(seatOf('2-1'));
    assert.deepEqual(log, [
      ...['open socket 1 for 1-1', 'opened socket'],
      ...['open socket 2 for 2-1', 'opened socket', 'close 1'],
    ]);
    assert.equal(connection.seat?.desktop, '2-1');
  });

  it('reports a change of state once, and a new seat starts as down', () => {
    const { connection, opened, log } = begin('poll');
    connection.sit(seatOf('1-1'));
    for (const is of [false, true, true, false, false, true]) opened[0].connected(is);
    assert.deepEqual(log.slice(2), ['1-1 up', '1-1 down', '1-1 up']);
    connection.sit(seatOf('2-1'));
    assert.equal(connection.up, false);
  });

  it('changes to the long-poll when the socket never opened, some times in a row', () => {
    const { connection, opened, log } = begin('socket');
    connection.sit(seatOf('1-1'));
    for (let i = 0; i < SOCKET_OPENINGS_MAX; i++) opened[0].connected(false);
    assert.deepEqual(log.slice(2), ['open poll 2 for 1-1', 'opened poll', 'close 1']);
  });

  it('changes to the long-poll at once when the browser allows no socket', () => {
    const { connection, opened, log } = begin('socket');
    connection.sit(seatOf('1-1'));
    opened[0].impossible();
    assert.deepEqual(log.slice(2), ['open poll 2 for 1-1', 'opened poll', 'close 1']);
  });

  it('opens the transport of its seat again, as a socket first, when the network has changed, and says that it is down', () => {
    const { connection, opened, log } = begin('socket');
    connection.reopen();
    assert.deepEqual(log, [], 'there is no seat yet');
    connection.sit(seatOf('1-1'));
    for (let i = 0; i < SOCKET_OPENINGS_MAX; i++) opened[0].connected(false);
    opened[1].connected(true);
    log.length = 0;
    connection.reopen();
    assert.deepEqual(log, ['1-1 down', 'open socket 3 for 1-1', 'opened socket', 'close 2']);
    opened[2].impossible();
    opened[3].connected(true);
    log.length = 0;
    connection.reopen();
    assert.deepEqual(log, ['1-1 down', 'open poll 5 for 1-1', 'opened poll', 'close 4'], 'no socket is possible');
  });

  it('has no transport while it is closed, and is not lost', () => {
    const { connection, opened, log } = begin('socket');
    connection.close();
    assert.equal(connection.isClosed, false, 'there is nothing to close yet');
    connection.sit(seatOf('1-1'));
    opened[0].connected(true);
    connection.close();
    assert.deepEqual([log.at(-1), connection.up, connection.isClosed], ['close 1', false, true]);
    mock.timers.tick(10 * LOST_MS);
    assert.equal(log.at(-1), 'close 1');
    connection.reopen();
    opened[1].connected(true);
    assert.deepEqual([log.at(-1), connection.isClosed], ['1-1 up', false]);
  });

  it('is down when its seat has ended', () => {
    const { connection, opened } = begin('socket');
    connection.sit(seatOf('1-1'));
    opened[0].connected(true);
    opened[0].ended({ code: 'desktop-ended', title: '' }, Number.POSITIVE_INFINITY);
    assert.equal(connection.up, false);
  });

  it('keeps the socket when it was open before, however often it breaks', () => {
    const { connection, opened, log } = begin('socket');
    connection.sit(seatOf('1-1'));
    for (let i = 0; i < SOCKET_OPENINGS_MAX; i++) {
      opened[0].connected(true);
      opened[0].connected(false);
      opened[0].connected(true);
    }
    opened[0].connected(false);
    opened[0].connected(false);
    assert.equal(opened.length, 1);
    assert.equal(log.at(-1), '1-1 down');
  });

  it('reports a relay as lost when it has not answered for two leases of its seat, from the start or since it was up', () => {
    const { connection, opened, log } = begin('poll');
    connection.sit(seatOf('1-1'));
    mock.timers.tick(LOST_MS - 1);
    opened[0].connected(false);
    assert.ok(!log.includes('1-1 lost'));
    mock.timers.tick(1);
    assert.equal(log.at(-1), '1-1 lost');
    opened[0].connected(true);
    mock.timers.tick(10 * LOST_MS);
    assert.equal(log.at(-1), '1-1 up');
    opened[0].connected(false);
    mock.timers.tick(LOST_MS - 1);
    assert.equal(log.at(-1), '1-1 down');
    mock.timers.tick(1);
    assert.equal(log.at(-1), '1-1 lost');
    connection.sit(seatOf('2-1'));
    opened[1].connected(true);
    mock.timers.tick(10 * LOST_MS);
    assert.equal(log.at(-1), '2-1 up');
  });
});
