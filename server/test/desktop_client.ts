/**
 * A well-behaved client: it joins, follows the cursor, and repeats a throw under its number until it has a verdict.
 *
 * It uses long-polls or a socket, as its options say. Either way, `received` lists the sprites in order, each once, as the
 * cursor guarantees.
 */
import http from 'node:http';
import { WebSocket } from 'ws';
import type { ProblemDocument } from '../wire/problem.ts';
import type { Edge } from '../wire/rules.ts';

/** Time between two tries after an error, in ms. Short for a relay that starts again, and not a load for the machine on which it starts. */
const RETRY_MS = 100;

export interface Reference {
  desktop: string;
  name: string;
}

export interface Journey {
  hops: number;
  since: number;
  by: string;
  from: string[];
}

export interface SpriteEvent {
  type: 'sprite';
  seq: number;
  from: Reference;
  edge: Edge;
  at: number;
  vx: number;
  vy: number;
  sprite: { file: string; name: string; animation: string; facing: string; scale: number; journey?: Journey };
  goal?: { name: string; column: number; row: number };
}

/** Edges whose neighbour is not known yet are absent. */
export type Neighbours = { type: 'neighbours' } & Partial<Record<Edge, Reference>>;
export type SayingEvent = { type: 'saying'; from: Reference; text: string; edge?: Edge };
export type Missed = { type: 'missed'; sayings: number };
export type Watched = { type: 'watched'; edges: Edge[] };
export interface StageEvent {
  type: 'stage';
  edge: Edge;
  /** These are absent at the end of a watch. */
  ageMs?: number;
  from?: Reference;
  width?: number;
  height?: number;
  files: string[];
  sprites: { id: number; file?: number; x: number; y: number; vx?: number; vy?: number; animation?: string }[];
}
export type Notice = { type: 'removed'; file: string } | { type: 'announcement'; text: string };
export type Event =
  | SpriteEvent
  | Neighbours
  | Notice
  | SayingEvent
  | Missed
  | Watched
  | StageEvent
  | { type: 'swap'; with?: Reference; from?: Reference; leaseMs?: number }
  | { type: 'ping' }
  | { type: 'bye'; retryAfterMs: number; join?: string };

export interface Batch {
  cursor: string;
  events: Event[];
}

/** The events that tell who is here: they come with the next second. */
const NEWS: readonly string[] = ['neighbours', 'company'];

/** The types of what a batch brings besides NEWS. */
export function typesOf({ events }: Batch): string[] {
  return events.map(({ type }) => type).filter((type) => !NEWS.includes(type));
}

export interface Joined {
  desktop: string;
  token: string;
  invitation: string;
  world: string;
  pictures: string;
  stage: boolean;
  named: boolean;
  cursor: string;
  here: { world: number; relay: number };
  events: string;
  crossings: string;
  socket: string;
  pingSeconds: number;
  leaseSeconds: number;
}

/** A desktop as its own relay describes it. */
export interface Described {
  name: string;
  place: number;
  world: string;
  neighbours: Partial<Record<Edge, Reference>>;
}

/** A complete response. */
export interface HttpResponse {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: Buffer;
  /** The body parsed as JSON; undefined when it is not JSON. */
  json: unknown;
}

/** The hash of a file that need not exist: the relay does not check. */
export const FILE = '2c538f2f10dced8434ff60e955d98a472736bece7c539b709d2d010e5c2b84aa';

/** Returns the body of a crossing with this number, edge and name. */
export function crossingOf(crossing: number, edge: Edge = 'right', name = 'Blob') {
  return { crossing, edge, at: 0.25, vx: 900, vy: -50, sprite: { file: FILE, name } };
}

export interface RequestOptions {
  method?: string;
  token?: string;
  headers?: http.OutgoingHttpHeaders;
  /** An object is sent as JSON. */
  body?: object | Buffer | string;
  agent?: http.Agent;
  signal?: AbortSignal;
}

