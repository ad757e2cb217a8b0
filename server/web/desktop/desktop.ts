/**
 * A desktop in a browser: joins a world, runs the simulation, sends sprites over the edges and receives those that arrive.
 *
 * Invariant: a sprite is in the simulation, pending (departures), waiting for room (arrivals), or with the relay. A sprite
 * is saved (session.ts) before a poll acknowledges it.
 * `?transport=poll` starts with the long-poll instead of the socket. `#near=INVITATION` joins beside a friend, `#world=NAME`
 * proposes a world: both are secrets, and browsers send a fragment to no server. `&from=NAME` names the friend to the visitor.
 * `?world=NAME` is for names that are none. With `?sprite=HASH` an invitation carries a sprite, whose picture chats show of the link.
 */

import { isResident } from '../../wire/resident.ts';
import { EDGES, type Edge } from '../../wire/rules.ts';
import {
  addSprite,
  bounceBack,
  createSimulation,
  type Departure,
  type Entrance,
  enter,
  opposite,
  type Point,
  removeSprite,
  SPRITES_MAX,
  type Sprite,
  speak,
  spriteAt,
  step,
  throwTo,
  wave,
} from '../motion/simulation.ts';
import { forgetPicture } from '../pictures/kept_pictures.ts';
import { animatePortraits } from '../pictures/portraits.ts';
import { natureOf, Sheets, spriteName } from '../pictures/sheets.ts';
import { type Figure, Shelf } from '../pictures/shelf.ts';
import { answerOffers } from '../pictures/taking.ts';
import {
  fetchCompany,
  fetchDesktopCount,
  fetchNeighbours,
  join,
  leave,
  mute,
  publish,
  report,
  showName,
  shownName,
  shownWorld,
  showStage,
  unmute,
  upload,
} from '../relay/api_client.ts';
import { Arrivals } from '../relay/arrivals.ts';
import { Away } from '../relay/away.ts';
import { Departures } from '../relay/departures.ts';
import { openFormer } from '../relay/farewell.ts';
import { nextStep, type Step } from '../relay/goal.ts';
import { Refused } from '../relay/joining.ts';
import { carriedOf, readCarried, travelled } from '../relay/journey.ts';
import { poll } from '../relay/poll.ts';
import { labelOf, wordsOf } from '../relay/problem_words.ts';
import { tidy } from '../relay/sayings.ts';
import { type Reason, Seating } from '../relay/seating.ts';
import { socket } from '../relay/socket.ts';
import {
  type Arrival,
  type Companion,
  type Neighbour,
  type Neighbours,
  type Problem,
  type RelayEvent,
  relayOf,
  type Seat,
} from '../relay/transport.ts';
import { chosenLanguages, keepPlace, phrase, reasonOf } from '../texts/language.ts';
import { part } from '../texts/part.ts';
import type { AwayPanel } from './away_panel.ts';
import { Renderer, type Tag, zoomOf } from './canvas.ts';
import { chime, watchSoundSwitch } from './chime.ts';
import { CompanyPanel } from './company_panel.ts';
import { Conversation } from './conversation.ts';
import { element } from './elements.ts';
import { advance, createFrameClock } from './frame_clock.ts';
import type { Games } from './games.ts';
import { Guests } from './guests.ts';
import { Input } from './input.ts';
import { showCode } from './invitation_code.ts';
import { askToJoin, friendIn } from './join_dialog.ts';
import { type MenuEntry, openMenu } from './menu.ts';
import { FRAME_MS, Moments } from './moments.ts';
import {
  announce,
  type Beyond,
  flashEdge,
  ledges,
  notice,
  offerProgram,
  onFilesDropped,
  type State,
  showDesktopCount,
  showIcon,
  showLonely,
  showNeighbours,
  showParade,
  showPaused,
  showShelf,
  showStageSwitch,
  showState,
} from './panel.ts';
import { Peeking } from './peeking.ts';
import { PUBLIC_NAME, watchPublicName } from './public_name.ts';
import { askToPublish, publishedText } from './publishing.ts';
import { isWave } from './reactions.ts';
import { watchReloads } from './reloads.ts';
import {
  claimDesktop,
  clearSession,
  HAS_THROWN,
  NAME,
  readFriendlyName,
  readSession,
  type SavedSprite,
  type Session,
  UNSIGNED,
  writeSession,
} from './session.ts';

const SAVE_MS = 2_000; // ms between two saves of where the sprites are; what matters more is saved at once
const NAME_TAG_MS = 1_500; // ms a selected sprite shows its name
const FROM_TAG_MS = 6_000; // ms an arrived sprite shows whose it was
const REFUSED_TAG_MS = 3_500; // ms a returned sprite shows why
const MENU_SLACK = 6; // px by which a pointer may miss the sprite it opens a menu for
const LEDGE_MS = 500; // ms between two looks at where the page's cards are
const ANNOUNCEMENT_MS = 30_000; // ms a line of the operator is shown: it may be the reason why everything stops soon
const FIRST_MS = 15_000; // ms a new visitor is shown how to throw: time to read it, look for a neighbour's name, and try
const SLOW_BYTES = 2 ** 20; // bytes of a file from which a page says that it is busy: a phone takes seconds for a large photograph
const READING_MS = 60_000; // ms the page says so at most
const DRAWING_MS = 120_000; // ms the page says at most that it draws an animation
const STILL_FRAME_MS = 250; // ms between two frames of a paused page, at least
const FIRST_SPRITES = 3; // sprites on a new desktop, whose characters come before the others

/** What most visitors do not need, or not at once. */
const awayPanel = part(() => import('./away_panel.ts'));
const games = part(() => import('./games.ts'));
const journeyWords = part(() => import('./journey_words.ts'));
const photographs = part(() => import('./photographs.ts'));
const swapping = part(() => import('./swapping.ts'));

/** What is said when the desktop has another seat. */
const REPLACED = {
  ended: 'desktop.rejoined',
  stopped: 'desktop.moved',
  gone: 'desktop.found-again',
} as const satisfies Record<Reason, string>;

const query = new URLSearchParams(location.search);
const random = Math.random;
const calm = matchMedia('(prefers-reduced-motion: reduce)');
const dark = matchMedia('(prefers-color-scheme: dark)');

/** Where a sprite goes next that is thrown to somebody. `passes`: by somebody else, and it is only seen on its way. */
interface Heading extends Step {
  readonly passes: boolean;
  /** With which it came, if it passes: so its game goes on with it. */
  readonly animation?: string;
}

/** What an invitation carries, until it is here: the picture of a sprite, and who sends it. */
interface Gift {
  readonly file: string;
  readonly from: string;
}

