/**
 * A small picture that characters are drawn on: rounded parts, lit from the upper left, in ramps of five tones.
 *
 * Parts are painted back to front. Where a part covers another, a line in the front part's dark colour separates them.
 * `outline` draws the silhouette last. All drawing is deterministic: the same pose gives the same pixels on any machine.
 * A warp moves all that is painted after it, before it is cut into pixels, so a squashed or turned part is as crisp as the others.
 * Invariant: a pixel is transparent or has a colour of a ramp. No pixel is half transparent, so scaling stays crisp.
 */

/** The colours of a part, from dark to bright, as 0xRRGGBB. `line` is its outline. */
export type Ramp = readonly [line: number, deep: number, shade: number, base: number, light: number, shine: number];

export interface Part {
  ramp: Ramp;
  /** Draws no line where this part covers another. */
  soft?: boolean;
  /** Added to the light on the part, −1 … 1: below 0 for a far leg, above 0 for a glowing belly. */
  light?: number;
  /** More light at a point of the picture, for bodies that light shines through. */
  glow?: (x: number, y: number) => number;
}

const EMPTY = -1;

/** Where a picture's parts go: scaled and sheared about a point, then turned about another one. */
export interface Warp {
  /** Factors of the width and the height, and the point that stays: the middle of the feet. */
  wide: number;
  high: number;
  foot: readonly [x: number, y: number];
  /** px to the right for each px above the foot. */
  lean: number;
  /** Radians to the right, about `middle`. */
  turn: number;
  middle: readonly [x: number, y: number];
}

const QUARTER = Math.PI / 2;

/** The direction of the light: up, left and out of the picture. Unit length. */
const LIGHT = { x: -0.43, y: -0.7, z: 0.57 };

/** The light above which a pixel gets the next tone, from `shade` to `shine`. High values at the end keep highlights small. */
const TONES = [-0.35, 0.12, 0.62, 0.93];