/** Sends one request and resolves to the complete response. Rejects when the connection breaks before that. */
export function sendRequest(url: string, options: RequestOptions = {}): Promise<HttpResponse> {
  const { method = 'GET', token, headers = {}, body, agent, signal } = options;
  const bytes =
    body === undefined || Buffer.isBuffer(body)
      ? body
      : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const head: http.OutgoingHttpHeaders = { ...headers };
  if (token !== undefined) head.authorization = `Bearer ${token}`;
  if (bytes) head['content-length'] = bytes.length;
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method, headers: head, agent: agent ?? false, signal }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part) => parts.push(part));
      response.on('error', reject);
      response.on('end', () => {
        const whole = Buffer.concat(parts);
        const { statusCode: status = 0, headers: answered } = response;
        resolve({ status, headers: answered, body: whole, json: jsonOf(whole) });
      });
    });
    request.on('error', reject);
    request.end(bytes);
  });
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

/** Joins and returns the body of the response. Throws when the relay refuses. */
export async function join(url: string, wish: object = {}, agent?: http.Agent): Promise<Joined> {
  const answer = await sendRequest(`${url}/v1/desktops`, {
    method: 'POST',
    body: { screen: { width: 1920, height: 1080 }, ...wish },
    agent,
  });
  if (answer.status !== 201) throw new Error(`join was answered ${answer.status}: ${answer.body}`);
  return answer.json as Joined;
}

/** Asks the relay of a desktop for it and its neighbours. */
export async function look({ desktop, token, crossings }: Joined): Promise<Described> {
  const answer = await sendRequest(`${new URL(crossings).origin}/v1/desktops/${desktop}`, { token });
  if (answer.status !== 200) throw new Error(`look was answered ${answer.status}: ${answer.body}`);
  return answer.json as Described;
}

/** Posts a crossing once. */
export function post(desktop: Joined, crossing: object, agent?: http.Agent): Promise<HttpResponse> {
  return sendRequest(desktop.crossings, { method: 'POST', token: desktop.token, body: crossing, agent });
}

/** Polls once. Without a cursor the poll acknowledges nothing. */
export function poll(desktop: Joined, cursor?: string, options: RequestOptions = {}): Promise<HttpResponse> {
  const query = cursor === undefined ? '' : `?cursor=${cursor}`;
  return sendRequest(`${desktop.events}${query}`, { token: desktop.token, ...options });
}

/** Polls until `found` holds for an event. Resolves to all events received meanwhile, and the cursor to go on with. */
export async function pollFor(desktop: Joined, cursor: string, found: (event: Event) => boolean): Promise<Batch> {
  const events: Event[] = [];
  let at = cursor;
  while (!events.some(found)) {
    const answer = await poll(desktop, at);
    if (answer.status !== 200) throw new Error(`poll was answered ${answer.status}: ${answer.body}`);
    const batch = answer.json as Batch;
    events.push(...batch.events);
    at = batch.cursor;
  }
  return { cursor: at, events };
}

export const isSprite = (event: Event): event is SpriteEvent => event.type === 'sprite';

/** The outcome of a throw: the receiver, or why it was refused for good. */
export interface ThrowOutcome {
  to?: Reference | null;
  problem?: ProblemDocument;
}

export interface ClientOptions {
  name?: string;
  world?: string;
  /** A friend's invitation. */
  near?: string;
  transport?: 'poll' | 'socket';
}

export class DesktopClient {
  readonly joined: Joined;
  readonly received: SpriteEvent[] = [];
  readonly sayings: SayingEvent[] = [];
  readonly notices: Notice[] = [];
  neighbours: Neighbours | undefined;
  byes = 0;
  pings = 0;
  /** Polls and throws whose connection broke or that were answered 503. */
  retries = 0;
  cursor: string;
  /** The problem with which the relay ended this desktop. */
  ended: ProblemDocument | undefined;
  readonly #socketKind: boolean;
  readonly #agent = new http.Agent({ keepAlive: true });
  readonly #quit = new AbortController();
  readonly #loop: Promise<void>;
  #socket: WebSocket | undefined;
  readonly #verdicts = new Map<number, (verdict: ThrowOutcome | undefined) => void>();
  #nextCrossing = 1;

  static async join(url: string, options: ClientOptions = {}): Promise<DesktopClient> {
    const { transport, ...wish } = options;
    return new DesktopClient(await join(url, wish), transport ?? 'poll');
  }

  constructor(joined: Joined, transport: 'poll' | 'socket') {
    this.joined = joined;
    this.cursor = joined.cursor;
    this.#socketKind = transport === 'socket';
    this.#loop = this.#socketKind ? this.#followSocket() : this.#followPolls();
  }

