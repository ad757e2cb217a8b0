/**
 * A desktop in a browser: joins, shows the world, throws over the edges and takes in what comes.
 *
 * Invariant: a sprite is in the world, on its way out (departures), waiting for room, or with the relay; what this tab is
 * answerable for is written down before the relay is told so (keep.ts).
 * `?transport=poll` uses the long-poll from the start (else it is the way out when sockets are blocked), `?near=ID` sits next to a friend, `?world=NAME` names a world.
 */
import { Arrivals } from './arrivals.ts';
import { createStage, type Tag } from './canvas.ts';
import { Departures } from './departures.ts';
import { sprOf } from './dropped.ts';
import { takeHands } from './hands.ts';
import { claim, forgetKept, type Kept, type KeptSprite, readKept, readName, writeKept, writeName } from './keep.ts';
import {
  animatePortraits,
  askToJoin,
  element,
  type Figure,
  flashEdge,
  ledges,
  notice,
  offerProgram,
  type State,
  showIcon,
  showNeighbours,
  showParade,
  showShelf,
  showState,
} from './panel.ts';
import { poll } from './poll.ts';
import { JoinRefused, join, lookAround, upload } from './seat.ts';
import { natureOf, Sheets } from './sheets.ts';
import {
  addSprite,
  bounceBack,
  createSimulation,
  type Departure,
  type Edge,
  enter as enterWorld,
  removeSprite,
  SPRITES_MAX,
  type Sprite,
  step,
  throwTo,
} from './simulation.ts';
import { socket } from './socket.ts';
import { type Arrival, backoffMs, type Problem, type RelayEvent, type Seat, type Transport } from './transport.ts';

const WAITING_MAX = 64; // sprites waiting for room; beyond it the relay is asked for no more until some have come in
const KEEP_MS = 2_000; // ms between two writings of where everybody is; what matters is written at once
const TAG_MS = 6_000; // ms a newcomer says whose it was
const REFUSED_TAG_MS = 3_500; // ms a returned sprite says why
const LEDGE_MS = 500; // ms between two looks at where the page's cards are
const SOCKET_OPENINGS_MAX = 2; // sockets in a row that never opened, until the long-poll is tried
const FIRST_SPRITES = 3; // on a new desktop

const query = new URLSearchParams(location.search);
const random = Math.random;

const world = createSimulation(1, 1);
const sheets = new Sheets((file) => {
  for (const sprite of world.sprites) {
    if (sprite.file === file) sprite.nature = natureOf(sheets.look(file).description, sprite.scale);
  }
});
const stage = createStage(element<HTMLCanvasElement>('stage'), sheets);
const tags = new Map<Sprite, Tag>();
const figures: Figure[] = [];
const own: { file: string; name: string }[] = [];
const calm = matchMedia('(prefers-reduced-motion: reduce)');

let seat: Seat | null = null;
let name = '';
let open = query.get('transport') === 'poll' ? poll : socket;
let transport: Transport | null = null;
let failedOpenings = 0;
let up = false;
let paused = false;
let roomMade: (() => void) | null = null;
let lastFrameMs = 0;
let clockMs = 0; // the world's: it stands still while paused

const arrivals = new Arrivals({
  enter,
  takeAway(sprite) {
    removeSprite(world, sprite);
    tags.delete(sprite);
  },
});

const departures = new Departures({
  keep,
  accepted({ edge, sprite }, to) {
    flashEdge(edge);
    if (to !== null && to.desktop !== seat?.desktop) notice(`${sprite.name} is with ${to.name || to.desktop} now.`);
  },
  returned(departure, problem) {
    comeBack(departure, problem.title);
  },
});

const hands = takeHands(element<HTMLCanvasElement>('stage'), world, {
  selected(sprite) {
    if (sprite !== null) tags.set(sprite, { text: sprite.name, kind: 'name', untilMs: world.nowMs + 1500 });
  },
  putAway(sprite) {
    if (sprite.fromShelf) removeSprite(world, sprite);
    else notice(`${sprite.name} came from somebody: throw it on over an edge.`);
  },
  pause: togglePause,
});