export class Picture {
  readonly width: number;
  readonly height: number;
  readonly pixels: Int32Array;
  readonly #lines: Int32Array;
  #warp: Warp | null = null;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.pixels = new Int32Array(width * height).fill(EMPTY);
    this.#lines = new Int32Array(width * height).fill(EMPTY);
  }

  /** Warps what is painted from now on. */
  warp(warp: Warp): void {
    this.#warp = warp;
  }

  /** Returns where a point of the picture is before the warp. */
  #unwarped(px: number, py: number): [number, number] {
    if (this.#warp === null) return [px, py];
    const { wide, high, foot, lean, turn, middle } = this.#warp;
    const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
    const [dx, dy] = [px - middle[0], py - middle[1]];
    const [tx, ty] = [middle[0] + dx * cos + dy * sin, middle[1] + dy * cos - dx * sin];
    const up = foot[1] - ty;
    return [foot[0] + (tx - foot[0] - up * lean) / wide, foot[1] - up / high];
  }

  /** Returns where the warp puts a point. */
  warped(x: number, y: number): [number, number] {
    if (this.#warp === null) return [x, y];
    const { wide, high, foot, lean, turn, middle } = this.#warp;
    const up = (foot[1] - y) * high;
    const [dx, dy] = [foot[0] + (x - foot[0]) * wide + up * lean - middle[0], foot[1] - up - middle[1]];
    const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
    return [middle[0] + dx * cos - dy * sin, middle[1] + dy * cos + dx * sin];
  }

  /** Paints an ellipse, rotated by `turn` radians and lit as an ellipsoid. Rows below `floor` are left out. */
  ellipse(x: number, y: number, rx: number, ry: number, part: Part, turn = 0, floor = this.height): void {
    const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
    this.#paint(part, (px, py) => {
      if (py > floor) return null;
      const u = ((px - x) * cos + (py - y) * sin) / rx;
      const v = ((py - y) * cos - (px - x) * sin) / ry;
      const square = u * u + v * v;
      if (square > 1) return null;
      const [nx, ny, nz] = [u * cos - v * sin, u * sin + v * cos, Math.sqrt(1 - square)];
      return nx * LIGHT.x + ny * LIGHT.y + nz * LIGHT.z;
    });
  }

  /** Paints a limb between two joints, round at both ends, with radius `r1` at the first and `r2` at the second. */
  limb(x1: number, y1: number, r1: number, x2: number, y2: number, r2: number, part: Part): void {
    const [dx, dy] = [x2 - x1, y2 - y1];
    const square = dx * dx + dy * dy || 1;
    this.#paint(part, (px, py) => {
      const along = Math.min(1, Math.max(0, ((px - x1) * dx + (py - y1) * dy) / square));
      const r = r1 + (r2 - r1) * along;
      const [u, v] = [(px - x1 - along * dx) / r, (py - y1 - along * dy) / r];
      const s = u * u + v * v;
      return s > 1 ? null : u * LIGHT.x + v * LIGHT.y + Math.sqrt(1 - s) * LIGHT.z;
    });
  }

  /** Paints a rounded box, lit as a slab: bright above, dark below. `corner` is the radius of its corners. */
  box(x: number, y: number, width: number, height: number, corner: number, part: Part): void {
    const [hx, hy] = [width / 2, height / 2];
    this.#paint(part, (px, py) => {
      const [u, v] = [px - x - hx, py - y - hy];
      const ox = Math.max(0, Math.abs(u) - (hx - corner));
      const oy = Math.max(0, Math.abs(v) - (hy - corner));
      if (ox * ox + oy * oy > corner * corner || Math.abs(u) > hx || Math.abs(v) > hy) return null;
      return 0.38 + 0.42 * (-u / hx) * 0.8 + 0.55 * (-v / hy);
    });
  }

  /** Paints a flat polygon of one tone. Its corners are x, y, x, y … */
  shape(corners: readonly number[], part: Part): void {
    this.#paint(part, (px, py) => {
      let inside = false;
      for (let i = 0, j = corners.length - 2; i < corners.length; j = i, i += 2) {
        const [ax, ay, bx, by] = [corners[i], corners[i + 1], corners[j], corners[j + 1]];
        if (ay > py !== by > py && px < ((bx - ax) * (py - ay)) / (by - ay) + ax) inside = !inside;
      }
      return inside ? 0.4 : null;
    });
  }

  /**
   * Sets the pixels of `rows`, one letter each, in the colours that `inks` has for the letters; others stay. x, y is the middle.
   * A warp moves and turns them by quarters, but does not distort them, so that a face stays a face. With `over` false, it sets
   * only pixels that are painted already.
   */
  stamp(x: number, y: number, rows: readonly string[], inks: Readonly<Record<string, number>>, over = false): void {
    const width = Math.max(...rows.map((row) => row.length));
    const quarters = ((Math.round((this.#warp?.turn ?? 0) / QUARTER) % 4) + 4) % 4;
    const isTurned = quarters % 2 === 1;
    const [middleX, middleY] = this.warped(x, y);
    const left = Math.round(middleX - (isTurned ? rows.length : width) / 2);
    const top = Math.round(middleY - (isTurned ? width : rows.length) / 2);
    for (const [row, letters] of rows.entries()) {
      for (const [column, letter] of [...letters].entries()) {
        const ink = inks[letter];
        if (ink === undefined) continue;
        const [backRow, backColumn] = [rows.length - 1 - row, width - 1 - column];
        const [dx, dy] = [
          [column, row],
          [backRow, column],
          [backColumn, backRow],
          [row, backColumn],
        ][quarters];
        if (over || this.at(left + dx, top + dy) !== EMPTY) this.set(left + dx, top + dy, ink);
      }
    }
  }

  /** Moves everything up or down, so that the lowest painted row is `row`. */
  standOn(row: number): void {
    const lowest = Math.floor(this.pixels.findLastIndex((pixel) => pixel !== EMPTY) / this.width);
    this.move(row - lowest);
  }

  /** Moves everything down by some rows; up when they are below 0. */
  move(rows: number): void {
    for (const table of [this.pixels, this.#lines]) {
      const before = table.slice();
      for (let i = 0; i < table.length; i++) table[i] = before[i - rows * this.width] ?? EMPTY;
    }
  }

  /** Draws the silhouette: an empty pixel beside a painted one gets the line colour of that part. Call it last. */
  outline(): void {
    const before = this.pixels.slice();
    for (let y = 0; y < this.height; y++) {
      for (let x = 0; x < this.width; x++) {
        if (before[y * this.width + x] !== EMPTY) continue;
        const beside = this.#beside(x, y).find((i) => before[i] !== EMPTY);
        if (beside !== undefined) this.pixels[y * this.width + x] = this.#lines[beside];
      }
    }
  }

  at(x: number, y: number): number {
    return x < 0 || y < 0 || x >= this.width || y >= this.height ? EMPTY : this.pixels[y * this.width + x];
  }

  set(x: number, y: number, colour: number): void {
    if (x < 0 || y < 0 || x >= this.width || y >= this.height) return;
    this.pixels[y * this.width + x] = colour;
    if (this.#lines[y * this.width + x] === EMPTY) this.#lines[y * this.width + x] = colour;
  }

  #paint({ ramp, soft = false, light = 0, glow }: Part, lit: (x: number, y: number) => number | null): void {
    const covered: number[] = [];
    for (let y = 0; y < this.height; y++) {
      for (let x = 0; x < this.width; x++) {
        const [px, py] = this.#unwarped(x + 0.5, y + 0.5);
        const value = lit(px, py);
        if (value === null) continue;
        const bright = value + light + (glow?.(px, py) ?? 0);
        const tone = TONES.filter((needed) => bright > needed).length;
        const i = y * this.width + x;
        covered.push(i);
        this.pixels[i] = ramp[1 + tone];
        this.#lines[i] = ramp[0];
      }
    }
    if (soft) return;
    const own = new Set(covered);
    for (const i of covered) {
      for (const beside of this.#beside(i % this.width, Math.floor(i / this.width))) {
        if (!own.has(beside) && this.pixels[beside] !== EMPTY) this.pixels[beside] = ramp[0];
      }
    }
  }

  #beside(x: number, y: number): number[] {
    const around: number[] = [];
    if (y > 0) around.push((y - 1) * this.width + x);
    if (x > 0) around.push(y * this.width + x - 1);
    if (x < this.width - 1) around.push(y * this.width + x + 1);
    if (y < this.height - 1) around.push((y + 1) * this.width + x);
    return around;
  }
}
