/** What an attacker knows of a relay: its ports on the loopback, and PROTOCOL.md. */

export interface Target {
  api: number;
  events: number;
  admin: number;
}

/** The relay listens here. */
export const HOST = '127.0.0.1';

/** The address that the probe connects from: limits by address that the attackers (HOST) meet do not concern it. */
export const PROBE_ADDRESS = '127.0.0.2';

/** The part of the response to a join that attackers use. */
export interface Joined {
  desktop: string;
  token: string;
  world: string;
  cursor: string;
}

/** SHA-256 of a file that the relay need not have. */
export const FILE = '2c538f2f10dced8434ff60e955d98a472736bece7c539b709d2d010e5c2b84aa';

export const SCREEN = { width: 1920, height: 1080 };

/** Returns the JSON of a crossing. */
export function crossingOf(crossing: number, edge = 'right', name = 'Blob'): string {
  const sprite = { file: FILE, name, animation: 'fall', facing: 'right', scale: 2 };
  return JSON.stringify({ crossing, edge, at: 0.25, vx: 900, vy: -50, sprite });
}

/** Returns the head of a request, with the empty line. */
export function headOf(line: string, ...headers: string[]): string {
  return `${[`${line} HTTP/1.1`, 'Host: relay', ...headers].join('\r\n')}\r\n\r\n`;
}

/** Returns the bytes of a whole request with a body. */
export function requestOf(line: string, body: string | Uint8Array, ...headers: string[]): Buffer {
  const bytes = Buffer.from(body as string);
  return Buffer.concat([Buffer.from(headOf(line, ...headers, `Content-Length: ${bytes.length}`)), bytes]);
}

export const bearer = ({ token }: { token: string }): string => `Authorization: Bearer ${token}`;

export function joinBytes(wish: object = {}): Buffer {
  return requestOf('POST /v1/desktops', JSON.stringify({ screen: SCREEN, ...wish }), 'Content-Type: application/json');
}

/** Returns a POST of a desktop to one of its routes, such as `crossings`. */
export function postBytes({ desktop, token }: Joined, route: string, body: string | object): Buffer {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return requestOf(`POST /v1/desktops/${desktop}/${route}`, text, bearer({ token }));
}

/** Turns on or off whether a desktop shows its stage. */
export function switchBytes({ desktop, token }: Joined, stage: boolean): Buffer {
  return requestOf(`PUT /v1/desktops/${desktop}/stage`, JSON.stringify({ stage }), bearer({ token }));
}

export function pollHead({ desktop, token }: Joined, cursor?: string): string {
  const query = cursor === undefined ? '' : `?cursor=${cursor}`;
  return headOf(`GET /v1/desktops/${desktop}/events${query}`, bearer({ token }));
}