/** All state of this page: the parts of a desktop, and what connects them. Nothing runs before `start`. */
class Desktop {
  /** The name the person joined with. */
  name = '';
  readonly simulation = createSimulation(1, 1);
  readonly clock = createFrameClock();
  /** Px of the page for each px of the simulation. */
  zoom = 1;
  readonly tags = new Map<Sprite, Tag>();
  /** Who threw each sprite that arrived. */
  readonly senders = new WeakMap<Sprite, Neighbour>();
  readonly guests = new Guests();
  /** Null until somebody has thrown something here. */
  games: Games | null = null;
  readonly companyPanel = new CompanyPanel(
    (friend) => throwToFriend(this, friend),
    (friend) => void swapWith(this, friend).catch(tellReason),
  );
  /** Ids of the desktops that this seat mutes. */
  readonly muted = new Set<string>();
  /** Who is beyond the edges, as far as the relay has told this seat. */
  neighbours: Neighbours = {};
  /** Sprites on their way to somebody, and where each goes next. */
  readonly headings = new Map<Sprite, Heading>();
  /** Sprites that were thrown without a connection, and the edges over which they go on. They are in the simulation meanwhile. */
  readonly waiting = new Map<Sprite, Edge>();
  /** Where the own sprites are that were thrown; null before the first throw. */
  away = new Away();
  awayPanel: AwayPanel | null = null;
  /** Thrown sprites whose pictures the relay must get before their crossings. */
  readonly uploading = new Set<Sprite>();
  /** Whether the person is still to be shown how to throw, as soon as there is a neighbour. */
  isNew = !HAS_THROWN.isMade;
  /** A sprite was thrown, and a resident has thrown one here: the person knows how it goes. */
  hasThrown = false;
  isPlayedWith = false;
  beyond: Beyond = 'people';
  gift: Gift | null = null;
  /** Removes what shows the person how to throw. */
  endLesson = () => {};
  /** Whether the page had gone for good and has come back, until its seat gets events or is replaced. */
  wasAway = false;

  readonly sheets: Sheets = new Sheets({
    changed: (file) => sheetChanged(this, file),
    inUse: (file) =>
      this.shelf.has(file) ||
      this.simulation.sprites.some((sprite) => sprite.file === file) ||
      this.peeking.files().includes(file),
    relay: () => (this.connection.seat === null ? '' : relayOf(this.connection.seat)),
  });
  readonly shelf = new Shelf(this.sheets);
  readonly renderer = new Renderer(element<HTMLCanvasElement>('canvas'), this.sheets);
  /** What a person can still take a picture of. */
  readonly moments = new Moments();
  /** A picture is being drawn. */
  isPhotographed = false;

  readonly arrivals = new Arrivals({
    enter: (arrival) => admit(this, arrival),
    remove: (sprite) => removeForGood(this, sprite),
  });

  readonly seating: Seating<Sprite> = new Seating(
    {
      began: location.origin,
      first: query.get('transport') === 'poll' ? 'poll' : 'socket',
      open: { socket, poll },
      arrivals: this.arrivals,
    },
    {
      join: (relay, { world, stage }) => requestSeat(this, { world, near: '', stage }, relay),
      seated: (seat) => seated(this, seat),
      leaving: () => show(this, 'reconnecting'),
      replaced: (reason) =>
        notice(phrase(reason === 'ended' && this.wasAway ? 'desktop.welcome-back' : REPLACED[reason])),
      opened: (seat, transport, kind) => {
        document.body.dataset.transport = kind;
        this.departures.use(seat, transport);
        this.conversation.use(transport);
        this.peeking.use(transport, seat);
        void tellPublicName(this, seat);
      },
      changed: (seat, up) => void connectionChanged(this, seat, up),
      received: (seat, events) => received(this, seat, events),
      save: () => save(this),
    },
  );

  readonly connection = this.seating.connection;

  readonly departures: Departures = new Departures({
    save: () => save(this),
    accepted: (departure, to) => accepted(this, departure, to),
    returned: (departure, problem) => refuse(this, departure, labelOf(problem)),
    openFormer,
  });

  readonly peeking = new Peeking({
    simulation: this.simulation,
    zoom: () => this.zoom,
    seat: () => this.connection.seat,
    isShown: (file) => this.sheets.unsent(file) === undefined,
  });

  readonly input = new Input(element<HTMLCanvasElement>('canvas'), this.simulation, {
    onDesktop: (event) => pointOf(this, event),
    selected: (sprite) => {
      if (sprite !== null) void tellJourney(this, sprite, NAME_TAG_MS);
    },
    rested: (sprite) => {
      if (sprite.journey !== undefined) void tellJourney(this, sprite, FROM_TAG_MS);
    },
    putBack: (sprite) => {
      if (sprite.fromShelf) removeSprite(this.simulation, sprite);
      else notice(phrase('desktop.not-yours', { name: sprite.name }));
    },
    togglePause: () => togglePause(this),
    say: () => say(this),
    react: (reaction) => this.connection.seat !== null && this.conversation.react(reaction),
    photograph: (kind) => void photograph(this, kind),
    peek: () => this.peeking.next(),
    stopPeeking: () => this.peeking.stop(),
  });

  readonly conversation: Conversation = new Conversation({
    self: () => this.connection.seat?.desktop ?? '',
    save: () => save(this),
    isMuted: (id) => this.muted.has(id),
    toggleMute: (neighbour) => muteEntry(this, neighbour).choose(),
    spriteOf: (id) => speakingSprite(this, id),
    speaks: (sprite, text) => {
      if (!this.waiting.has(sprite)) this.tags.delete(sprite); // its bubble has the place of the tag
      if (isWave(text)) wave(this.simulation, sprite, sprite.facing);
      else speak(this.simulation, sprite);
    },
    zoom: () => this.zoom,
    slide: () => this.peeking.view.slide,
  });
}

await start(new Desktop());

async function start(desktop: Desktop): Promise<void> {
  exposeToTests(desktop);
  fit(desktop);
  watchPage(desktop);
  offerProgram();
  watchSoundSwitch();
  keepPlace();
  // Pages on plain http have no service workers, and are not installed.
  navigator.serviceWorker?.register('/service_worker.js').catch(() => {});
  requestAnimationFrame((frameMs) => drawFrames(desktop, frameMs));
  element('bar').inert = false; // the page was shown before this program could answer its buttons
  const session = readSession();
  if (session !== null && (await claimDesktop(session.seat.desktop))) {
    element<HTMLDialogElement>('join').close();
    await fillShelf(desktop, () => {});
    await resume(desktop, session);
    const taken = new URLSearchParams(location.hash.slice(1)).get('take');
    clearFragment();
    await take(desktop, taken);
    return;
  }
  clearSession();
  // The welcome waits for no picture: each character drops in behind it as soon as it is here.
  void fillShelf(desktop, (figure, number) => {
    if (number < FIRST_SPRITES) dropIn(desktop, figure);
  }).then(async () => {
    await desktop.shelf.addAllKept();
    drawShelf(desktop);
  });
  const fragment = new URLSearchParams(location.hash.slice(1));
  const near = fragment.get('near') ?? '';
  const world = fragment.get('world') ?? query.get('world') ?? '';
  const reload = () => location.reload(); // another link was opened in this tab
  addEventListener('hashchange', reload);
  fetchDesktopCount().then(showDesktopCount);
  const friendly = readFriendlyName(random, chosenLanguages());
  const host = near === '' ? undefined : friendIn(fragment);
  awaitGift(desktop, query.get('sprite'), host ?? '');
  await askToJoin({ name: NAME.read() ?? '', friendly, world, host }, async (joining) => {
    desktop.name = joining.name || friendly;
    desktop.seating.take(await requestSeat(desktop, { world: joining.world, near }));
    NAME.write(joining.name);
  });
  removeEventListener('hashchange', reload);
  clearFragment();
  element('canvas').focus({ preventScroll: true });
  await take(desktop, fragment.get('take'));
}

/** The history keeps no secret. */
function clearFragment(): void {
  history.replaceState(null, '', location.pathname + location.search);
}