async function start(): Promise<void> {
  fit();
  watchPage();
  offerProgram();
  requestAnimationFrame(frame);
  await fillShelf();
  const kept = readKept();
  if (kept !== null && (await claim(kept.seat.desktop))) {
    await resume(kept);
    return;
  }
  forgetKept();
  const near = query.get('near') ?? '';
  await askToJoin(readName(), query.get('world') ?? '', near !== '', async (given, worldName) => {
    name = given;
    await take(worldName, near);
    writeName(given);
  });
  for (const figure of figures.slice(0, FIRST_SPRITES)) dropIn(figure);
  element('stage').focus({ preventScroll: true });
}

/** The same desktop after a reload: everybody where they were, who was on the way is sent again under its number. */
async function resume(kept: Kept): Promise<void> {
  name = kept.name;
  arrivals.seq = kept.seq;
  departures.nextNumber = kept.nextNumber;
  for (const one of kept.own) await addFigure(one.file, one.name, `/v1/sprites/${one.file}`);
  own.push(...kept.own);
  drawShelf();
  for (const one of kept.sprites) revive(one);
  for (const { sprite, crossing } of kept.leaving) {
    const revived = revive(sprite);
    removeSprite(world, revived);
    departures.resume({ departure: { ...crossing, sprite: revived }, crossing });
  }
  arrivals.waiting.push(...kept.waiting);
  arrivals.letIn();
  sit(kept.seat);
}

/** Joins and sits down; throws what there is to tell the person. */
async function take(worldName: string, near: string): Promise<void> {
  const screen = { width: world.width, height: world.height };
  let taken: Seat;
  try {
    taken = await join({ name, world: worldName, near, screen });
  } catch (error) {
    if (!(error instanceof JoinRefused)) throw new Error('The relay cannot be reached. Try again in a moment.');
    const friendless = error.problem.code === 'near-gone' || error.problem.code === 'malformed';
    if (near === '' || !friendless) throw error;
    notice('Your friend is not there any more; you sit somewhere else.');
    taken = await join({ name, world: worldName, near: '', screen });
  }
  await claim(taken.desktop);
  arrivals.beginAnew();
  sit(taken);
}

/** From now on this is our seat: opens the transport and shows who is around. */
function sit(taken: Seat): void {
  seat = taken;
  up = false;
  document.body.dataset.desktop = taken.desktop;
  element<HTMLAnchorElement>('second').href = invitation(taken);
  show('connecting');
  speak(taken);
  keep();
}

function speak(taken: Seat): void {
  const before = transport;
  document.body.dataset.transport = open === poll ? 'poll' : 'socket';
  transport = open(taken, { events: takeIn, cursorLost, connected, ended: rejoin });
  departures.use(transport); // before the old one ends, so that what it left unanswered is asked again
  before?.close();
}

async function rejoin(_: Problem, batchLost: boolean): Promise<void> {
  const before = seat;
  if (batchLost) {
    arrivals.loseLast();
    keep();
  }
  show('reconnecting');
  for (let attempt = 0; seat === before; attempt++) {
    try {
      await take(before?.world ?? '', '');
      notice('The relay had given up on this desktop; it has joined anew.');
    } catch {
      await new Promise((resolve) => setTimeout(resolve, backoffMs(attempt, random)));
    }
  }
}

async function takeIn(events: RelayEvent[], cursor: string): Promise<void> {
  if (seat === null) return;
  arrivals.takeIn(events);
  const neighbours = events.findLast((event) => event.type === 'neighbours');
  if (neighbours !== undefined) showNeighbours(neighbours, seat.desktop);
  seat.cursor = cursor;
  keep();
  if (arrivals.waiting.length >= WAITING_MAX) {
    await new Promise<void>((resolve) => {
      roomMade = resolve;
    });
  }
}

function cursorLost(cursor: string): void {
  arrivals.beginAnew();
  if (seat !== null) seat.cursor = cursor;
  keep();
}

async function connected(is: boolean): Promise<void> {
  if (seat === null) return;
  failedOpenings = is || up ? 0 : failedOpenings + 1;
  if (failedOpenings === SOCKET_OPENINGS_MAX && open === socket) {
    open = poll; // something between us and the relay does not let sockets through
    speak(seat);
  }
  if (is === up) return;
  up = is;
  show(is ? 'connected' : 'reconnecting');
  if (!is) return;
  sheets.retry();
  const neighbours = await lookAround(seat);
  if (neighbours !== null && seat !== null) showNeighbours(neighbours, seat.desktop);
}

