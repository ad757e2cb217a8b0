/**
 * The map of the world on a canvas: the torus turns slowly, and some of the sprites that crossed an edge lately fly above it.
 *
 * It asks the relay every ASK_MS, and draws only while it is on the screen. With reduced motion it stands still, and is drawn when
 * the relay has answered. The words beside it say the same.
 * Cost: one drawing has at most COLUMNS_MAX × ROWS_MAX cells, 720, and FLYING_MAX sprites.
 */
import type { Edge } from '../../wire/rules.ts';
import { cellOf, placeOf, Sheets } from '../pictures/sheets.ts';
import { read } from '../relay/api_client.ts';
import { counted, language, phrase } from '../texts/language.ts';
import { flightAt, VIEW, type ViewPoint, viewOf } from './torus_view.ts';

/** What `GET /v1/flights` answers. */
interface World {
  desktops: number;
  columns: number;
  rows: number;
  flights: { number: number; file: string; x: number; y: number; edge: Edge }[];
}

type Flying = World['flights'][number] & { startMs: number };

const ASK_MS = 5_000; // ms between two requests: the flights of one are shown until the next
const FLIGHT_MS = 1_800; // ms that a sprite is shown in the air
const LANDED_MS = 700; // ms that the ring is shown where one has landed
const TURN_MS = 90_000; // ms for one turn of the world
const FLYING_MAX = 16; // sprites that fly at once, or are shown by a map that stands still
const [COLUMNS_MIN, COLUMNS_MAX] = [24, 40]; // cells that are drawn from left to right
const [ROWS_MIN, ROWS_MAX] = [12, 18]; // and around the tube
const SPRITE_PX = 44; // px of a sprite's side
const NAMED_MAX = 4; // characters that the words name
const MARGIN = 0.2; // of the ring's radius: about half of a sprite

export class WorldMap {
  readonly #canvas: HTMLCanvasElement;
  readonly #words: HTMLElement;
  readonly #context: CanvasRenderingContext2D;
  readonly #sheets: Sheets;
  readonly #calm = matchMedia('(prefers-reduced-motion: reduce)');
  #world: World = { desktops: 0, columns: 1, rows: 1, flights: [] };
  #flying: Flying[] = [];
  /** The newest flight that was shown. */
  #shown = 0;
  #isSeen = false;
  #isDrawing = false;
  #askedMs = Number.NEGATIVE_INFINITY;
  #colours = { far: '', near: '', line: '', glow: '' };