/** Puts a picture of the gallery, or one that the editor has made, on the shelf and lets it drop in. Null is none. */
async function take(desktop: Desktop, file: string | null): Promise<void> {
  if (file === null) return;
  const { connection, shelf } = desktop;
  const isHere = connection.seat === null || relayOf(connection.seat) === location.origin;
  const figure = (await shelf.addKept(file)) ?? (await shelf.addTaken(file, isHere));
  if (figure === undefined) {
    notice(phrase('desktop.not-fetched'));
    return;
  }
  drawShelf(desktop);
  dropIn(desktop, figure);
  notice(phrase('desktop.on-shelf', { name: figure.name }));
  await sendPicture(desktop, file);
  save(desktop);
}

/** The sprite of an invitation comes in as soon as its picture is here: the visitor sees it before anything is asked. */
function awaitGift(desktop: Desktop, file: string | null, from: string): void {
  if (file === null) return;
  desktop.gift = { file, from };
  desktop.sheets.get(file); // fetches it, and calls sheetChanged()
}

/** Lets the sprite of an invitation come in, over the edge beyond which the friend sits. */
function unpack(desktop: Desktop, { file, from }: Gift): void {
  const { sheets, simulation } = desktop;
  desktop.gift = null;
  const { description } = sheets.get(file);
  const { name, scale } = description;
  const nature = natureOf(description, scale);
  const sprite = addSprite(simulation, { file, name, scale, nature, fromShelf: false, facing: 'right', x: 0, y: 0 });
  enter(simulation, sprite, { edge: 'left', at: 0.4, vx: 0.6 * simulation.width, vy: -200 });
  showTag(desktop, sprite, from === '' ? name : phrase('desktop.from', { name, neighbour: from }), 'from', FROM_TAG_MS);
}

/** Sends a picture to the relay of the seat, unless that has it. Resolves to null, or to why the relay has not accepted it. */
async function sendPicture({ connection, sheets }: Desktop, file: string): Promise<Problem | null> {
  const unsent = sheets.unsent(file);
  if (unsent === undefined || connection.seat === null) return null;
  const problem = await upload(connection.seat, file, unsent);
  if (problem === null) sheets.markSent(file);
  return problem;
}

/**
 * Continues the same desktop: after a reload, and after the page had gone for good, too. If its seat has ended by then, its relay says so,
 * and the page joins again; if not, it must not become its own neighbour. Sprites are where they were; pending crossings are sent again.
 */
async function resume(desktop: Desktop, session: Session): Promise<void> {
  const { arrivals, departures, shelf, simulation } = desktop;
  desktop.name = session.name;
  arrivals.seq = session.seq;
  departures.nextNumber = session.nextNumber;
  desktop.conversation.resume(session.sayings);
  await shelf.addSaved(session.own, relayOf(session.seat));
  await shelf.addAllKept();
  drawShelf(desktop);
  for (const { seq, guest, goal, ...saved } of session.sprites) {
    const sprite = restoreSprite(desktop, saved);
    if (seq !== undefined) arrivals.resumeLastBatch(sprite, seq);
    if (guest !== undefined) addGuest(desktop, sprite, guest.from, guest.edge);
    if (guest !== undefined && goal !== undefined) head(desktop, sprite, { edge: guest.edge, goal });
  }
  for (const { sprite: saved, crossing, sender } of session.leaving) {
    const sprite = restoreSprite(desktop, saved);
    removeSprite(simulation, sprite);
    const { journey } = readCarried(crossing.sprite);
    departures.resume({ departure: { ...crossing, sprite, journey }, crossing, sender });
  }
  desktop.away = new Away(session.away);
  void showAway(desktop);
  arrivals.waiting.push(...session.waiting);
  const { length } = session.waiting;
  for (const one of session.waiting.slice(length - session.newWaiting)) arrivals.resumeLastBatch(one, one.seq);
  arrivals.admitWaiting();
  desktop.wasAway = session.left === true;
  desktop.seating.resume(session.seat);
}

/** Joins a world, by default at the page's relay. Throws Refused, or another Error whose message is for the person. */
async function requestSeat(
  { name, simulation }: Desktop,
  { near, ...wish }: { world: string; near: string; stage?: boolean },
  relay?: string,
): Promise<Seat> {
  const request = {
    name,
    ...wish,
    named: PUBLIC_NAME.isMade,
    screen: { width: simulation.width, height: simulation.height },
  };
  let seat: Seat;
  try {
    seat = await join({ ...request, near }, relay);
  } catch (error) {
    if (!(error instanceof Refused)) throw new Error(phrase('relay.unreachable-again'));
    const friendIsGone = error.problem.code === 'near-gone' || error.problem.code === 'malformed';
    if (near === '' || !friendIsGone) throw error;
    notice(phrase('desktop.friend-gone'));
    seat = await join(request, relay);
  }
  await claimDesktop(seat.desktop);
  return seat;
}

/** The desktop has another seat: what the relay knew of the former one is gone. */
function seated(desktop: Desktop, seat: Seat): void {
  desktop.muted.clear();
  desktop.neighbours = {};
  desktop.conversation.mutesChanged();
  desktop.companyPanel.clear();
  document.body.dataset.desktop = seat.desktop;
  element<HTMLAnchorElement>('second').href = invitation(desktop, seat);
  show(desktop, 'connecting');
  save(desktop);
}

/** Handles a batch of events whose sprites have entered. */
function received(desktop: Desktop, seat: Seat, events: RelayEvent[]): void {
  desktop.wasAway = false;
  desktop.conversation.hear(events);
  desktop.peeking.hear(events);
  for (const event of events) {
    if (event.type === 'removed') removePicture(desktop, event.file);
    else if (event.type === 'announcement') notice(event.text, ANNOUNCEMENT_MS);
    else if (event.type === 'swap') swapping().then(({ showSwap }) => showSwap(seat, event), tellReason);
  }
  const neighbours = events.findLast((event) => event.type === 'neighbours');
  if (neighbours !== undefined) setNeighbours(desktop, neighbours, seat);
  if (neighbours !== undefined || events.some(({ type }) => type === 'company')) void updateCompany(desktop, seat);
}

/** Takes a picture off this desktop: its sprites, and the figure on the shelf. */
function removePicture(desktop: Desktop, file: string): void {
  const { arrivals, shelf, sheets, simulation } = desktop;
  const shown = simulation.sprites.filter((sprite) => sprite.file === file);
  arrivals.removePicture(file);
  sheets.remove(file);
  for (const sprite of shown) removeForGood(desktop, sprite);
  const wasOnShelf = shelf.remove(file);
  if (wasOnShelf) drawShelf(desktop);
  if (wasOnShelf || shown.length > 0) notice(phrase('desktop.removed'));
}

async function connectionChanged(desktop: Desktop, seat: Seat, up: boolean): Promise<void> {
  show(desktop, up ? 'connected' : 'reconnecting');
  desktop.conversation.connectionChanged(up);
  if (!up) return;
  throwWaiting(desktop);
  desktop.sheets.retryMissing();
  void updateCompany(desktop, seat);
  const neighbours = await fetchNeighbours(seat);
  if (neighbours !== null) setNeighbours(desktop, neighbours, seat);
}

function setNeighbours(desktop: Desktop, neighbours: Neighbours, seat: Seat): void {
  const { conversation, peeking } = desktop;
  desktop.neighbours = neighbours;
  desktop.beyond = showNeighbours(neighbours, seat.desktop);
  drawLonely(desktop);
  if (desktop.isNew && desktop.beyond === 'people') {
    desktop.isNew = false;
    desktop.endLesson = notice(phrase('desktop.first'), FIRST_MS);
  }
  conversation.neighbours(neighbours);
  peeking.neighbours(neighbours);
}