/** Lets an arrival in; when it is full somebody of our own goes back to the shelf. */
function enter(arrival: Arrival): Sprite | null {
  if (world.sprites.length >= SPRITES_MAX) {
    const native = world.sprites.find((sprite) => sprite.fromShelf && sprite.mode !== 'drag');
    if (native === undefined) return null;
    removeSprite(world, native);
    notice(`${native.name} made room and went back to the shelf.`);
  }
  const { file, name: called, scale, facing } = arrival.sprite;
  const { description } = sheets.look(file);
  const sprite = addSprite(world, {
    ...{ file, name: called || description.name, scale, facing },
    ...{ fromShelf: false, nature: natureOf(description, scale), x: 0, y: 0 },
  });
  enterWorld(world, sprite, arrival);
  flashEdge(arrival.edge);
  const from = arrival.from.name || arrival.from.desktop;
  tags.set(sprite, { text: `${sprite.name}, from ${from}`, kind: 'from', untilMs: world.nowMs + TAG_MS });
  return sprite;
}

/** A throw over the edge: out to the relay, or straight back in with the reason. */
async function leave(departure: Departure): Promise<void> {
  const { file } = departure.sprite;
  if (seat === null || !up) {
    comeBack(departure, 'Not connected');
    return;
  }
  const unsent = sheets.unsent(file);
  if (unsent !== undefined) {
    const problem = await upload(seat, file, unsent);
    if (problem !== null) {
      comeBack(departure, problem.title);
      return;
    }
    sheets.sent(file);
  }
  departures.depart(departure);
}

function comeBack(departure: Departure, reason: string): void {
  bounceBack(world, departure);
  tags.set(departure.sprite, { text: reason, kind: 'refused', untilMs: world.nowMs + REFUSED_TAG_MS });
}

function dropIn(figure: Figure, x = (0.15 + 0.7 * random()) * world.width): void {
  if (world.sprites.length >= SPRITES_MAX) {
    notice(`${SPRITES_MAX} sprites are all that fit on one desktop. Throw some over an edge.`);
    return;
  }
  const { description, file } = figure;
  const nature = natureOf(description, description.scale);
  addSprite(world, {
    ...{ file, name: figure.name, scale: description.scale, facing: random() < 0.5 ? 'left' : 'right' },
    ...{ fromShelf: true, nature, x, y: nature.height },
  });
}

function revive({ file, scale, x, y, fromShelf, ...rest }: KeptSprite): Sprite {
  const nature = natureOf(sheets.look(file).description, scale);
  const known = fromShelf && figures.some((figure) => figure.file === file);
  const inside = { x: Math.min(x, world.width - nature.width / 2), y: Math.min(y, world.height) };
  return addSprite(world, { file, scale, nature, fromShelf: known, ...rest, ...inside });
}

function keep(): void {
  if (seat === null) return;
  const plain = ({ file, name: called, scale, fromShelf, facing, x, y }: Sprite): KeptSprite => ({
    ...{ file, name: called, scale, fromShelf, facing },
    ...{ x: Math.round(x), y: Math.round(y) },
  });
  writeKept({
    ...{ seat, name, seq: arrivals.seq, own, waiting: arrivals.waiting },
    nextNumber: departures.nextNumber,
    sprites: world.sprites.map(plain),
    leaving: departures.leaving.map(({ departure, crossing }) => ({ crossing, sprite: plain(departure.sprite) })),
  });
}

async function fillShelf(): Promise<void> {
  const shelf: { file: string; name: string; url: string }[] = await fetch('/sprites/index.json')
    .then((answer) => answer.json())
    .catch(() => []);
  for (const one of shelf) await addFigure(one.file, one.name, one.url);
  if (figures.length === 0) {
    notice('The characters could not be fetched; reload to try again.');
    return;
  }
  drawShelf();
  showParade(figures);
  showIcon(figures[0]);
}

async function addFigure(file: string, called: string, url: string): Promise<void> {
  try {
    const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer());
    const hash = await sheets.add(bytes);
    sheets.sent(hash); // the relay gave it to us
    const { description, image } = sheets.look(hash);
    if (hash === file && image !== null) figures.push({ file, name: called, description, image });
  } catch {
    // A character that cannot be read is left out; the others come.
  }
}