  /**
   * Throws a sprite and retries until there is an outcome. Resolves to undefined when this client is stopped before. `goal`: of the
   * crossing; what is beside it: of the sprite.
   */
  async throw(
    edge: Edge,
    name: string,
    { goal, ...more }: { goal?: SpriteEvent['goal']; [member: string]: unknown } = {},
  ): Promise<ThrowOutcome | undefined> {
    const crossing = crossingOf(this.#nextCrossing++, edge, name);
    const body = { ...crossing, goal, sprite: { ...crossing.sprite, ...more } };
    while (!this.#quit.signal.aborted) {
      const verdict = await (this.#socketKind ? this.#sendThrow(body) : this.#postThrow(body));
      const again = verdict === undefined || verdict.problem?.status === 503 || verdict.problem?.status === 429;
      if (!again) return verdict;
      this.retries++;
      await this.#rest();
    }
    return undefined;
  }

  /** Leaves; waiting sprites go on to the next desktop. */
  async leave(): Promise<HttpResponse> {
    const { desktop, token, crossings } = this.joined;
    const url = `${new URL(crossings).origin}/v1/desktops/${desktop}`;
    const answer = await sendRequest(url, { method: 'DELETE', token });
    await this.stop();
    return answer;
  }

  /** Stops without leaving: the desktop falls silent. */
  async stop(): Promise<void> {
    this.#quit.abort();
    this.#socket?.terminate();
    await this.#loop;
    this.#agent.destroy();
  }

  async #followPolls(): Promise<void> {
    while (!this.#quit.signal.aborted && !this.ended) {
      try {
        const answer = await poll(this.joined, this.cursor, { agent: this.#agent, signal: this.#quit.signal });
        if (answer.status === 200) this.#receive(answer.json as Batch);
        else this.#handleProblem(answer.json as ProblemDocument);
        if (answer.status === 503) await this.#rest();
      } catch {
        this.retries++;
        await this.#rest();
      }
    }
  }

  async #followSocket(): Promise<void> {
    while (!this.#quit.signal.aborted && !this.ended) {
      await new Promise<void>((over) => {
        const socket = new WebSocket(this.joined.socket);
        this.#socket = socket;
        socket.on('open', () => socket.send(JSON.stringify({ token: this.joined.token, cursor: this.cursor })));
        socket.on('message', (bytes) => {
          const message = JSON.parse(bytes.toString());
          if ('crossing' in message) this.#verdicts.get(message.crossing)?.(message);
          else if (message.problem) this.#handleProblem(message.problem);
          else {
            this.#receive(message);
            socket.send(JSON.stringify({ cursor: this.cursor }));
          }
        });
        socket.on('error', () => {});
        socket.on('close', () => {
          for (const settle of this.#verdicts.values()) settle(undefined);
          over();
        });
      });
      if (this.#quit.signal.aborted || this.ended) return;
      this.retries++;
      await this.#rest();
    }
  }

  #receive(batch: Batch): void {
    for (const event of batch.events) {
      if (event.type === 'sprite') this.received.push(event);
      else if (event.type === 'saying') this.sayings.push(event);
      else if (event.type === 'neighbours') this.neighbours = event;
      else if (event.type === 'ping') this.pings++;
      else if (event.type === 'bye') this.byes++;
      else if (event.type === 'removed' || event.type === 'announcement') this.notices.push(event);
    }
    this.cursor = batch.cursor;
  }

  #handleProblem(document: ProblemDocument): void {
    if (document.code === 'desktop-ended') this.ended = document;
    else if (document.cursor) this.cursor = document.cursor;
    else if (document.status !== 503) this.ended = document;
  }

  async #postThrow(body: object): Promise<ThrowOutcome | undefined> {
    try {
      const answer = await post(this.joined, body, this.#agent);
      return answer.status === 202
        ? (answer.json as { to: Reference | null })
        : { problem: answer.json as ProblemDocument };
    } catch {
      return undefined;
    }
  }

  #sendThrow(body: { crossing: number }): Promise<ThrowOutcome | undefined> {
    const socket = this.#socket;
    if (socket?.readyState !== WebSocket.OPEN) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#verdicts.set(body.crossing, (verdict) => {
        this.#verdicts.delete(body.crossing);
        resolve(verdict);
      });
      socket.send(JSON.stringify(body));
    });
  }

  #rest(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, RETRY_MS * (0.5 + Math.random())));
  }
}