/** Asks who else is here, and shows it. */
async function updateCompany({ companyPanel, connection, name }: Desktop, seat: Seat): Promise<void> {
  const company = await fetchCompany(seat);
  if (company !== undefined && connection.seat === seat) companyPanel.show(company, name, seat.world !== 'commons');
}

/** Asks somebody to change seats, or takes a free one. */
async function swapWith({ connection }: Desktop, friend: Companion): Promise<void> {
  const { askSwap } = await swapping();
  if (connection.seat !== null) await askSwap(connection.seat, friend);
}

/** Without people around there is a card, until a resident has thrown something back. */
function drawLonely({ beyond, isPlayedWith }: Desktop): void {
  showLonely(beyond === 'residents' && isPlayedWith ? 'people' : beyond);
}

/** The description of a picture is here: its sprites move as it says. */
function sheetChanged(desktop: Desktop, file: string): void {
  const { gift, simulation, sheets } = desktop;
  if (file === gift?.file && sheets.get(file).state === 'loaded') unpack(desktop, gift);
  for (const sprite of simulation.sprites) {
    if (sprite.file === file) sprite.nature = natureOf(sheets.get(file).description, sprite.scale);
  }
}

/** Removes a sprite that does not come back. */
function removeForGood({ simulation, tags, guests, headings }: Desktop, sprite: Sprite): void {
  removeSprite(simulation, sprite);
  headings.delete(sprite);
  tags.delete(sprite);
  guests.remove(sprite.id);
}

/** Lets an arrival enter; null while there is no room for another guest. */
function admit(desktop: Desktop, arrival: Arrival): Sprite | null {
  const { connection, guests, sheets, shelf, simulation } = desktop;
  const isOwn = arrival.from.desktop === connection.seat?.desktop;
  const carried = readCarried(arrival.sprite);
  const step =
    isOwn || arrival.goal === undefined ? null : nextStep(arrival.goal, tidy(desktop.name), desktop.neighbours);
  const { file, journey } = carried;
  const home = step === null ? updateAway(desktop, (away) => away.comeHome(file, journey, isOwn)) : undefined;
  const isHome = isOwn || home !== undefined;
  if (!isHome && !guests.hasRoom(arrival.from.desktop, simulation.nowMs)) return null;
  const { description } = sheets.get(carried.file);
  const sprite = addSprite(simulation, {
    ...carried,
    name: spriteName(carried.name, description),
    fromShelf: home !== undefined && shelf.has(carried.file),
    nature: natureOf(description, carried.scale),
    x: 0,
    y: 0,
    journey: home ?? journey,
  });
  enter(simulation, sprite, { ...arrival, isHome });
  if (!isHome) addGuest(desktop, sprite, arrival.from, opposite(arrival.edge));
  if (step !== null) head(desktop, sprite, step, arrival.sprite.animation);
  if (step !== null && connection.seat?.stage === false) {
    passUnseen(desktop, sprite, { ...arrival, edge: step.edge });
    return sprite;
  }
  if (!isOwn) chime('sprite');
  const { animation } = arrival.sprite;
  if (step === null && (!isOwn || animation !== 'fall'))
    void gamesOf(desktop).then((games) => games?.arrived(sprite, animation));
  if (desktop.hasThrown && isResident(arrival.from.name)) {
    desktop.isPlayedWith = true;
    drawLonely(desktop);
  }
  desktop.renderer.puff(
    { x: clampTo(sprite.x, simulation.width), y: clampTo(sprite.y, simulation.height) },
    simulation.nowMs,
  );
  flashEdge(arrival.edge);
  const greeting = home === undefined || isOwn ? undefined : desktop.awayPanel?.greeting(sprite.name, home);
  const words =
    step === null
      ? phrase('desktop.from', { name: sprite.name, neighbour: shownName(arrival.from.name) })
      : phrase('desktop.on-its-way', { name: sprite.name, friend: shownName(step.goal.name) });
  showTag(desktop, sprite, greeting ?? words, 'from', FROM_TAG_MS);
  if (greeting !== undefined) announce(greeting);
  return sprite;
}

/** The games that are played with what crosses edges. */
async function gamesOf(desktop: Desktop): Promise<Games | undefined> {
  const loaded = await games().catch(offline);
  if (loaded === undefined) return undefined;
  desktop.games ??= new loaded.Games({
    tags: desktop.tags,
    tag: (sprite, words) => showTag(desktop, sprite, words, 'from', FROM_TAG_MS),
    announce,
    over: (words) => {
      notice(words);
      chime('saying');
    },
  });
  return desktop.games;
}

/** Changes the list of the own sprites that are away, and shows it. */
function updateAway<Result>(desktop: Desktop, change: (away: Away) => Result): Result {
  const result = change(desktop.away);
  void showAway(desktop);
  return result;
}

/** Shows which own sprites are away. What does that is loaded with the first of them. */
async function showAway(desktop: Desktop): Promise<void> {
  if (desktop.awayPanel === null && desktop.away.all.length === 0) return;
  const loaded = await awayPanel().catch(offline);
  if (loaded === undefined) return;
  desktop.awayPanel ??= new loaded.AwayPanel(desktop.away);
  desktop.awayPanel.show();
}

/** A sprite of another desktop is here. `edge` is the one by which it goes on. */
function addGuest({ guests, muted, senders, simulation }: Desktop, sprite: Sprite, from: Neighbour, edge: Edge): void {
  senders.set(sprite, from);
  guests.add(sprite.id, from.desktop, edge, simulation.nowMs);
  if (muted.has(from.desktop)) guests.sendOn(from.desktop, simulation.nowMs); // it had waited for room
}

/** A guest is on its way to somebody else, and goes on by this step when it was seen. */
function head({ guests, headings, simulation }: Desktop, sprite: Sprite, step: Step, animation?: string): void {
  headings.set(sprite, { ...step, passes: true, animation });
  guests.pass(sprite.id, step.edge, simulation.nowMs);
}

/** Who hides the own stage sees nothing of what passes. */
function passUnseen(desktop: Desktop, sprite: Sprite, { edge, at, vx, vy }: Entrance): void {
  removeSprite(desktop.simulation, sprite);
  void depart(desktop, { edge, at, vx, vy, sprite });
}

/** Throws the selected sprite, or else the newest one, to somebody who may be several desktops away. */
function throwToFriend(desktop: Desktop, friend: Companion): void {
  const { connection, headings, neighbours, simulation } = desktop;
  const sprite = speakingSprite(desktop, connection.seat?.desktop ?? '') ?? simulation.sprites.at(-1);
  const step = nextStep(friend, null, neighbours);
  if (step === null) notice(phrase('company.gone', { name: shownName(friend.name) }));
  else if (sprite === undefined) notice(phrase('company.no-sprite'));
  else if (sprite !== simulation.held?.sprite) {
    if (simulation.steered?.sprite === sprite) simulation.steered = null;
    headings.set(sprite, { ...step, passes: false });
    throwTo(simulation, sprite, step.edge);
  }
}

/** Throws the next guest that is due to leave. */
function sendGuestOn({ connection, guests, simulation }: Desktop): void {
  const going = connection.up ? guests.next(simulation.nowMs) : null;
  const sprite = simulation.sprites.find(({ id }) => id === going?.id);
  if (going !== null && sprite !== undefined && sprite !== simulation.held?.sprite)
    throwTo(simulation, sprite, going.edge);
}