function drawShelf(): void {
  showShelf(figures, (figure) => dropIn(figure));
}

async function takeFiles(files: Iterable<File>, x?: number): Promise<void> {
  for (const file of files) {
    try {
      const bytes = await sprOf(file);
      const hash = await sheets.add(bytes);
      const { description, image } = sheets.look(hash);
      let figure = figures.find((one) => one.file === hash);
      if (figure === undefined) {
        figure = { file: hash, name: description.name, description, image: image! };
        figures.push(figure);
        own.push({ file: hash, name: description.name });
        drawShelf();
      }
      dropIn(figure, x);
      if (seat !== null && (await upload(seat, hash, bytes)) === null) sheets.sent(hash);
    } catch (error) {
      notice(error instanceof Error ? error.message : String(error));
    }
  }
  keep();
}

function frame(nowMs: number): void {
  requestAnimationFrame(frame);
  const passedMs = Math.min(100, Math.max(0, nowMs - lastFrameMs));
  lastFrameMs = nowMs;
  if (!paused) {
    clockMs += passedMs;
    for (const departure of step(world, clockMs, random)) void leave(departure);
    animatePortraits(calm.matches ? 0 : clockMs);
  }
  arrivals.letIn();
  if (arrivals.waiting.length < WAITING_MAX) roomMade?.();
  for (const [sprite, { untilMs }] of tags) if (untilMs < world.nowMs) tags.delete(sprite);
  stage.draw(world, tags, hands.selected);
  document.body.dataset.sprites = String(world.sprites.length);
}

function fit(): void {
  const { width, height } = stage.fit();
  [world.width, world.height] = [width, height];
  world.ledges = ledges();
  world.calm = calm.matches;
}

function show(state: State): void {
  showState(state, name, seat?.world ?? '');
}

function togglePause(): void {
  paused = !paused;
  element('pause').setAttribute('aria-pressed', String(paused));
}

function invitation({ desktop }: Seat): string {
  const link = new URL('/', location.href);
  link.searchParams.set('near', desktop);
  return link.href;
}

async function invite(): Promise<void> {
  if (seat === null) return;
  const link = invitation(seat);
  try {
    await navigator.clipboard.writeText(link);
    notice('Copied. Whoever opens the link sits next to you.');
  } catch {
    prompt('Whoever opens this link sits next to you:', link); // pages on plain http have no clipboard
  }
}

function watchPage(): void {
  addEventListener('resize', fit);
  calm.addEventListener('change', fit);
  addEventListener('pagehide', keep);
  setInterval(keep, KEEP_MS);
  setInterval(() => {
    world.ledges = ledges();
  }, LEDGE_MS);
  sheets.inUse = (file) =>
    figures.some((figure) => figure.file === file) || world.sprites.some((sprite) => sprite.file === file);

  element('invite').addEventListener('click', invite);
  element('pause').addEventListener('click', togglePause);
  element('help').addEventListener('click', () => element<HTMLDialogElement>('help-text').showModal());
  const input = element<HTMLInputElement>('file');
  input.addEventListener('change', async () => {
    await takeFiles([...(input.files ?? [])]);
    input.value = '';
  });

  const drop = element('drop');
  addEventListener('dragover', (event) => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    drop.hidden = false;
  });
  addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) drop.hidden = true;
  });
  addEventListener('drop', (event) => {
    event.preventDefault();
    drop.hidden = true;
    void takeFiles([...(event.dataTransfer?.files ?? [])], event.clientX);
  });
}

/** For end-to-end tests: looks at this desktop and throws a sprite as the keyboard would. Nothing else uses it. */
Object.defineProperty(globalThis, 'sprites', {
  value: Object.freeze({
    desktop: () => seat?.desktop ?? null,
    sprites: () =>
      world.sprites.map(({ file, name: called, mode, x, y, fromShelf }) => ({
        file,
        name: called,
        mode,
        x,
        y,
        fromShelf,
      })),
    onTheWay: () => departures.leaving.length,
    throw: (index: number, edge: Edge) => throwTo(world, world.sprites[index], edge),
  }),
});

await start();
