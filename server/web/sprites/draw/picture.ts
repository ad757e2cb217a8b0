/**
 * A small picture that characters are drawn on: rounded parts, lit from the upper left, in ramps of five tones.
 *
 * Parts are painted back to front. Where a part covers another, a line in the front part's dark colour separates them.
 * `outline` draws the silhouette last. All drawing is deterministic: the same pose gives the same pixels on any machine.
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

/** The direction of the light: up, left and out of the picture. Unit length. */
const LIGHT = { x: -0.43, y: -0.7, z: 0.57 };

/** The light above which a pixel gets the next tone, from `shade` to `shine`. High values at the end keep highlights small. */
const TONES = [-0.35, 0.12, 0.62, 0.93];

export class Picture {
  readonly width: number;
  readonly height: number;
  readonly pixels: Int32Array;
  readonly #lines: Int32Array;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.pixels = new Int32Array(width * height).fill(EMPTY);
    this.#lines = new Int32Array(width * height).fill(EMPTY);
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

  /** Sets the pixels where `rows` has a `#`, from x, y on. With `over` false, only pixels that are painted already. */
  stamp(x: number, y: number, rows: readonly string[], colour: number, over = true): void {
    const [left, top] = [Math.round(x), Math.round(y)];
    rows.forEach((row, dy) => {
      for (let dx = 0; dx < row.length; dx++) {
        if (row[dx] === '#' && (over || this.at(left + dx, top + dy) !== EMPTY)) this.set(left + dx, top + dy, colour);
      }
    });
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
        const value = lit(x + 0.5, y + 0.5);
        if (value === null) continue;
        const bright = value + light + (glow?.(x + 0.5, y + 0.5) ?? 0);
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
