/** The bytes of a WebSocket client: its upgrade request, and text frames of at most 125 bytes or 64 KiB. */
import { randomBytes } from 'node:crypto';
import { headOf, type Joined } from './target.ts';

const LENGTH_IN_ONE_BYTE_MAX = 125;

export function upgradeHead({ desktop }: Pick<Joined, 'desktop'>): string {
  return headOf(
    `GET /v1/desktops/${desktop}/socket`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
  );
}

/** Returns a masked text frame. */
export function textFrame(text: string): Buffer {
  const body = Buffer.from(text);
  const isShort = body.length <= LENGTH_IN_ONE_BYTE_MAX;
  const head = Buffer.alloc(isShort ? 2 : 4);
  head[0] = 0x81;
  head[1] = 0x80 | (isShort ? body.length : 126);
  if (!isShort) head.writeUInt16BE(body.length, 2);
  const mask = randomBytes(4);
  for (let at = 0; at < body.length; at++) body[at] ^= mask[at % 4];
  return Buffer.concat([head, mask, body]);
}
