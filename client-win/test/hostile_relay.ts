/**
 * A test double of a relay that misbehaves: garbage, huge numbers, endless bodies, ten thousand sprites.
 *
 * Joins work as usual; the test chooses the responses to polls and to requests for files. Cost: an endless body is written
 * as fast as the client reads it, until the client disconnects.
 */
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HostileRelay {
  readonly url: string;
  /** The number of requests of each kind so far. */
  readonly requests: { joins: number; looks: number; polls: number; crossings: number; files: number };
  close(): Promise<void>;
}

export interface Hostility {
  /** Responds to the n-th poll, from 0, or holds it. */
  poll(n: number, response: http.ServerResponse): void;
  file?(response: http.ServerResponse): void;
  /** Members that replace those of the response to a join. */
  seat?: Record<string, unknown>;
}

export async function startHostileRelay({ poll, file, seat }: Hostility): Promise<HostileRelay> {
  const requests = { joins: 0, looks: 0, polls: 0, crossings: 0, files: 0 };
  const server = http.createServer((request, response) => {
    request.resume();
    const { method, url = '' } = request;
    if (method === 'POST' && url === '/v1/desktops') {
      requests.joins++;
      sendJson(response, 201, { ...seatAt(base()), ...seat });
    } else if (url.includes('/events')) {
      poll(requests.polls++, response);
    } else if (url.includes('/crossings')) {
      requests.crossings++;
      sendJson(response, 503, { code: 'mailbox-full', title: 'Full.' });
    } else if (url.startsWith('/v1/sprites/')) {
      requests.files++;
      if (method === 'GET' && file !== undefined) file(response);
      else sendJson(response, method === 'PUT' ? 201 : 404, {});
    } else {
      requests.looks++;
      const me = { desktop: '1-1', name: 'Mallory' };
      sendJson(response, 200, { desktop: '1-1', neighbours: { left: me, right: me, top: me, bottom: me } });
    }
  });
  const base = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: base(),
    requests,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Sends a complete JSON response. */
export function sendJson(response: http.ServerResponse, status: number, body: unknown): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json' }).end(text);
}

/** Sends bytes for as long as the client reads them. */
export function sendEndlessly(response: http.ServerResponse, beginning: string, chunk: string): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write(beginning);
  const write = () => {
    while (!response.destroyed && response.write(chunk)) {}
    if (!response.destroyed) response.once('drain', write);
  };
  write();
}

/** The event of a sprite that enters on the left; `event` and `sprite` replace members of the two objects. */
export const arrival = (seq: number, event: object = {}, sprite: object = {}) => ({
  ...{ type: 'sprite', seq, from: { desktop: `${seq}-1`, name: `N${seq}` }, edge: 'left', at: 0.5, vx: 100, vy: 0 },
  ...event,
  sprite: {
    file: seq.toString(16).padStart(64, '0'),
    name: 'X',
    animation: 'fall',
    facing: 'right',
    scale: 2,
    ...sprite,
  },
});

/** Responses to a poll that a client must survive. */
export const HOSTILE_RESPONSES: Record<string, (response: http.ServerResponse, n: number) => void> = {
  'a body that is not JSON': (response) => sendJson(response, 200, '<html>nonsense'),
  'half a response': (response) => {
    response.writeHead(200, { 'content-length': 1000 }).write('{"cursor":"6a1f03c2-1","ev');
    setTimeout(() => response.destroy(), 5);
  },
  'a hundred thousand brackets': (response) => sendJson(response, 200, '['.repeat(100_000)),
  'an endless body': (response) =>
    sendEndlessly(response, '{"cursor":"6a1f03c2-1","events":[', `"${'x'.repeat(65_536)}",`),
  'ten thousand sprites at once': (response) => {
    sendJson(response, 200, { cursor: '6a1f03c2-9', events: Array.from({ length: 10_000 }, (_, i) => arrival(i + 1)) });
  },
  'invalid events': (response, n) => {
    const events = [null, 7, 'x', [], {}, { type: 'sprite' }, { type: 'sprite', seq: 1e300 }, { type: 'neighbours' }];
    sendJson(response, 200, { cursor: `6a1f03c2-${n}`, events });
  },
  'an empty batch, at once, for every poll': (response) =>
    sendJson(response, 200, { cursor: '6a1f03c2-1', events: [] }),
  'a cursor with a line break': (response) =>
    sendJson(response, 200, { cursor: 'a\r\nX-Evil: 1', events: [{ type: 'ping' }] }),
  'a seat that has ended, for every poll': (response) =>
    sendJson(response, 410, { code: 'desktop-ended', title: 'Gone.' }),
  'a lost cursor, for every poll': (response) => sendJson(response, 410, { code: 'cursor-lost', cursor: '6a1f03c2-0' }),
};

function seatAt(base: string) {
  return {
    ...{ desktop: '1-1', token: '1-1.00112233445566778899aabbccddeeff', world: 'commons', cursor: '6a1f03c2-0' },
    ...{ events: `${base}/v1/desktops/1-1/events`, crossings: `${base}/v1/desktops/1-1/crossings` },
    ...{ pingSeconds: 120, leaseSeconds: 30 },
  };
}
