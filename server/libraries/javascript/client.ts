/**
 * `sprites-client`: a desktop without a window, for programs in a browser, Node or Deno. It is made of the page's own modules.
 *
 * README.md beside the archives is its manual; python/sprites_client.py has the same words. It speaks long-polls, as HTTP is everywhere.
 * Invariant: a sprite that was thrown has a verdict, or is asked about, under its number and at the seat that sent it.
 */
import type { Entrance, Goal, Journey } from '../../web/motion/simulation.ts';
import { Arrivals } from '../../web/relay/arrivals.ts';
import type { OpenTransport } from '../../web/relay/connection.ts';
import { Departures, type Way } from '../../web/relay/departures.ts';
import { openFormer } from '../../web/relay/farewell.ts';
import { nextStep, OUTWARDS, type Step } from '../../web/relay/goal.ts';
import { type JoinRequest, Refused, requestSeat } from '../../web/relay/joining.ts';
import { readJourney, travelled } from '../../web/relay/journey.ts';
import { Peek } from '../../web/relay/peek.ts';
import { poll } from '../../web/relay/poll.ts';
import type { FetchEnvironment } from '../../web/relay/posts.ts';
import { readUpTo } from '../../web/relay/read_up_to.ts';
import { Sayings, tidy } from '../../web/relay/sayings.ts';
import { Seating } from '../../web/relay/seating.ts';
import { fittingStage } from '../../web/relay/stage.ts';
import { StagePosts } from '../../web/relay/stage_posts.ts';
import {
  type Arrival,
  type Companion,
  type Company,
  type CrossingSprite,
  type Neighbour,
  type Neighbours,
  type Problem,
  type RelayEvent,
  readProblem,
  relayOf,
  type Seat,
  type Sender,
  type Stage,
  type StageSprite,
  sleep,
  type Transport,
} from '../../web/relay/transport.ts';
import { ANSWER_MS_MAX, EDGES, type Edge, type EdgeNumber, EVENTS, opposite } from '../../wire/rules.ts';

export type { Arrival, Companion, Company, Edge, Goal, Neighbour, Neighbours, Problem };
export { Refused };

/** No relay answers: the message says where, and why. */
export class NoAnswer extends Error {}

/** A sprite as one throws it: the picture's hash, and how it looks. By default it has no name, faces right, and is twice as large as its picture. */
export type Sprite = Pick<CrossingSprite, 'file'> & Partial<CrossingSprite>;

/**
 * How a sprite flies. By default from the middle of the edge, outwards and a little up.
 *
 * Units   at in 0 … 1 along the edge, from the left or the top; vx to the right and vy down, in device-independent px/s.
 */
export type Motion = Partial<Pick<Arrival, 'at' | 'vx' | 'vy'>>;

/** A sprite that others see when they look in; x and y are the middle of its feet, in px of this desktop's screen. */
export type Shown = Omit<StageSprite, 'file'> & { file: string };

/** What the library itself tells, beside the events of the relay. */
type OwnEvent =
  /** The relay answers now, or does not any more. */
  | { type: 'connected'; is: boolean }
  /** This desktop has another seat: another id and another invitation. */
  | { type: 'seated'; desktop: string; invitation: string }
  /** The relay has passed this sprite on to somebody else: it is no longer here. */
  | ({ type: 'lost' } & Omit<Arrival, 'type'>)
  /** What is beyond the edge does not show itself. It is asked again. */
  | { type: 'hidden'; edge: Edge; problem: Problem };

/** What the relay tells the library alone. */
const KEPT = ['ping', 'bye', 'watched'] as const;

type ClientEvent = Exclude<RelayEvent, { type: (typeof KEPT)[number] }> | OwnEvent;

/** The types of the events that a program can have a function for. */
const HANDLED: readonly string[] = [
  ...Object.keys(EVENTS).filter((type) => !KEPT.some((kept) => kept === type)),
  ...(['connected', 'seated', 'lost', 'hidden'] satisfies OwnEvent['type'][]),
];

/** The functions of a program, one for each type of event. PROTOCOL.md (Events) describes the events of the relay. */
export type Handlers = {
  [Type in ClientEvent['type']]?: (event: Extract<ClientEvent, { type: Type }>) => unknown;
};

export interface Options extends Partial<JoinRequest> {
  on?: Handlers;
}

