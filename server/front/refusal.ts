/** Answers on a connection that node:http does not answer on: after an upgrade, or behind bytes that are no request. */
import http from 'node:http';
import type { Socket } from 'node:net';
import { refusalOf } from '../wire/answer.ts';
import type { ProblemDocument } from '../wire/problem.ts';
import { CORS_ORIGIN, retryAfter } from '../wire/route.ts';

/** Headers of an answer, the same on both fronts. */
export function headOf(status: number, length: number, retryAfterSeconds: number): http.OutgoingHttpHeaders {
  const head: http.OutgoingHttpHeaders = {
    'Content-Type': status < 300 ? 'application/json' : 'application/problem+json',
    'Content-Length': length,
    'Cache-Control': 'no-store',
    ...CORS_ORIGIN,
    ...retryAfter(retryAfterSeconds),
  };
  if (status === 401) head['WWW-Authenticate'] = 'Bearer';
  return head;
}

/** Answers with a problem document, and closes. */
export function refuseHead(socket: Socket, document: ProblemDocument): void {
  // Nobody reads what the client has sent behind its request; unread, it would hide that the client has closed.
  socket.on('error', () => socket.destroy()).resume();
  const { status, body, retryAfterSeconds } = refusalOf(document);
  const head = Object.entries(headOf(status, body.length, retryAfterSeconds));
  const lines = head.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const line = `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n`;
  socket.write(Buffer.concat([Buffer.from(`${line}${lines}Connection: close\r\n\r\n`), body]));
  socket.destroySoon();
}