/** Sends a sprite that left the simulation to the relay. Without a connection it comes back in, and waits. */
async function depart(desktop: Desktop, departure: Departure): Promise<void> {
  const { connection, departures, sheets, uploading } = desktop;
  const { file } = departure.sprite;
  if (connection.seat === null || !connection.up) {
    wait(desktop, departure);
    return;
  }
  if (sheets.unsent(file) !== undefined) {
    uploading.add(departure.sprite);
    const problem = await sendPicture(desktop, file);
    uploading.delete(departure.sprite);
    if (problem !== null) {
      refuse(desktop, departure, labelOf(problem));
      return;
    }
  }
  const { edge, sprite } = departure;
  const step = desktop.headings.get(sprite);
  const journey = travelled(sprite.journey, {
    name: UNSIGNED.isMade ? '' : tidy(desktop.name),
    author: sheets.get(file).description.author,
    nowMs: Date.now(),
  });
  const isOnTheWay = step?.edge === edge;
  const passes = isOnTheWay && step.passes;
  const animation = passes ? step.animation : desktop.games?.animationOf(sprite);
  if (sprite.fromShelf) updateAway(desktop, (away) => away.leave({ sprite, journey }, nowS()));
  departures.depart({ ...departure, journey, animation, ...(isOnTheWay && { goal: step.goal }) });
}

/** Lets a sprite come back in until there is a connection. */
function wait(desktop: Desktop, departure: Departure): void {
  const { sprite, edge } = departure;
  if (!bounce(desktop, departure, phrase('desktop.waits'), Number.POSITIVE_INFINITY)) return;
  desktop.waiting.set(sprite, edge);
  notice(phrase('desktop.waits-there', { name: sprite.name }));
}

/** A sprite that somebody has taken up waits no more, and is on its way to nobody. */
function endWaits({ guests, headings, simulation, tags, waiting }: Desktop): void {
  for (const taken of [simulation.held?.sprite, simulation.steered?.sprite]) {
    if (taken === undefined) continue;
    if (waiting.delete(taken)) tags.delete(taken);
    if (headings.delete(taken)) guests.stay(taken.id);
  }
}

/** Throws the sprites that have waited. */
function throwWaiting({ simulation, tags, waiting }: Desktop): void {
  for (const [sprite, edge] of waiting) {
    tags.delete(sprite);
    if (simulation.sprites.includes(sprite)) throwTo(simulation, sprite, edge);
  }
  waiting.clear();
}

/** The relay has accepted a crossing: `to` is who gets the sprite, as far as it says so. */
function accepted(desktop: Desktop, departure: Departure, to: Neighbour | null): void {
  const { edge, sprite, goal } = departure;
  updateAway(desktop, (away) => away.accept(departure, to?.name ?? '', nowS()));
  const isPassing = desktop.headings.get(sprite)?.passes === true;
  desktop.headings.delete(sprite);
  desktop.guests.remove(sprite.id);
  desktop.games?.gone(sprite);
  if (isPassing && desktop.connection.seat?.stage === false) return;
  flashEdge(edge);
  if (to === null || isPassing) return;
  if (to.desktop === desktop.connection.seat?.desktop) {
    notice(phrase('desktop.home', { name: sprite.name }));
    return;
  }
  HAS_THROWN.make();
  desktop.hasThrown = true;
  desktop.endLesson();
  const isThere = goal === undefined || goal.name === to.name;
  notice(
    isThere
      ? phrase('desktop.with', { name: sprite.name, neighbour: shownName(to.name) })
      : phrase('desktop.on-its-way', { name: sprite.name, friend: shownName(goal.name) }),
  );
}

/** Lets a sprite come back in that the relay has refused. One on its way to somebody stays here. */
function refuse(desktop: Desktop, departure: Departure, reason: string): void {
  if (desktop.headings.delete(departure.sprite)) desktop.guests.stay(departure.sprite.id);
  if (departure.sprite.fromShelf) updateAway(desktop, (away) => away.refuse(departure));
  bounce(desktop, departure, reason);
}

/** Lets a sprite come back in, with the reason. Returns false for one whose picture was removed meanwhile: that is gone. */
function bounce(desktop: Desktop, departure: Departure, reason: string, ms = REFUSED_TAG_MS): boolean {
  if (desktop.arrivals.isRemoved(departure.sprite.file)) {
    desktop.guests.remove(departure.sprite.id);
    return false;
  }
  bounceBack(desktop.simulation, departure);
  showTag(desktop, departure.sprite, reason, 'refused', ms);
  return true;
}

/** Shows what a sprite is called, and where it has been. */
async function tellJourney(desktop: Desktop, sprite: Sprite, ms: number): Promise<void> {
  const { name, journey } = sprite;
  if (desktop.waiting.has(sprite)) return;
  showTag(desktop, sprite, name, 'name', ms);
  const words = journey && (await journeyWords().catch(offline));
  if (!words) return;
  const lines = words.journeyLines(name, journey, new Date());
  showTag(desktop, sprite, lines.join('\n'), 'name', FROM_TAG_MS);
  announce(lines.join('; '));
}

/** A part of the page's program can't be loaded now. What it does is left out. */
function offline(): undefined {}

/** Tells the person why something failed. */
function tellReason(error: unknown): void {
  notice(reasonOf(error));
}

function showTag({ simulation, tags }: Desktop, sprite: Sprite, text: string, kind: Tag['kind'], ms: number): void {
  tags.delete(sprite); // the newest is the last
  tags.set(sprite, { text, kind, untilMs: simulation.nowMs + ms });
}

/** Puts a sprite from the shelf into the simulation; by default somewhere in the middle part of the page. */
function dropIn({ guests, simulation }: Desktop, figure: Figure, x = (0.15 + 0.7 * random()) * simulation.width): void {
  if (guests.othersOf(simulation.sprites) >= SPRITES_MAX) {
    notice(phrase('desktop.full', { count: SPRITES_MAX }));
    return;
  }
  const { description, file } = figure;
  const nature = natureOf(description, description.scale);
  addSprite(simulation, {
    file,
    name: figure.name,
    scale: description.scale,
    facing: random() < 0.5 ? 'left' : 'right',
    fromShelf: true,
    nature,
    x,
    y: nature.height,
  });
}

/** Puts a saved sprite back where it was, but inside the page, which may be smaller now. */
function restoreSprite({ sheets, shelf, simulation }: Desktop, saved: SavedSprite): Sprite {
  const { file, scale, x, y, fromShelf, ...rest } = saved;
  const nature = natureOf(sheets.get(file).description, scale);
  const inside = { x: Math.min(x, simulation.width - nature.width / 2), y: Math.min(y, simulation.height) };
  return addSprite(simulation, { file, scale, nature, fromShelf: fromShelf && shelf.has(file), ...rest, ...inside });
}

function save(desktop: Desktop, ending: { left?: true } = {}): void {
  const { name, simulation, shelf, connection, arrivals, departures, guests, headings } = desktop;
  if (connection.seat === null) return;
  const toSaved = (sprite: Sprite): SavedSprite => ({
    ...carriedOf(sprite),
    fromShelf: sprite.fromShelf,
    x: Math.round(sprite.x),
    y: Math.round(sprite.y),
  });
  writeSession({
    seat: connection.seat,
    name,
    seq: arrivals.seq,
    own: shelf.own,
    waiting: arrivals.waiting,
    newWaiting: arrivals.waiting.filter((one) => arrivals.seqInLastBatch(one) !== undefined).length,
    nextNumber: departures.nextNumber,
    away: desktop.away.all,
    sayings: desktop.conversation.saved(),
    sprites: [...simulation.sprites, ...desktop.uploading].map((sprite) => ({
      ...toSaved(sprite),
      seq: arrivals.seqInLastBatch(sprite),
      guest: guests.edgeOf(sprite.id) && { from: desktop.senders.get(sprite)!, edge: guests.edgeOf(sprite.id)! },
      goal: headings.get(sprite)?.passes ? headings.get(sprite)!.goal : undefined,
    })),
    leaving: departures.pending.map(({ departure, crossing, sender: { desktop, token, crossings } }) => ({
      crossing,
      sprite: toSaved(departure.sprite),
      sender: { desktop, token, crossings },
    })),
    ...ending,
  });
}