  constructor(canvas: HTMLCanvasElement, words: HTMLElement) {
    this.#canvas = canvas;
    this.#words = words;
    this.#context = canvas.getContext('2d') as CanvasRenderingContext2D;
    const inUse = (used: string) => this.#world.flights.some(({ file }) => file === used);
    this.#sheets = new Sheets({ changed: () => this.#sheetChanged(), inUse });
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', () => this.#readColours());
    this.#calm.addEventListener('change', () => this.#start());
    this.#readColours();
    new ResizeObserver(() => this.#resize()).observe(canvas);
    new IntersectionObserver((entries) => {
      this.#isSeen = entries[entries.length - 1].isIntersecting;
      this.#start();
    }).observe(canvas);
    document.addEventListener('visibilitychange', () => this.#start());
    setInterval(() => this.#ask(), ASK_MS);
  }

  get #isVisible(): boolean {
    return this.#isSeen && !document.hidden;
  }

  /** Draws from now on, as long as it can be seen. */
  #start(): void {
    if (!this.#isVisible) return;
    void this.#ask();
    if (this.#calm.matches) this.#draw(performance.now());
    if (this.#isDrawing || this.#calm.matches) return;
    this.#isDrawing = true;
    requestAnimationFrame((nowMs) => this.#drawNext(nowMs));
  }

  #drawNext(nowMs: number): void {
    this.#isDrawing = this.#isVisible && !this.#calm.matches;
    if (!this.#isDrawing) return;
    this.#draw(nowMs);
    requestAnimationFrame((nextMs) => this.#drawNext(nextMs));
  }

  async #ask(): Promise<void> {
    const nowMs = performance.now();
    if (!this.#isVisible || nowMs - this.#askedMs < ASK_MS / 2) return;
    this.#askedMs = nowMs;
    const world = await read<World>('/v1/flights');
    if (world !== undefined) this.#show(world); // else the map stays as it was
  }

  /** Lets the flights that are new take off one after another, until the next answer is due. */
  #show(world: World): void {
    this.#world = world;
    const last = world.flights.at(-1)?.number ?? 0;
    if (last < this.#shown) this.#shown = 0; // the relay was restarted, and counts again
    const fresh = world.flights.filter(({ number }) => number > this.#shown).slice(-FLYING_MAX);
    this.#shown = last;
    const nowMs = performance.now();
    this.#flying.push(...fresh.map((one, i) => ({ ...one, startMs: nowMs + (i * ASK_MS) / fresh.length })));
    this.#flying = this.#flying.slice(-FLYING_MAX);
    for (const { file } of world.flights) this.#sheets.get(file);
    this.#say();
    if (this.#calm.matches) this.#draw(nowMs);
  }

  #sheetChanged(): void {
    this.#say();
    if (this.#calm.matches && this.#isVisible) this.#draw(performance.now());
  }

  /** Says in words what the map shows. */
  #say(): void {
    const { desktops, flights } = this.#world;
    const names = new Set<string>();
    for (const { file } of flights.toReversed()) {
      const { image, description } = this.#sheets.get(file);
      if (image !== null) names.add(description.name);
    }
    const list = new Intl.ListFormat(language).format([...names].slice(0, NAMED_MAX));
    const news = list === '' ? phrase('map.nothing') : phrase('map.crossed', { names: list });
    const here = desktops === 0 ? phrase('map.nobody') : counted('map.here', desktops);
    const text = `${here} ${news}`;
    if (this.#words.textContent !== text) this.#words.textContent = text;
  }

  #readColours(): void {
    const style = getComputedStyle(document.documentElement);
    const of = (name: string) => style.getPropertyValue(name).trim();
    this.#colours = {
      far: of('--map-far'),
      near: of('--map-near'),
      line: of('--map-line'),
      glow: `rgb(${of('--glow')})`,
    };
    if (this.#calm.matches) this.#draw(performance.now());
  }

  #resize(): void {
    const ratio = Math.min(2, devicePixelRatio);
    this.#canvas.width = Math.round(this.#canvas.clientWidth * ratio);
    this.#canvas.height = Math.round(this.#canvas.clientHeight * ratio);
    this.#draw(performance.now());
  }

  #draw(nowMs: number): void {
    const context = this.#context;
    const { width, height } = this.#canvas;
    const isCalm = this.#calm.matches;
    const turn = isCalm ? 0.3 : (nowMs / TURN_MS) * 2 * Math.PI;
    context.resetTransform();
    context.clearRect(0, 0, width, height);
    const radius = Math.min(width / (VIEW.width + 2 * MARGIN), height / (VIEW.height + 2 * MARGIN));
    context.translate(width / 2, height / 2 - VIEW.middle * radius);
    context.lineWidth = Math.max(1, width / 900);
    context.lineJoin = 'round';
    // Far things are drawn first.
    const things = [...this.#cells(turn, radius), ...this.#sprites(nowMs, turn, radius)];
    things.sort((a, b) => a.depth - b.depth);
    for (const { paint } of things) paint(context);
    this.#flying = isCalm
      ? this.#flying
      : this.#flying.filter(({ startMs }) => nowMs < startMs + FLIGHT_MS + LANDED_MS);
  }

  #cells(turn: number, radius: number): Thing[] {
    const columns = drawn(this.#world.columns, COLUMNS_MIN, COLUMNS_MAX);
    const rows = drawn(this.#world.rows, ROWS_MIN, ROWS_MAX);
    const corners: ViewPoint[][] = [];
    for (let row = 0; row <= rows; row++) {
      corners.push(Array.from({ length: columns + 1 }, (_, column) => viewOf(column / columns, row / rows, turn)));
    }
    const { far, near, line } = this.#colours;
    const things: Thing[] = [];
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        const [a, b] = [corners[row][column], corners[row][column + 1]];
        const [c, d] = [corners[row + 1][column + 1], corners[row + 1][column]];
        const facing = (a.facing + b.facing + c.facing + d.facing) / 4;
        if (facing < -0.1) continue;
        const depth = (a.depth + b.depth + c.depth + d.depth) / 4;
        const paint = (context: CanvasRenderingContext2D) => {
          context.beginPath();
          for (const { x, y } of [a, b, c, d]) context.lineTo(x * radius, y * radius);
          context.closePath();
          context.globalAlpha = 1;
          context.fillStyle = far;
          context.fill();
          context.globalAlpha = Math.min(1, Math.max(0, facing));
          context.fillStyle = near;
          context.fill();
          context.globalAlpha = 0.25 + 0.6 * Math.max(0, facing);
          context.strokeStyle = line;
          context.stroke();
        };
        things.push({ depth, paint });
      }
    }
    return things;
  }

  #sprites(nowMs: number, turn: number, radius: number): Thing[] {
    const { columns, rows } = this.#world;
    const things: Thing[] = [];
    for (const flight of this.#flying) {
      const ms = this.#calm.matches ? FLIGHT_MS / 2 : nowMs - flight.startMs;
      if (ms < 0) continue;
      const part = Math.min(1, ms / FLIGHT_MS);
      const at = (of: number) => {
        const [x, y, height] = flightAt(flight, columns, rows, of);
        return viewOf(x, y, turn, height);
      };
      const point = at(part);
      if (part === 1) {
        const ring = (context: CanvasRenderingContext2D) => {
          const share = (ms - FLIGHT_MS) / LANDED_MS;
          context.globalAlpha = point.facing > 0 ? 0.8 * (1 - share) : 0;
          context.strokeStyle = this.#colours.glow;
          const [wide, high] = [radius * 0.14 * share, radius * 0.08 * share];
          context.beginPath();
          context.ellipse(point.x * radius, point.y * radius, wide, high, 0, 0, 2 * Math.PI);
          context.stroke();
        };
        things.push({ depth: point.depth + 0.1, paint: ring });
        continue;
      }
      const trail = Array.from({ length: 7 }, (_, i) => at(part * (i / 7)));
      const paint = (context: CanvasRenderingContext2D) => {
        context.fillStyle = this.#colours.glow;
        for (const [i, { x, y, scale }] of trail.entries()) {
          context.globalAlpha = 0.1 + 0.08 * i;
          context.beginPath();
          context.arc(x * radius, y * radius, radius * 0.011 * scale, 0, 2 * Math.PI);
          context.fill();
        }
        context.globalAlpha = Math.min(1, part * 8, (1 - part) * 8);
        this.#paintSprite(context, flight, point, radius, ms);
      };
      // A sprite in the air is above what it flies over.
      things.push({ depth: point.depth + 0.12, paint });
    }
    return things;
  }

  #paintSprite(
    context: CanvasRenderingContext2D,
    flight: Flying,
    { x, y, scale }: ViewPoint,
    radius: number,
    ms: number,
  ) {
    const { description, image } = this.#sheets.get(flight.file);
    if (image === null) return;
    const { width, height } = description.frame;
    const from = placeOf(description, image, cellOf(description, 'throw', ms));
    const side = SPRITE_PX * scale * (this.#canvas.width / this.#canvas.clientWidth) * Math.min(1, radius / 160 + 0.35);
    const [wide, high] = [(side * width) / Math.max(width, height), (side * height) / Math.max(width, height)];
    context.save();
    context.imageSmoothingEnabled = false;
    context.translate(x * radius, y * radius);
    if (flight.edge === 'left') context.scale(-1, 1);
    context.drawImage(image, from.x, from.y, width, height, -wide / 2, -high / 2, wide, high);
    context.restore();
  }
}

/** Something to draw, by how near it is. */
interface Thing {
  depth: number;
  paint: (context: CanvasRenderingContext2D) => void;
}

/** How many cells to draw for `count` rows or columns: the first multiple of `count` from `min` up, or `max` for none and for too many. */
function drawn(count: number, min: number, max: number): number {
  return count > max || count === 0 ? max : Math.ceil(min / count) * count;
}
