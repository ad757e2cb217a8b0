/**
 * One resident: a desktop without a screen that catches sprites, plays with them for a while, and throws them back or on.
 *
 * It is a client like the page, made of the page's own client and simulation, and speaks the public protocol.
 * Invariant: a sprite is in the simulation, pending, waiting for room, or with the relay; it is thrown on within HOLD_MS_MAX, unless nobody
 * else is there.
 * Cost: nothing while nothing is here and nobody looks; else ten steps a second.
 */

import {
  addSprite,
  bounceBack,
  type Carried,
  createSimulation,
  type Departure,
  enter,
  type Random,
  removeSprite,
  SPRITES_MAX,
  type Sprite,
  step,
  throwTo,
  WAVE_MS,
} from '../web/motion/simulation.ts';
import { Arrivals } from '../web/relay/arrivals.ts';
import { Departures } from '../web/relay/departures.ts';
import { openFormer } from '../web/relay/farewell.ts';
import { Refused, requestSeat } from '../web/relay/joining.ts';
import { carriedOf, readCarried, travelled } from '../web/relay/journey.ts';
import { poll } from '../web/relay/poll.ts';
import type { FetchEnvironment } from '../web/relay/posts.ts';
import { Sayings } from '../web/relay/sayings.ts';
import { stageOf } from '../web/relay/stage.ts';
import { StagePosts } from '../web/relay/stage_posts.ts';
import {
  type Arrival,
  joinPauseMs,
  type Neighbour,
  type Neighbours,
  type RelayEvent,
  type Seat,
  type Transport,
} from '../web/relay/transport.ts';
import { isResident } from '../wire/resident.ts';
import { EDGES, type Edge } from '../wire/rules.ts';
import type { SavedResident } from './saved.ts';
import type { Temper } from './tempers.ts';

/** ms that a resident keeps a sprite at most, in the air and on the ground. A throw that is refused is tried again after RETRY_MS. */
export const HOLD_MS_MAX = 110_000;
export const RETRY_MS = 3_000;

/** ms between two steps while something moves or somebody looks; else nothing is stepped, and throws are looked for once a second. */
const STEP_MS = 100;
const LOOK_MS = 1_000;

/** Its screen: so small that a neighbour who looks over any edge sees all of it (STAGE_DEPTH). */
const SCREEN = { width: 900, height: 460 };

/** How its guests move: as the shipped characters do. */
const NATURE = { width: 44, height: 52, walkSpeed: 60, jumpSpeed: 420, gravity: 1800, bounce: 0.3, hopChance: 0.12 };

/** What a resident needs of the process that runs it. */
export interface Home {
  /** The origins of the relay's ports, as this process reaches them. */
  readonly api: string;
  readonly events: string;
  readonly environment: FetchEnvironment;
  now(): number;
  /** Writes what all residents are responsible for. */
  save(): void;
  /** What this resident answers to a saying of a person who is alone with residents, or is not; undefined: nothing, or another one answers. */
  answer(resident: Resident, from: Neighbour, text: string, isAlone: boolean): string | undefined;
  /** The file of a shipped character. */
  fileOf(character: string): string | undefined;
  /** It has given everything away, and left. */
  left(resident: Resident): void;
}

/** What a resident knows of a sprite that is with it. */
interface Stay {
  readonly entered: Edge;
  readonly sinceMs: number;
  throwMs: number;
}