/** Puts the relay's characters on the shelf, and calls `added` for each. */
async function fillShelf(desktop: Desktop, added: (figure: Figure, number: number) => void): Promise<void> {
  const { shelf } = desktop;
  await shelf.addShipped(FIRST_SPRITES, (figure, number) => {
    drawShelf(desktop);
    showParade(shelf.figures);
    if (number === 0) showIcon(figure);
    added(figure, number);
  });
  if (shelf.figures.length === 0) notice(phrase('shelf.none'));
}

function drawShelf(desktop: Desktop): void {
  showShelf(desktop.shelf.figures, (figure) => dropIn(desktop, figure));
}

/** Makes a character of each file, puts it on the shelf and lets it drop in. */
async function addFiles(desktop: Desktop, files: Iterable<File>, x?: number): Promise<void> {
  const { shelf } = desktop;
  for (const file of files) {
    const done = file.size < SLOW_BYTES ? () => {} : notice(phrase('file.reading', { name: file.name }), READING_MS);
    try {
      const { figure, isNew } = await shelf.addDropped(file).finally(done);
      if (isNew) drawShelf(desktop);
      dropIn(desktop, figure, x);
      if (shelf.backgroundOf(figure.file) === 'cut') notice(phrase('desktop.was-cut', { name: figure.name }));
      await sendPicture(desktop, figure.file);
    } catch (error) {
      tellReason(error);
    }
  }
  save(desktop);
}

function drawFrames(desktop: Desktop, frameMs: number): void {
  draw(desktop, frameMs);
  const next = () => requestAnimationFrame((nextMs) => drawFrames(desktop, nextMs));
  // While everything stands still, a frame only shows what has come in, or which sprite is selected.
  if (desktop.clock.paused && desktop.peeking.view.edge === null) setTimeout(next, STILL_FRAME_MS);
  else next();
}

function draw(desktop: Desktop, frameMs: number): void {
  const { simulation, clock, arrivals, tags, renderer, input, conversation, peeking } = desktop;
  const hasAdvanced = advance(clock, frameMs);
  if (hasAdvanced) {
    for (const departure of step(simulation, clock.nowMs, random)) void depart(desktop, departure);
    animatePortraits(calm.matches ? 0 : clock.nowMs);
  }
  endWaits(desktop);
  desktop.games?.step(simulation.sprites);
  sendGuestOn(desktop);
  arrivals.admitWaiting();
  for (const [sprite, { untilMs }] of tags) if (untilMs < simulation.nowMs) tags.delete(sprite);
  renderer.draw(simulation, tags, input.selected, peeking.frame(frameMs, calm.matches), frameMs);
  conversation.draw(frameMs, simulation.held?.sprite ?? null, calm.matches);
  if (hasAdvanced) {
    const { view } = peeking;
    desktop.moments.keep({ simulation, tags, zoom: desktop.zoom, slide: view.slide }, () => conversation.shown());
  }
  document.body.dataset.sprites = String(simulation.sprites.length);
}

/** Opens the line to say something, unless this desktop has no seat or a dialog is open. */
function say({ connection, conversation }: Desktop): void {
  if (connection.seat !== null && document.querySelector('dialog[open]') === null) conversation.open();
}

/**
 * Returns the sprite that speaks for a desktop: the newest one that it threw here. For this desktop, that is the selected
 * sprite, or the newest one from its shelf.
 */
function speakingSprite({ connection, simulation, senders, input }: Desktop, id: string): Sprite | null {
  const own = id === connection.seat?.desktop;
  if (own && input.selected !== null && simulation.sprites.includes(input.selected)) return input.selected;
  let newest: Sprite | null = null;
  for (const sprite of simulation.sprites) {
    const speaks = own ? sprite.fromShelf : senders.get(sprite)?.desktop === id;
    if (speaks && sprite.id > (newest?.id ?? 0)) newest = sprite;
  }
  return newest;
}

/** Fits the canvas and the simulation to the page. */
function fit(desktop: Desktop): void {
  const { renderer, simulation } = desktop;
  desktop.zoom = zoomOf({ width: innerWidth, height: innerHeight });
  const { width, height } = renderer.fit(desktop.zoom);
  [simulation.width, simulation.height] = [width, height];
  simulation.ledges = ledges(desktop.zoom);
  simulation.calm = calm.matches;
  simulation.hour = localHour();
}

/** Returns where on the desktop an event of the pointer is. */
function pointOf({ peeking, zoom }: Desktop, { clientX, clientY }: MouseEvent): Point {
  const { x, y } = peeking.view.slide;
  return { x: clientX / zoom - x, y: clientY / zoom - y };
}

/** The time in s since 1970. */
function nowS(): number {
  return Math.floor(Date.now() / 1000);
}

/** Returns the local time in hours, 0 … 24. */
function localHour(): number {
  const now = new Date();
  return now.getHours() + now.getMinutes() / 60;
}

const clampTo = (value: number, max: number): number => Math.min(Math.max(value, 0), max);

function show({ name, connection }: Desktop, state: State): void {
  showState(state, name, shownWorld(connection.seat?.world ?? ''));
}

function togglePause({ clock }: Desktop): void {
  clock.paused = !clock.paused;
  showPaused(clock.paused);
}

/** Lets neighbours look in, or stops that. */
async function toggleStage(desktop: Desktop): Promise<void> {
  const { seat } = desktop.connection;
  if (seat === null) return;
  const stage = !seat.stage;
  const done = phrase(stage ? 'stage.on' : 'stage.off');
  if (!(await complain(desktop, () => showStage(seat, stage), done))) return;
  seat.stage = stage;
  showStageSwitch(stage);
  save(desktop);
}

/** Tells the relay whether its page about the world may show the person's name, unless it knows. A relay without that page is not told. */
async function tellPublicName(desktop: Desktop, seat: Seat): Promise<void> {
  const named = PUBLIC_NAME.isMade;
  if (seat.named === undefined || seat.named === named || (await showName(seat, named)) !== null) return;
  seat.named = named;
  save(desktop);
}

/**
 * Returns a link: a visitor who opens it joins beside this desktop. The invitation is in the fragment, which no server logs. The picture of the
 * sprite that goes with it is not: a server draws it.
 */
function invitation({ seating, name }: Desktop, seat: Seat, gift?: Sprite): string {
  const link = new URL('/', seating.moves.site);
  if (gift !== undefined) link.searchParams.set('sprite', gift.file);
  const members = new URLSearchParams({ near: seat.invitation, from: name });
  if (seat.world !== 'commons') members.set('world', seat.world); // where the friend goes when the invitation has ended
  link.hash = members.toString();
  return link.href;
}

/** Returns what is written in an animation: in a private world the invitation, but neither its name nor the person's; else the relay's address. */
function shortLink({ connection: { seat }, seating }: Desktop): string {
  const { host } = new URL(seating.moves.site);
  return seat === null || seat.world === 'commons' ? host : `${host}/#near=${seat.invitation}`;
}