const SCREEN = { width: 800, height: 600 };
const SPEED = 900; // px/s of a throw that says none: what a hand does
const LIFT = -200; // px/s, up, likewise
const PASS_ON_MS = 1_000; // ms that a sprite which nobody handles stays: alone, a desktop throws to itself
const RETRY_MS = 3_000; // ms until such a sprite is thrown again when it was refused
const TICK_MS = 100; // ms between two looks at whether a peek or a stage is due
const LEAVE_MS = 2_000; // ms that leaving waits for verdicts, and for its answer
const ANSWER_BYTES_MAX = 1 << 20; // bytes of an answer: a full batch has less than 128 KiB

/**
 * Joins a world at a relay, such as `http://localhost:8080`.
 *
 * Throws  Refused; NoAnswer; TypeError for another address, or a function for an event that there is not.
 */
export async function join(relay: string, { on = {}, ...wish }: Options = {}): Promise<Desktop> {
  const url = URL.canParse(relay) ? new URL(relay) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(`A relay's address begins with http:// or https://, not as ${JSON.stringify(relay)}.`);
  }
  const unknown = Object.keys(on).find((type) => !HANDLED.includes(type));
  if (unknown !== undefined)
    throw new TypeError(`There is no event ${unknown}. A function may be for ${HANDLED.join(', ')}.`);
  const request = { screen: SCREEN, ...wish };
  const environment = { fetch: boundedFetch, random: Math.random, sleep };
  const seat = await answered(url.origin, requestSeat(url.origin, request, environment));
  return new Desktop(url.origin, request, on, seat, environment);
}

/** What a relay has answered. Throws Refused; NoAnswer with a sentence, whatever kept the answer from coming. */
async function answered<Answer>(relay: string, asked: Promise<Answer>): Promise<Answer> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Refused) throw error;
    const { name, message, cause } = error as Error;
    const silence = `No relay answers at ${relay}: ${cause instanceof Error ? cause.message : message}`;
    const isSilent = name === 'TypeError' || name === 'TimeoutError'; // as fetch says it
    const noRelay = `What answers at ${relay} is no relay of sprites`;
    const tooLong = `${noRelay}: the answer has more than ${ANSWER_BYTES_MAX} bytes.`;
    const said = { SyntaxError: `${noRelay}.`, RangeError: tooLong }[name] ?? message;
    throw new NoAnswer(isSilent ? silence : said, { cause: error });
  }
}

/** A sprite that is here: one that has come with the last batch is taken away again if the relay has passed it on. */
interface Guest {
  file: string;
  arrival: Arrival;
  /** It goes on by itself, and no handler knows it. */
  passes: boolean;
}

/** A throw on its way. */
interface Leaving extends Entrance {
  sprite: CrossingSprite;
  animation: string;
  journey: Journey;
}

type ThrowVerdict = { to: Neighbour | null } | { refused: Problem };
type SayVerdict = { heard: number | null } | { refused: Problem };
/** `asked`: the other one may answer for `leaseMs`. */
type SwapVerdict = { swap: 'asked' | 'done' | 'declined'; leaseMs?: number } | { refused: Problem };

export class Desktop {
  /** Who is beyond each edge, as far as the relay has told. */
  neighbours: Neighbours = {};
  /** Resolves when this desktop has left. Rejects with what a function of the program has thrown: that ends the desktop. */
  readonly ended: Promise<void>;
  readonly #request: JoinRequest;
  readonly #on: Handlers;
  readonly #environment: FetchEnvironment;
  readonly #end: PromiseWithResolvers<void> = Promise.withResolvers();
  readonly #closing = new AbortController();
  /** The throws without a verdict. */
  readonly #deciding = new Map<Leaving, PromiseWithResolvers<ThrowVerdict>>();
  readonly #formerWays = new Set<Way>();
  #said: Promise<unknown> = Promise.resolve();
  #heard: (verdict: SayVerdict) => void = () => {};
  #shown: readonly Shown[] = [];
  #isWatched = false;
  #timer: ReturnType<typeof setInterval> | undefined;