export class Resident {
  readonly temper: Temper;
  readonly #home: Home;
  readonly #random: Random;
  readonly #simulation = createSimulation(SCREEN.width, SCREEN.height);
  readonly #stays = new Map<Sprite, Stay>();
  readonly #closing = new AbortController();
  #seat: Seat | null = null;
  #transport: Transport | null = null;
  #neighbours: Neighbours = {};
  #watched: readonly Edge[] = [];
  #isLeaving = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  readonly #arrivals: Arrivals = new Arrivals({
    enter: (arrival) => this.#admit(arrival),
    remove: (sprite) => this.#forget(sprite),
  });

  readonly #departures: Departures = new Departures({
    save: () => this.#home.save(),
    accepted: () => {},
    returned: (departure) => this.#returned(departure),
    openFormer: (sender) => openFormer(sender, this.#home.environment),
  });

  readonly #sayings = new Sayings({ save: () => this.#home.save(), accepted: () => {}, refused: () => {} });

  readonly #posts = new StagePosts({
    now: () => this.#home.now(),
    stage: (edges, without) => stageOf(this.#simulation, edges, (file) => !without.has(file)),
    post: async (stage) => this.#transport?.show(stage) ?? 'unknown',
    watched: (edges) => {
      this.#watched = edges;
    },
  });

  constructor(temper: Temper, home: Home, saved?: SavedResident) {
    this.temper = temper;
    this.#home = home;
    this.#random = home.environment.random;
    if (saved !== undefined) this.#resume(saved);
    else void this.#join();
    this.#wake(LOOK_MS);
  }

  get desktop(): string | undefined {
    return this.#seat?.desktop;
  }

  /** Throws everything on, then leaves. */
  leave(): void {
    this.#isLeaving = true;
    this.#wake(0);
  }

  /** Undefined without a seat. */
  saved(): SavedResident | undefined {
    if (this.#seat === null) return undefined;
    return {
      name: this.temper.name,
      seat: this.#seat,
      seq: this.#arrivals.seq,
      nextCrossing: this.#departures.nextNumber,
      nextSaying: this.#sayings.nextNumber,
      guests: [...this.#stays.keys()].map((sprite) => ({
        sprite: carriedOf(sprite),
        seq: this.#arrivals.seqInLastBatch(sprite),
      })),
      leaving: this.#departures.pending.map(({ crossing, sender: { desktop, token, crossings } }) => ({
        crossing,
        sender: { desktop, token, crossings },
      })),
      waiting: this.#arrivals.waiting,
    };
  }

  #resume({ seat, seq, nextCrossing, nextSaying, guests, leaving, waiting }: SavedResident): void {
    this.#arrivals.seq = seq;
    this.#departures.nextNumber = nextCrossing;
    this.#sayings.nextNumber = nextSaying;
    for (const guest of guests) {
      const sprite = this.#add(guest.sprite, 'left');
      if (guest.seq !== undefined) this.#arrivals.resumeLastBatch(sprite, guest.seq);
    }
    for (const { crossing, sender } of leaving) {
      const sprite = this.#add(crossing.sprite, crossing.edge);
      this.#forget(sprite);
      this.#departures.resume({ departure: { ...crossing, sprite }, crossing, sender });
    }
    this.#arrivals.waiting.push(...waiting);
    for (const one of waiting) this.#arrivals.resumeLastBatch(one, one.seq);
    this.#sit(seat);
  }

  async #join(): Promise<void> {
    const { api, environment } = this.#home;
    const { signal } = this.#closing;
    for (let attempt = 0; this.#transport === null && !signal.aborted; attempt++) {
      try {
        const seat = await requestSeat(api, { name: this.temper.name, screen: SCREEN, stage: true }, environment);
        if (!signal.aborted) this.#sit(this.#reached(seat));
      } catch (error) {
        const problem = error instanceof Refused ? error.problem : undefined;
        await environment.sleep(joinPauseMs(attempt, this.#random, problem), signal);
      }
    }
  }

  /** The addresses of a seat as this process reaches them: the public ones may lead to a proxy. */
  #reached(seat: Seat): Seat {
    const at = (origin: string, url: string) => origin + new URL(url).pathname;
    return { ...seat, events: at(this.#home.events, seat.events), crossings: at(this.#home.api, seat.crossings) };
  }

  #sit(seat: Seat): void {
    this.#seat = seat;
    this.#transport = poll(
      seat,
      {
        events: (events, cursor) => this.#receive(seat, events, cursor),
        cursorLost: (cursor) => {
          this.#arrivals.restart();
          seat.cursor = cursor;
          this.#home.save();
        },
        connected: (is) => void (is && this.#look(seat)),
        impossible: () => {},
        ended: (_, lostAfter) => {
          this.#arrivals.removeAfter(lostAfter);
          this.#arrivals.restart();
          this.#posts.watched([]);
          this.#transport = null;
          this.#home.save();
          if (!this.#closing.signal.aborted) void this.#join();
        },
      },
      this.#home.environment,
    );
    this.#departures.use(seat, this.#transport);
    this.#sayings.use(this.#transport);
    this.#home.save();
  }

  /** Asks who is beside it: a relay tells a seat that goes on only what changes. */
  async #look(seat: Seat): Promise<void> {
    const headers = { authorization: `Bearer ${seat.token}` };
    try {
      const url = `${this.#home.api}/v1/desktops/${seat.desktop}`;
      const response = await this.#home.environment.fetch(url, { headers, signal: this.#closing.signal });
      if (response.ok && seat === this.#seat) this.#neighbours = (await response.json()).neighbours;
    } catch {
      // The next event tells it.
    }
  }

  async #receive(seat: Seat, events: readonly RelayEvent[], cursor: string): Promise<boolean> {
    this.#arrivals.receive(events);
    for (const event of events) {
      if (event.type === 'neighbours') this.#neighbours = event;
      else if (event.type === 'removed') this.#removePicture(event.file);
      else if (event.type === 'saying') this.#hear(event.from, event.text);
      else if (event.type === 'watched') this.#showTo(event.edges);
    }
    seat.cursor = cursor;
    this.#home.save();
    this.#wake(0);
    await this.#arrivals.untilRoom();
    return !this.#closing.signal.aborted;
  }

  #hear(from: Neighbour, text: string): void {
    if (from.desktop === this.desktop || isResident(from.name)) return;
    const isAlone = this.#people.every((edge) => this.#neighbours[edge]!.desktop === from.desktop);
    const answer = this.#home.answer(this, from, text, isAlone);
    if (answer === undefined) return;
    const { sleep } = this.#home.environment;
    void sleep(700 + 900 * this.#random(), this.#closing.signal).then(() => this.#sayings.say(answer));
  }

  /** Somebody looks, or nobody does any more: the resident's own character waves. */
  #showTo(edges: readonly Edge[]): void {
    const file = this.#home.fileOf(this.temper.character);
    let own = this.#simulation.sprites.find(({ fromShelf }) => fromShelf);
    if (own === undefined && file !== undefined && edges.length > 0) {
      const x = SCREEN.width / 2;
      const sprite = { file, name: '', scale: 2, fromShelf: true, nature: NATURE, facing: 'right', x } as const;
      own = addSprite(this.#simulation, { ...sprite, y: SCREEN.height });
    }
    if (own !== undefined && edges.length > this.#watched.length) {
      own.mode = 'wave';
      own.sinceMs = this.#simulation.nowMs;
      own.nextMs = own.sinceMs + WAVE_MS;
    }
    this.#posts.watched(edges);
  }

  #admit(arrival: Arrival): Sprite | null {
    if (this.#simulation.sprites.length >= SPRITES_MAX) return null;
    const sprite = this.#add(arrival.sprite, arrival.edge);
    enter(this.#simulation, sprite, arrival);
    return sprite;
  }

  #add(carried: Carried, entered: Edge): Sprite {
    const at = { x: SCREEN.width / 2, y: SCREEN.height };
    const sprite = addSprite(this.#simulation, { ...readCarried(carried), fromShelf: false, nature: NATURE, ...at });
    const nowMs = this.#home.now();
    const { playMs, playMsSpread } = this.temper;
    this.#stays.set(sprite, { entered, sinceMs: nowMs, throwMs: nowMs + playMs + playMsSpread * this.#random() });
    return sprite;
  }

  #forget(sprite: Sprite): void {
    removeSprite(this.#simulation, sprite);
    this.#stays.delete(sprite);
  }

  #removePicture(file: string): void {
    this.#arrivals.removePicture(file);
    for (const sprite of this.#simulation.sprites.filter((one) => one.file === file)) this.#forget(sprite);
  }

  #returned(departure: Departure): void {
    const { sprite, edge } = departure;
    if (this.#arrivals.isRemoved(sprite.file)) return;
    bounceBack(this.#simulation, departure);
    const nowMs = this.#home.now();
    this.#stays.set(sprite, { entered: edge, sinceMs: nowMs, throwMs: nowMs + RETRY_MS });
    this.#home.save();
    this.#wake(STEP_MS);
  }

  #wake(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#advance(), ms);
  }

  /** Moves everything on, and throws what is due. */
  #advance(): void {
    if (this.#closing.signal.aborted) return;
    const nowMs = this.#home.now();
    for (const departure of step(this.#simulation, nowMs, this.#random)) this.#depart(departure);
    this.#arrivals.admitWaiting();
    for (const [sprite, stay] of this.#stays) this.#throwIfDue(sprite, stay, nowMs);
    this.#posts.tick();
    if (this.#isLeaving && this.#holdsNothing) void this.#end();
    else this.#wake(this.#isMoving ? STEP_MS : LOOK_MS);
  }

  get #holdsNothing(): boolean {
    return this.#stays.size + this.#departures.pending.length + this.#arrivals.waiting.length === 0;
  }

  get #isMoving(): boolean {
    return this.#watched.length > 0 || this.#simulation.sprites.some(({ mode }) => mode === 'fall');
  }

  #depart(departure: Departure): void {
    this.#stays.delete(departure.sprite);
    const said = { name: this.temper.name, author: '', nowMs: Date.now() };
    this.#departures.depart({ ...departure, journey: travelled(departure.sprite.journey, said) });
  }

  #throwIfDue(sprite: Sprite, stay: Stay, nowMs: number): void {
    if (this.#transport === null || sprite.mode === 'fall' || (nowMs < stay.throwMs && !this.#isLeaving)) return;
    const isLate = this.#isLeaving || nowMs >= stay.sinceMs + HOLD_MS_MAX;
    const edge = this.#edgeFor(stay.entered, isLate);
    if (edge === undefined) return;
    stay.throwMs = nowMs + RETRY_MS; // if it does not cross
    throwTo(this.#simulation, sprite, edge);
  }

  /**
   * Where to throw: to a person, usually back to where the sprite came from. When only residents are near, a sprite that is late goes on.
   * Undefined: nowhere.
   */
  #edgeFor(entered: Edge, isLate: boolean): Edge | undefined {
    const [others, people] = [this.#others, this.#people];
    const back = people.includes(entered) && this.#random() >= this.temper.passesOn ? [entered] : people;
    const choice = back.length > 0 ? back : isLate ? others : [];
    return choice[Math.floor(this.#random() * choice.length)];
  }

  /** The edges beyond which another desktop is. */
  get #others(): Edge[] {
    return EDGES.filter((edge) => (this.#neighbours[edge]?.desktop ?? this.desktop) !== this.desktop);
  }

  /** Those of them beyond which a person is. */
  get #people(): Edge[] {
    return this.#others.filter((edge) => !isResident(this.#neighbours[edge]!.name));
  }

  async #end(): Promise<void> {
    const seat = this.#seat;
    this.#closing.abort();
    this.#transport?.close();
    this.#seat = null;
    this.#home.left(this);
    if (seat === null) return;
    const headers = { authorization: `Bearer ${seat.token}` };
    const url = `${this.#home.api}/v1/desktops/${seat.desktop}`;
    await this.#home.environment.fetch(url, { method: 'DELETE', headers }).catch(() => {}); // its lease ends it
  }
}
