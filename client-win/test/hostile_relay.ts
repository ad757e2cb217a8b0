/**
 * A relay that does what no relay should: garbage, huge numbers, endless bodies, ten thousand sprites. A test double.
 *
 * It lets everybody in properly; what it answers to polls and for files is the test's choice. Cost: it writes as fast as the
 * client reads, until the client hangs up.
 */
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HostileRelay {
  readonly url: string;
  /** How often each was asked. */
  readonly asked: { joins: number; looks: number; polls: number; crossings: number; files: number };
  close(): Promise<void>;
}

export interface Hostility {
  /** Answers the n-th poll, from 0, or holds it. */
  poll(n: number, answer: http.ServerResponse): void;
  file?(answer: http.ServerResponse): void;
  /** Members of the join's answer that are to be others. */
  seat?: Record<string, unknown>;
}

export async function startHostileRelay({ poll, file, seat }: Hostility): Promise<HostileRelay> {
  const asked = { joins: 0, looks: 0, polls: 0, crossings: 0, files: 0 };
  const server = http.createServer((request, answer) => {
    request.resume();
    const { method, url = '' } = request;
    if (method === 'POST' && url === '/v1/desktops') {
      asked.joins++;
      json(answer, 201, { ...seatAt(base()), ...seat });
    } else if (url.includes('/events')) {
      poll(asked.polls++, answer);
    } else if (url.includes('/crossings')) {
      asked.crossings++;
      json(answer, 503, { code: 'mailbox-full', title: 'Full.' });
    } else if (url.startsWith('/v1/sprites/')) {
      asked.files++;
      if (method === 'GET' && file !== undefined) file(answer);
      else json(answer, method === 'PUT' ? 201 : 404, {});
    } else {
      asked.looks++;
      const me = { desktop: '1-1', name: 'Mallory' };
      json(answer, 200, { desktop: '1-1', neighbours: { left: me, right: me, top: me, bottom: me } });
    }
  });
  const base = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: base(),
    asked,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A whole JSON answer. */
export function json(answer: http.ServerResponse, status: number, body: unknown): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  answer.writeHead(status, { 'content-type': 'application/json' }).end(text);
}

/** Bytes for as long as somebody reads them. */
export function endless(answer: http.ServerResponse, beginning: string, chunk: string): void {
  answer.writeHead(200, { 'content-type': 'application/json' });
  answer.write(beginning);
  const write = () => {
    while (!answer.destroyed && answer.write(chunk)) {}
    if (!answer.destroyed) answer.once('drain', write);
  };
  write();
}

/** A sprite that comes in on the left; members of the event and of the sprite may be others. */
export const arrival = (seq: number, more: object = {}, sprite: object = {}) => ({
  ...{ type: 'sprite', seq, from: { desktop: `${seq}-1`, name: `N${seq}` }, edge: 'left', at: 0.5, vx: 100, vy: 0 },
  ...more,
  sprite: {
    file: seq.toString(16).padStart(64, '0'),
    name: 'X',
    animation: 'fall',
    facing: 'right',
    scale: 2,
    ...sprite,
  },
});

/** What a poll may be answered with, and still the client is there. */
export const HOSTILE_ANSWERS: Record<string, (answer: http.ServerResponse, n: number) => void> = {
  'no JSON': (answer) => json(answer, 200, '<html>nonsense'),
  'half an answer': (answer) => {
    answer.writeHead(200, { 'content-length': 1000 }).write('{"cursor":"6a1f03c2-1","ev');
    setTimeout(() => answer.destroy(), 5);
  },
  'a hundred thousand brackets': (answer) => json(answer, 200, '['.repeat(100_000)),
  'an endless body': (answer) => endless(answer, '{"cursor":"6a1f03c2-1","events":[', `"${'x'.repeat(65_536)}",`),
  'ten thousand sprites at once': (answer) => {
    json(answer, 200, { cursor: '6a1f03c2-9', events: Array.from({ length: 10_000 }, (_, i) => arrival(i + 1)) });
  },
  'events that are none': (answer, n) => {
    const events = [null, 7, 'x', [], {}, { type: 'sprite' }, { type: 'sprite', seq: 1e300 }, { type: 'neighbours' }];
    json(answer, 200, { cursor: `6a1f03c2-${n}`, events });
  },
  'an empty batch, at once, for ever': (answer) => json(answer, 200, { cursor: '6a1f03c2-1', events: [] }),
  'a cursor with a line break': (answer) => json(answer, 200, { cursor: 'a\r\nX-Evil: 1', events: [{ type: 'ping' }] }),
  'a seat that is gone, always': (answer) => json(answer, 410, { code: 'desktop-ended', title: 'Gone.' }),
  'a cursor that is lost, always': (answer) => json(answer, 410, { code: 'cursor-lost', cursor: '6a1f03c2-0' }),
};

function seatAt(base: string) {
  return {
    ...{ desktop: '1-1', token: '1-1.00112233445566778899aabbccddeeff', world: 'commons', cursor: '6a1f03c2-0' },
    ...{ events: `${base}/v1/desktops/1-1/events`, crossings: `${base}/v1/desktops/1-1/crossings` },
    ...{ pingSeconds: 120, leaseSeconds: 30 },
  };
}