  readonly #arrivals = new Arrivals<Guest>({
    enter: (arrival) => {
      const passes = this.#on.sprite === undefined || this.#nextStep(arrival) !== null;
      const guest = { file: arrival.sprite.file, arrival, passes };
      if (passes) void this.#passOn(guest);
      else this.#tell(arrival);
      return guest;
    },
    remove: (guest) => {
      if (!guest.passes) this.#tell({ ...guest.arrival, type: 'lost' });
      guest.passes = false;
    },
  });

  readonly #departures = new Departures<Leaving>({
    save: () => {},
    accepted: (leaving, to) => this.#decide(leaving, { to }),
    returned: (leaving, refused) => this.#decide(leaving, { refused }),
    openFormer: (sender) => this.#openFormer(sender),
  });

  readonly #sayings = new Sayings({
    save: () => {},
    accepted: (_, heard) => this.#heard({ heard }),
    refused: (_, refused) => this.#heard({ refused }),
  });

  readonly #peek = new Peek({
    now: () => performance.now(),
    ask: async (edge) => this.#transport?.peek(edge) ?? 'unknown',
    refused: (edge, problem) => this.#tell({ type: 'hidden', edge, problem }),
  });

  readonly #posts = new StagePosts({
    now: () => performance.now(),
    stage: (_, without) => this.#stage(without),
    post: async (stage) => {
      const verdict = await (this.#transport?.show(stage) ?? 'unknown');
      const refused = verdict !== 'unknown' && 'refused' in verdict ? verdict.refused : undefined;
      if (refused?.code === 'malformed') this.#fail(new Refused(refused)); // show() was given something else than sprites
      return verdict;
    },
    watched: (edges) => {
      this.#isWatched = edges.length > 0;
      this.#tick();
    },
  });

  readonly #seating: Seating<Guest>;
  #transport: Transport | undefined;

  /** Use join(). */
  constructor(began: string, request: JoinRequest, on: Handlers, seat: Seat, environment: FetchEnvironment) {
    this.#request = request;
    this.#on = on;
    this.#environment = environment;
    this.ended = this.#end.promise;
    const open: OpenTransport = (one, handlers) => poll(one, handlers, environment);
    const options = { began, first: 'poll', open: { poll: open, socket: open }, arrivals: this.#arrivals } as const;
    this.#seating = new Seating<Guest>(
      { ...options, environment },
      {
        join: (relay, { world, stage }) =>
          requestSeat(relay, { ...this.#request, near: undefined, world, stage }, environment),
        seated: () => {},
        leaving: () => this.#posts.watched([]),
        replaced: () => {
          this.#peek.restart();
          this.#tell({ type: 'seated', desktop: this.desktop, invitation: this.invitation });
        },
        opened: (one, transport) => {
          this.#transport = transport;
          this.#departures.use(one, transport);
          this.#sayings.use(transport);
        },
        changed: (_, is) => this.#tell({ type: 'connected', is }),
        received: (_, events) => this.#receive(events),
        save: () => {},
      },
    );
    this.#seating.take(seat);
  }

  /** The id of its present seat. */
  get desktop(): string {
    return this.#seat.desktop;
  }

  /** A secret: who has it may join beside this desktop (`near`). */
  get invitation(): string {
    return this.#seat.invitation;
  }

  /** The name of its world. */
  get world(): string {
    return this.#seat.world;
  }

  /** Whether the relay answers. */
  get connected(): boolean {
    return this.#seating.connection.up;
  }

  /**
   * Throws a sprite over an edge, or to somebody of company() over the desktops in between. Resolves when the relay has decided, however
   * often the throw has to be repeated for that.
   *
   * Shape   `to` is who has the sprite now, null when the relay can't say. `refused`: it is still yours, and bounces off the edge.
   */
  async throw(sprite: Sprite, to: Edge | Goal, motion: Motion = {}): Promise<ThrowVerdict> {
    const way = typeof to === 'string' ? { edge: to } : await this.#firstStep(to);
    return way === null ? { refused: NOT_THERE } : this.#throw(sprite, way, motion);
  }

  /** Asks the relay when the neighbours, as it has told them, are no way: in a large world it tells them late. */
  async #firstStep(goal: Goal): Promise<Step | null> {
    const step = nextStep(goal, null, this.neighbours);
    if (step !== null) return step;
    const looked = await this.#ask<{ neighbours: Neighbours }>('GET', `/v1/desktops/${this.desktop}`).catch(() => null);
    return looked !== null && 'neighbours' in looked ? nextStep(goal, null, looked.neighbours) : null;
  }

  #throw(
    sprite: Sprite,
    { edge, goal }: Omit<Step, 'goal'> & Partial<Step>,
    { at = 0.5, vx, vy }: Motion,
  ): Promise<ThrowVerdict> {
    const [right, down] = OUTWARDS[edge] ?? [0, 0];
    const look = { name: '', animation: 'fall', facing: right < 0 ? 'left' : 'right', scale: 2, ...sprite } as const;
    const motion = { edge, at, vx: vx ?? right * SPEED, vy: vy ?? (down * SPEED || LIFT), ...(goal && { goal }) };
    const said = { name: tidy(this.#request.name ?? ''), author: '', nowMs: Date.now() };
    const journey = travelled(readJourney(sprite.journey), said);
    const leaving = { ...motion, sprite: look, animation: look.animation, journey };
    const deciding = Promise.withResolvers<ThrowVerdict>();
    this.#deciding.set(leaving, deciding);
    this.#departures.depart(leaving);
    return deciding.promise;
  }

  #decide(leaving: Leaving, verdict: ThrowVerdict): void {
    this.#deciding.get(leaving)?.resolve(verdict);
    this.#deciding.delete(leaving);
  }

  /**
   * Says a line of text, of 280 bytes at most. Resolves when the relay has decided: `heard` is how many others it is for, null when the relay
   * can't say.
   */
  say(text: string): Promise<SayVerdict> {
    const verdict = this.#said.then(
      () =>
        new Promise<SayVerdict>((resolve) => {
          this.#heard = resolve;
          this.#sayings.say(tidy(text));
        }),
    );
    this.#said = verdict;
    return verdict;
  }

  /** Looks over an edge until the next call; null ends it. The events `stage` bring what is there. `hidden` says that nothing is shown. */
  peek(edge: Edge | null): void {
    this.#peek.look(edge);
    this.#tick();
  }

  /**
   * Sets what neighbours see who look in, if this desktop has joined with `stage: true`: the first STAGE_SPRITES_MAX of them, or as many as fit.
   * Each sprite keeps its `id`. What a relay can't read ends this desktop.
   */
  show(sprites: readonly Shown[]): void {
    this.#shown = sprites;
    this.#posts.tick();
  }

  /** Returns pictures of the relay's gallery to throw, its own characters first. Throws NoAnswer; Refused. */
  async gallery(): Promise<{ file: string; name: string }[]> {
    const { entries } = await this.#read<{ entries: { file: string; title: string }[] }>('/v1/gallery');
    return entries.map(({ file, title }) => ({ file, name: title }));
  }

  /** Returns who else is in the world, as far as the relay lists them. Throws NoAnswer; Refused. */
  company(): Promise<Company> {
    return this.#read(`/v1/desktops/${this.desktop}/company`);
  }

  /** Asks somebody of company() to change places, or takes the place of one who is away. The event `swap` tells of a yes. Throws NoAnswer. */
  swap({ name, column, row }: Goal): Promise<SwapVerdict> {
    return this.#ask('POST', `/v1/desktops/${this.desktop}/swap`, { name, column, row });
  }

  /** Answers the one that an event `swap` has as `from`. Throws NoAnswer. */
  async answer({ desktop }: Neighbour, accept: boolean): Promise<SwapVerdict> {
    const said = await this.#ask('PUT', `/v1/desktops/${this.desktop}/swap`, { from: desktop, accept });
    return 'refused' in said ? said : { swap: accept ? 'done' : 'declined' };
  }

  async #read<Said extends object>(path: string): Promise<Said> {
    const said = await this.#ask<Said>('GET', path);
    if ('refused' in said) throw new Refused(said.refused);
    return said;
  }

  #ask<Said extends object>(method: string, path: string, body?: object): Promise<Said | { refused: Problem }> {
    const { token } = this.#seat;
    const relay = relayOf(this.#seat);
    const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) };
    const request = { method, headers, body: body && JSON.stringify(body), signal: AbortSignal.timeout(ANSWER_MS_MAX) };
    const read = async (response: Response) => {
      if (!response.ok) return { refused: await readProblem(response) };
      return response.status === 204 ? {} : response.json();
    };
    return answered(relay, this.#environment.fetch(`${relay}${path}`, request).then(read));
  }

  /** Leaves. What waits at the relay for this desktop goes on; a throw without a verdict is asked about for up to LEAVE_MS. */
  async leave(): Promise<void> {
    const decided = [...this.#deciding.values()].map(({ promise }) => promise);
    await Promise.race([Promise.all(decided), sleep(LEAVE_MS, this.#closing.signal)]);
    if (this.#closing.signal.aborted) return;
    const { desktop, token } = this.#seat;
    this.#close();
    const headers = { authorization: `Bearer ${token}` };
    const signal = AbortSignal.timeout(LEAVE_MS);
    const url = `${relayOf(this.#seat)}/v1/desktops/${desktop}`;
    await this.#environment.fetch(url, { method: 'DELETE', headers, signal }).catch(() => {}); // its lease ends it
    this.#end.resolve();
  }

  get #seat(): Seat {
    return this.#seating.connection.seat as Seat;
  }

  #close(): void {
    this.#closing.abort();
    this.#seating.close();
    for (const way of this.#formerWays) way.close();
    clearInterval(this.#timer);
  }

  #openFormer(sender: Sender): Way {
    const way = openFormer(sender, this.#environment);
    this.#formerWays.add(way);
    if (this.#closing.signal.aborted) way.close();
    return way;
  }

  #receive(events: readonly RelayEvent[]): void {
    for (const event of events) {
      if (event.type === 'neighbours') this.neighbours = event;
      else if (event.type === 'removed') this.#arrivals.removePicture(event.file);
      else if (event.type === 'watched') this.#posts.watched(event.edges);
      const isPeekDue = event.type === 'neighbours' || (event.type === 'stage' && event.from === undefined);
      if (isPeekDue) this.#peek.askSoon();
      // Sprites were told when they entered; a type that nobody knows is none of ours.
      if (event.type !== 'sprite' && Object.hasOwn(EVENTS, event.type)) this.#tell(event as ClientEvent);
    }
  }

  /** Calls the handler, if there is one. What it throws, now or later, ends this desktop. */
  #tell(event: ClientEvent): void {
    const handler = Object.hasOwn(this.#on, event.type) ? this.#on[event.type] : undefined;
    if (handler === undefined || this.#closing.signal.aborted) return;
    new Promise((resolve) => resolve((handler as (event: ClientEvent) => unknown)(event))).catch((error) =>
      this.#fail(error),
    );
  }

  #fail(error: unknown): void {
    this.#close();
    this.#end.reject(error);
  }

  /** Where a sprite goes on that is on its way to somebody else; null for one that stays. */
  #nextStep({ goal, from }: Arrival): Step | null {
    const stays = goal === undefined || from.desktop === this.desktop;
    return stays ? null : nextStep(goal, tidy(this.#request.name ?? ''), this.neighbours);
  }

  /**
   * A sprite that is on its way to somebody else goes on; when that is refused, it stays. One that no handler takes flies on, over the
   * opposite edge.
   */
  async #passOn(guest: Guest): Promise<void> {
    const { edge, sprite, at, vx, vy } = guest.arrival;
    const { signal } = this.#closing;
    const onwards = { edge: EDGES[opposite(EDGES.indexOf(edge) as EdgeNumber)] };
    for (let waitMs = PASS_ON_MS, mayPass = true; !signal.aborted; waitMs = RETRY_MS, mayPass = false) {
      await sleep(waitMs, signal);
      if (signal.aborted || !guest.passes || this.#arrivals.isRemoved(sprite.file)) return;
      const step = mayPass ? this.#nextStep(guest.arrival) : null;
      if (step === null && this.#on.sprite !== undefined) {
        guest.passes = false;
        this.#tell(guest.arrival);
        return;
      }
      if ('to' in (await this.#throw(sprite, step ?? onwards, step === null ? { at, vx, vy } : {}))) return;
    }
  }

  #stage(without: ReadonlySet<string>): Stage {
    const shown = this.#shown.filter(({ file }) => !without.has(file));
    return fittingStage(this.#request.screen, shown, (sprite, file) => ({ ...sprite, file }));
  }

  /** Looks whether a peek or a stage is due, and again for as long as that may be. */
  #tick(): void {
    this.#peek.tick();
    this.#posts.tick();
    const isBusy = this.#isWatched || this.#peek.wanted !== null;
    if (isBusy && !this.#closing.signal.aborted) this.#timer ??= setInterval(() => this.#tick(), TICK_MS);
    else {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }
}

const NOT_THERE: Problem = { code: 'no-neighbour', title: 'Nobody of this name is there.' };

/** Fetches, and rejects when the answer is longer than any of a relay. */
const boundedFetch: typeof fetch = async (input, init) => {
  const { status, headers, body } = await fetch(input, init);
  return new Response(body && (await readUpTo(body, ANSWER_BYTES_MAX)), { status, headers });
};
