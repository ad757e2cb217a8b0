/** Complaints: a desktop mutes a neighbour, or reports a picture. Each resolves to null, or to why the relay refused. */
import { type Problem, readProblem, type Seat } from './transport.ts';

const TIMEOUT_MS = 10_000; // ms for the response

export function mute(seat: Seat, desktop: string): Promise<Problem | null> {
  return send(seat, 'POST', `/v1/desktops/${seat.desktop}/mutes`, { desktop });
}

export function unmute(seat: Seat, desktop: string): Promise<Problem | null> {
  return send(seat, 'DELETE', `/v1/desktops/${seat.desktop}/mutes/${desktop}`);
}

export function report(seat: Seat, file: string): Promise<Problem | null> {
  return send(seat, 'POST', '/v1/reports', { file });
}

async function send({ token }: Seat, method: string, path: string, body?: object): Promise<Problem | null> {
  try {
    const response = await fetch(path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return response.ok ? null : await readProblem(response);
  } catch {
    return { code: 'unreachable', title: 'The relay could not be reached.' };
  }
}
