/** Complaints: a desktop mutes a neighbour, or reports a picture. Each resolves to null, or to why the relay refused. */
import { problemOf, send } from './seat.ts';
import type { Problem, Seat } from './transport.ts';

export function mute(seat: Seat, desktop: string): Promise<Problem | null> {
  return problemOf(send(seat, 'POST', `/v1/desktops/${seat.desktop}/mutes`, { desktop }));
}

export function unmute(seat: Seat, desktop: string): Promise<Problem | null> {
  return problemOf(send(seat, 'DELETE', `/v1/desktops/${seat.desktop}/mutes/${desktop}`));
}

/** `desktop`: the one that has thrown the picture, as far as it is known. */
export function report(seat: Seat, file: string, desktop?: string): Promise<Problem | null> {
  return problemOf(send(seat, 'POST', '/v1/reports', { file, desktop }));
}