async function invite(desktop: Desktop): Promise<void> {
  const { seat } = desktop.connection;
  if (seat === null) return;
  const gift = giftOf(desktop);
  const link = invitation(desktop, seat, gift);
  if (navigator.share !== undefined && matchMedia('(pointer: coarse)').matches) {
    // The person may think better of it.
    await navigator.share({ title: 'Sprites', text: phrase('invite.text'), url: link }).catch(() => {});
    return;
  }
  try {
    await navigator.clipboard.writeText(link);
    notice(gift === undefined ? phrase('desktop.copied') : phrase('desktop.copied-with', { name: gift.name }));
  } catch {
    prompt(phrase('desktop.link'), link); // pages on plain http have no clipboard
  }
}

/**
 * The sprite that an invitation carries, if the relay has its picture: the selected one, else the newest one of the relay's characters. Others see a
 * picture of the person's own only if the person has selected it.
 */
function giftOf({ input, sheets, shelf, simulation }: Desktop): Sprite | undefined {
  const { sprites } = simulation;
  const isShipped = ({ file, fromShelf }: Sprite) => fromShelf && !shelf.own.some((own) => own.file === file);
  const gift = sprites.find((one) => one === input.selected) ?? sprites.findLast(isShipped);
  return gift && sheets.unsent(gift.file) === undefined ? gift : undefined;
}

function watchPage(desktop: Desktop): void {
  addEventListener('resize', () => {
    fit(desktop); // it empties the canvas
    if (desktop.clock.paused) draw(desktop, performance.now());
  });
  calm.addEventListener('change', () => fit(desktop));
  dark.addEventListener('change', () => fit(desktop));
  answerOffers({
    wants: () => desktop.connection.seat !== null,
    take: (file) => void take(desktop, file),
  });
  watchPublicName(() => {
    const { seat } = desktop.connection;
    if (seat !== null) void tellPublicName(desktop, seat); // otherwise the join does
  });
  const isReloading = watchReloads(window);
  addEventListener('pagehide', ({ persisted }) =>
    persisted ? freezePage(desktop) : leavePage(desktop, isReloading()),
  );
  // Firefox stops a program that runs when its tab is closed, sometimes this listener, but not the one of the next event. It would
  // keep a page from being kept whole, so browsers that tell of a reload get none.
  if (!('onpageswap' in window)) addEventListener('unload', () => leavePage(desktop, false));
  addEventListener('pageshow', ({ persisted }) => persisted && thawPage(desktop));
  document.addEventListener('freeze', () => freezePage(desktop));
  document.addEventListener('resume', () => thawPage(desktop));
  // What a browser knows of the network is a hint: the page looks for itself. A relay on this machine needs none.
  for (const change of ['offline', 'online']) addEventListener(change, () => desktop.connection.reopen());
  setInterval(() => save(desktop), SAVE_MS);
  setInterval(() => {
    desktop.simulation.ledges = ledges(desktop.zoom);
    desktop.simulation.hour = localHour();
  }, LEDGE_MS);
  watchControls(desktop);
}

/** What a person clicks, chooses or drops, beside sprites. */
function watchControls(desktop: Desktop): void {
  for (const edge of EDGES) {
    const tab = document.querySelector(`.edge[data-edge="${edge}"] .neighbour`) as HTMLElement;
    tab.addEventListener('click', () => openNeighbourMenu(desktop, tab));
  }
  element('paused').addEventListener('click', () => togglePause(desktop));
  // Sprites get the pointer before the name at the bottom edge, which is where they walk.
  element('canvas').addEventListener('click', (event) => {
    const { x, y } = pointOf(desktop, event);
    if (spriteAt(desktop.simulation, x, y, 0) !== null) return;
    const { clientX, clientY } = event;
    const tab = document.querySelector('[data-edge="bottom"] .neighbour') as HTMLElement;
    const { left, right, top } = tab.getBoundingClientRect();
    if (clientX >= left && clientX < right && clientY >= top) openNeighbourMenu(desktop, tab);
  });
  element('canvas').addEventListener('contextmenu', (event) => {
    const { simulation, input } = desktop;
    const { x, y } = pointOf(desktop, event);
    const sprite = spriteAt(simulation, x, y, MENU_SLACK) ?? input.selected;
    if (sprite === null) return;
    event.preventDefault();
    openSpriteMenu(desktop, sprite, event.clientX, event.clientY);
  });
  for (const id of ['invite', 'alone-invite']) element(id).addEventListener('click', () => invite(desktop));
  element('alone-code').addEventListener('click', () => {
    const { seat } = desktop.connection;
    if (seat !== null) showCode(invitation(desktop, seat)).catch(tellReason);
  });
  element('camera').addEventListener('click', () => openCameraMenu(desktop));
  element('pause').addEventListener('click', () => togglePause(desktop));
  element('stage').addEventListener('click', () => toggleStage(desktop));
  element('help').addEventListener('click', () => element<HTMLDialogElement>('help-text').showModal());
  const fileInput = element<HTMLInputElement>('file');
  element('add').addEventListener('click', () => openAddMenu(fileInput));
  fileInput.addEventListener('change', async () => {
    await addFiles(desktop, [...(fileInput.files ?? [])]);
    fileInput.value = '';
  });
  onFilesDropped((files, x) => void addFiles(desktop, files, x / desktop.zoom));
}

/** Says goodbye when the browser keeps the page but stops its program: it could not show what came to its seat. */
function freezePage(desktop: Desktop): void {
  const { connection } = desktop;
  if (connection.isClosed) return;
  leavePage(desktop, false);
  connection.close();
}

function thawPage(desktop: Desktop): void {
  const { connection } = desktop;
  if (!connection.isClosed) return;
  desktop.wasAway = true;
  connection.reopen();
}

/**
 * Saves, and says goodbye when the page goes for good: then the neighbours see it at once, not when the lease ends. A page that
 * comes back keeps its seat. So does one with a sprite on its way: only the same seat can ask what became of that.
 */
function leavePage(desktop: Desktop, comesBack: boolean): void {
  const { connection, departures } = desktop;
  if (connection.seat === null || comesBack || departures.pending.length > 0) {
    save(desktop);
    return;
  }
  save(desktop, { left: true });
  leave(connection.seat);
}

/** The ways to a picture of one's own. */
function openAddMenu(files: HTMLInputElement): void {
  const { left, bottom } = element('add').getBoundingClientRect();
  openMenu(left, bottom, [
    { text: phrase('desktop.choose'), choose: () => files.click() },
    { text: phrase('desktop.editor'), choose: () => window.open('/make', '_blank', 'noopener') },
    { text: phrase('desktop.gallery'), choose: () => window.open('/gallery', '_blank', 'noopener') },
  ]);
}

/** The ways to a picture of the stage. It shows what was there when the menu opened: the sprites go on behind it. */
function openCameraMenu(desktop: Desktop): void {
  const { left, bottom } = element('camera').getBoundingClientRect();
  const moments = desktop.moments.all;
  openMenu(left, bottom, [
    { text: phrase('camera.picture'), choose: () => void photograph(desktop, 'picture', moments) },
    { text: phrase('camera.animation'), choose: () => void photograph(desktop, 'animation', moments) },
  ]);
}

