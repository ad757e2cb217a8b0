/** The client of the API for the short requests of a desktop: join, look up neighbours and company, upload a sprite file, mute, report. */

import { isResident, RESIDENT_SUFFIX } from '../../wire/resident.ts';
import { ANSWER_MS_MAX } from '../../wire/rules.ts';
import { counted, phrase } from '../texts/language.ts';
import { type JoinRequest, Refused, requestSeat } from './joining.ts';
import { wordsOf } from './problem_words.ts';
import { type Company, type Neighbours, type Problem, readProblem, relayOf, type Seat } from './transport.ts';

/** The version of the page, which http/page_program.ts puts in. */
declare const PAGE_VERSION: string;

/** Joins as joining.ts does, by default at the page's relay. An empty world or friend is none. The message of Refused is for the person. */
export async function join({ world, near, ...request }: JoinRequest, relay = location.origin): Promise<Seat> {
  try {
    const wish = { ...request, version: PAGE_VERSION, world: world || undefined, near: near || undefined };
    return await requestSeat(relay, wish, globalThis);
  } catch (error) {
    throw error instanceof Refused ? new Refused(error.problem, wordsOf(error.problem)) : error;
  }
}

/** Returns what the page's relay says at this path, or undefined when it does not answer or refuses. */
export async function read<Answer>(path: string): Promise<Answer | undefined> {
  return answerOf(fetch(path, { signal: AbortSignal.timeout(ANSWER_MS_MAX) }));
}

/** Returns how many desktops are in all worlds, without residents, or undefined when the relay does not answer. */
export async function fetchDesktopCount(): Promise<number | undefined> {
  const counts = await read<{ desktops: number; residents: number }>('/v1/worlds');
  return counts && counts.desktops - counts.residents;
}

/** Says how many desktops are here. */
export function countWords(count: number): string {
  return count === 0 ? phrase('here.none') : counted('here', count);
}

/** A name for a new private world, which nobody can guess. */
export function privateWorldName(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const text = btoa(String.fromCharCode(...bytes));
  return `${PRIVATE}${text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
}

/** The world as people see it: a name that was made here means nothing to them, nor does that of the default world. */
export function shownWorld(world: string): string {
  if (world === 'commons') return phrase('state.commons');
  return world.startsWith(PRIVATE) ? phrase('state.private') : world;
}

/** A desktop's name as people see it: of a resident, what it is in their language. */
export function shownName(name: string): string {
  return isResident(name) ? phrase('resident.name', { name: name.slice(0, -RESIDENT_SUFFIX.length) }) : name;
}

const PRIVATE = 'private-';

/** Returns the present neighbours, or null when the relay does not answer or refuses. */
export async function fetchNeighbours(seat: Seat): Promise<Neighbours | null> {
  const answer = send(seat, 'GET', `/v1/desktops/${seat.desktop}`);
  return (await answerOf<{ neighbours: Neighbours }>(answer))?.neighbours ?? null;
}

/** Returns who else is here, or undefined when the relay does not answer or refuses. */
export function fetchCompany(seat: Seat): Promise<Company | undefined> {
  return answerOf(send(seat, 'GET', `/v1/desktops/${seat.desktop}/company`));
}

/** Uploads a .spr file. Resolves to null when the relay has it now, else to why not. */
export function upload(seat: Seat, file: string, bytes: Uint8Array<ArrayBuffer>): Promise<Problem | null> {
  const response = fetch(`${relayOf(seat)}/v1/sprites/${file}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${seat.token}`, 'content-type': 'image/png' },
    body: bytes,
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
  });
  return problemOf(response);
}

/** What a person says about a picture that it publishes. */
export interface Publication {
  file: string;
  title: string;
  author: string;
  licence: string;
}

/** Offers a picture to the relay's gallery, and resolves to how it stands. Throws an Error whose message is for the person. */
export async function publish(seat: Seat, publication: Publication): Promise<'waiting' | 'listed'> {
  const response = await send(seat, 'POST', '/v1/gallery', publication).catch(() => {
    throw new Error(phrase('relay.unreachable'));
  });
  if (response.ok) return (await response.json()).state;
  throw new Error(wordsOf(await readProblem(response)));
}

/** Lets neighbours peek at the stage of this desktop, or not. Resolves to null when the relay has agreed, else to why not. */
export function showStage(seat: Seat, stage: boolean): Promise<Problem | null> {
  return problemOf(send(seat, 'PUT', `/v1/desktops/${seat.desktop}/stage`, { stage }));
}

/** Lets public pages show the name of this desktop, or not. Resolves as showStage() does. */
export function showName(seat: Seat, named: boolean): Promise<Problem | null> {
  return problemOf(send(seat, 'PUT', `/v1/desktops/${seat.desktop}/named`, { named }));
}

/** Mutes another desktop. Resolves to null when the relay has agreed, else to why not. */
export function mute(seat: Seat, desktop: string): Promise<Problem | null> {
  return problemOf(send(seat, 'POST', `/v1/desktops/${seat.desktop}/mutes`, { desktop }));
}

export function unmute(seat: Seat, desktop: string): Promise<Problem | null> {
  return problemOf(send(seat, 'DELETE', `/v1/desktops/${seat.desktop}/mutes/${desktop}`));
}

/** Reports a picture. `desktop`: the one that has thrown it, as far as it is known. */
export function report(seat: Seat, file: string, desktop?: string): Promise<Problem | null> {
  return problemOf(send(seat, 'POST', '/v1/reports', { file, desktop }));
}

/** Ends this desktop while the page is going: the browser sends the request after the page has gone. */
export function leave(seat: Seat): void {
  const headers = { authorization: `Bearer ${seat.token}` };
  fetch(`${relayOf(seat)}/v1/desktops/${seat.desktop}`, { method: 'DELETE', headers, keepalive: true }).catch(() => {});
}

/** Sends a request as the desktop of this seat, to its relay. Rejects when there is no response in time. */
export function send(seat: Seat, method: string, path: string, body?: object): Promise<Response> {
  return fetch(`${relayOf(seat)}${path}`, {
    method,
    headers: { authorization: `Bearer ${seat.token}`, ...(body && { 'content-type': 'application/json' }) },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
  });
}

async function answerOf<Answer>(answer: Promise<Response>): Promise<Answer | undefined> {
  try {
    const response = await answer;
    return response.ok ? await response.json() : undefined;
  } catch {
    return undefined;
  }
}

/** Resolves to null when the relay has agreed, else to why it refused or that it could not be reached. */
export async function problemOf(answer: Promise<Response>): Promise<Problem | null> {
  try {
    const response = await answer;
    return response.ok ? null : await readProblem(response);
  } catch {
    return { code: 'unreachable', title: phrase('relay.unreachable') };
  }
}