/** Gives the person a picture of the stage, or an animation of its last seconds. One at a time: each takes a while to draw. */
async function photograph(
  desktop: Desktop,
  kind: 'picture' | 'animation',
  moments = desktop.moments.all,
): Promise<void> {
  const last = moments.at(-1);
  if (desktop.isPhotographed || last === undefined) return;
  desktop.isPhotographed = true;
  const link = shortLink(desktop);
  const makeRenderer = (canvas: HTMLCanvasElement) => new Renderer(canvas, desktop.sheets);
  const done = kind === 'animation' ? notice(phrase('camera.saving'), DRAWING_MS) : () => {};
  try {
    const { saveAnimation, savePicture } = await photographs();
    if (kind === 'picture') await savePicture(last, makeRenderer);
    else await saveAnimation({ moments, lastMs: FRAME_MS, link }, makeRenderer);
    if (kind === 'animation' && link.includes('#')) notice(phrase('camera.invites'));
  } catch (error) {
    tellReason(error);
  } finally {
    done();
    desktop.isPhotographed = false;
  }
}

/** What a person can do about the neighbour whose tab this is. */
function openNeighbourMenu(desktop: Desktop, tab: HTMLElement): void {
  const id = tab.parentElement?.dataset.neighbour;
  if (!id) return;
  const box = tab.getBoundingClientRect();
  openMenu((box.left + box.right) / 2, (box.top + box.bottom) / 2, [
    muteEntry(desktop, { desktop: id, name: tab.textContent ?? id }),
  ]);
}

/** What a person can do about a sprite: put it back if it is from the shelf, else report its picture or mute its sender. */
function openSpriteMenu(desktop: Desktop, sprite: Sprite, x: number, y: number): void {
  const { simulation } = desktop;
  const sender = desktop.senders.get(sprite);
  const other = sender?.desktop === desktop.connection.seat?.desktop ? undefined : sender;
  if (sprite.fromShelf) {
    const { shelf } = desktop;
    const own = [{ text: phrase('desktop.put-back'), choose: () => removeSprite(simulation, sprite) }];
    const isShipped = !shelf.own.some(({ file }) => file === sprite.file);
    const ofPerson = () => [
      ...backgroundEntry(desktop, sprite),
      publishEntry(desktop, sprite),
      takeOffEntry(desktop, sprite),
    ];
    openMenu(x, y, [...own, potatoEntry(desktop, sprite), ...(isShipped ? [] : ofPerson()), signEntry()]);
    return;
  }
  const entries: MenuEntry[] = [
    {
      text: phrase('desktop.report'),
      choose: () => complain(desktop, (seat) => report(seat, sprite.file, other?.desktop), phrase('desktop.reported')),
    },
  ];
  if (other !== undefined) entries.push(muteEntry(desktop, other));
  const { guests } = desktop;
  entries.push({ text: phrase('desktop.send-on'), choose: () => guests.sendOn(null, simulation.nowMs) });
  entries.push(potatoEntry(desktop, sprite), signEntry());
  openMenu(x, y, entries);
}

/** Makes a sprite a hot potato, unless it has left while the menu was open. */
function potatoEntry(desktop: Desktop, sprite: Sprite): MenuEntry {
  const light = (games?: Games) => desktop.simulation.sprites.includes(sprite) && games?.light(sprite);
  return { text: phrase('game.potato'), choose: () => void gamesOf(desktop).then(light) };
}

/** Leaves the name of this person out of the journeys of what it throws, or no more. */
function signEntry(): MenuEntry {
  const signs = !UNSIGNED.isMade;
  return {
    text: phrase(signs ? 'journey.leave-out' : 'journey.sign'),
    choose: () => {
      UNSIGNED.make(signs);
      notice(phrase(signs ? 'journey.left-out' : 'journey.signed'));
    },
  };
}

/** Takes a picture of this person off the shelf, and its sprites off the desktop. The browser no longer keeps it. */
function takeOffEntry(desktop: Desktop, { file }: Sprite): MenuEntry {
  const { shelf, simulation } = desktop;
  return {
    text: phrase('desktop.take-off'),
    choose: () => {
      for (const sprite of simulation.sprites.filter((one) => one.file === file && one.fromShelf)) {
        removeSprite(simulation, sprite);
      }
      shelf.remove(file);
      void forgetPicture(file);
      drawShelf(desktop);
      save(desktop);
    },
  };
}

/** Gives a dropped picture its background back, or removes it: none for a picture without one. */
function backgroundEntry(desktop: Desktop, { file }: Sprite): MenuEntry[] {
  const background = desktop.shelf.backgroundOf(file);
  if (background === undefined) return [];
  const text = phrase(background === 'cut' ? 'desktop.keep-background' : 'desktop.cut-background');
  return [{ text, choose: () => void swapBackground(desktop, file) }];
}

/** Shows the other version of a dropped picture, on the shelf and as a sprite. */
async function swapBackground(desktop: Desktop, file: string): Promise<void> {
  const { shelf, simulation } = desktop;
  try {
    const figure = await shelf.swapBackground(file);
    if (figure === undefined) return;
    const { scale } = figure.description;
    const nature = natureOf(figure.description, scale);
    for (const sprite of simulation.sprites) {
      if (sprite.fromShelf && sprite.file === file) Object.assign(sprite, { file: figure.file, scale, nature });
    }
    drawShelf(desktop);
    await sendPicture(desktop, figure.file);
  } catch (error) {
    tellReason(error);
  }
  save(desktop);
}

/** Offers a picture of this person to the relay's gallery. */
function publishEntry(desktop: Desktop, { file, name }: Sprite): MenuEntry {
  const { connection } = desktop;
  return {
    text: phrase('desktop.publish'),
    choose: () =>
      askToPublish({ title: name, author: desktop.name }, async (publication) => {
        if (connection.seat === null) return;
        const problem = await sendPicture(desktop, file);
        if (problem !== null) throw new Error(wordsOf(problem));
        const state = await publish(connection.seat, { file, ...publication });
        notice(publishedText(state, publication.title));
      }),
  };
}

/** Mutes a desktop, or hears it again. */
function muteEntry(desktop: Desktop, { desktop: id, name }: Neighbour): MenuEntry {
  const { muted, conversation, guests, simulation } = desktop;
  const isMuted = muted.has(id);
  const done = phrase(isMuted ? 'mute.heard' : 'mute.muted', { name });
  return {
    text: phrase(isMuted ? 'mute.hear' : 'mute.mute', { name }),
    choose: async () => {
      if (!(await complain(desktop, (seat) => (isMuted ? unmute : mute)(seat, id), done))) return;
      if (isMuted) muted.delete(id);
      else {
        muted.add(id);
        guests.sendOn(id, simulation.nowMs);
      }
      conversation.mutesChanged();
    },
  };
}

/** Sends a mute or a report and says what came of it. Resolves to whether the relay accepted it. */
async function complain(
  { connection }: Desktop,
  send: (seat: Seat) => Promise<Problem | null>,
  done: string,
): Promise<boolean> {
  if (connection.seat === null) return false;
  const problem = await send(connection.seat);
  notice(problem === null ? done : wordsOf(problem));
  return problem === null;
}

/** Gives end-to-end tests `globalThis.sprites`: it reads this desktop, and throws a sprite as the keyboard does. */
function exposeToTests({ connection, simulation, departures, peeking }: Desktop): void {
  const handle = Object.freeze({
    desktop: () => connection.seat?.desktop ?? null,
    sprites: () => simulation.sprites.map((sprite) => ({ ...sprite })),
    onTheWay: () => departures.pending.length,
    view: () => ({ ...peeking.view }),
    throw: (index: number, edge: Edge) => throwTo(simulation, simulation.sprites[index], edge),
  });
  Object.defineProperty(globalThis, 'sprites', { value: handle });
}
