/**
 * The preview: a small stage on which the sprite that is being made walks about, is dragged and thrown, as on a desktop.
 *
 * It has the desktop's own simulation, renderer and input. What is thrown over an edge comes back over the opposite one.
 */
import { Renderer } from '../desktop/canvas.ts';
import { advance, createFrameClock } from '../desktop/frame_clock.ts';
import { Input } from '../desktop/input.ts';
import { addSprite, createSimulation, enter, opposite, removeSprite, type Sprite, step } from '../motion/simulation.ts';
import { natureOf, type Sheets } from '../pictures/sheets.ts';

const NO_TAGS = new Map();

export class Preview {
  readonly #canvas: HTMLCanvasElement;
  readonly #ledge: HTMLElement;
  readonly #sheets: Sheets;
  readonly #calm: MediaQueryList;
  readonly #simulation = createSimulation(1, 1);
  readonly #clock = createFrameClock();
  readonly #renderer: Renderer;
  readonly #input: Input;
  #sprite: Sprite | null = null;
  #file: string | null = null;
  #factor = 1;

  constructor(
    canvas: HTMLCanvasElement,
    ledge: HTMLElement,
    sheets: Sheets,
    calm: MediaQueryList,
    togglePause: () => void,
  ) {
    this.#canvas = canvas;
    this.#ledge = ledge;
    this.#sheets = sheets;
    this.#calm = calm;
    this.#renderer = new Renderer(canvas, sheets);
    const onDesktop = ({ clientX, clientY }: PointerEvent) => {
      const { left, top } = canvas.getBoundingClientRect();
      return { x: clientX - left, y: clientY - top };
    };
    this.#input = new Input(canvas, this.#simulation, { onDesktop, togglePause }, canvas);
  }

  get sprite(): Sprite | null {
    return this.#sprite;
  }

  /** Shows this picture in place of the one before. The sprite stays where it is. */
  show(file: string): void {
    this.#file = file;
    this.#replace();
  }

  zoom(factor: number): void {
    this.#factor = factor;
    this.#replace();
  }

  /** Lets the sprite fall from the top once more. */
  dropIn(): void {
    if (this.#sprite === null) return;
    removeSprite(this.#simulation, this.#sprite);
    this.#sprite = null;
    this.#replace();
  }

  togglePause(): boolean {
    this.#clock.paused = !this.#clock.paused;
    return this.#clock.paused;
  }

  /** The stage has another size. */
  fit(): void {
    const simulation = this.#simulation;
    const { width, height } = this.#renderer.fit();
    [simulation.width, simulation.height] = [width, height];
    simulation.calm = this.#calm.matches;
    const stage = this.#canvas.getBoundingClientRect();
    const box = this.#ledge.getBoundingClientRect();
    const top = { left: box.left - stage.left, right: box.right - stage.left, y: box.top - stage.top };
    simulation.ledges = box.width > 0 ? [top] : [];
    if (this.#sprite !== null) this.#sprite.x = Math.min(this.#sprite.x, width);
  }

  draw(frameMs: number): void {
    if (advance(this.#clock, frameMs)) {
      for (const { sprite, edge, ...way } of step(this.#simulation, this.#clock.nowMs, Math.random)) {
        enter(this.#simulation, sprite, { edge: opposite(edge), ...way });
      }
    }
    this.#renderer.draw(this.#simulation, NO_TAGS, this.#input.selected, null, frameMs);
  }

  /** Puts a sprite with the present picture and size where the one before was. */
  #replace(): void {
    const before = this.#sprite;
    if (before !== null) removeSprite(this.#simulation, before);
    this.#sprite = this.#file === null ? null : this.#add(this.#file, before);
    if (this.#sprite === null || before === null) return;
    const { vx, vy, mode, sinceMs, nextMs, touchedMs } = before;
    // A sprite that was held is let go: the hand held the one before.
    if (mode !== 'drag') Object.assign(this.#sprite, { vx, vy, mode, sinceMs, nextMs, touchedMs });
  }

  #add(file: string, before: Sprite | null): Sprite {
    const { description } = this.#sheets.get(file);
    const scale = description.scale * this.#factor;
    const nature = natureOf(description, scale);
    const { x, y, facing } = before ?? { x: this.#simulation.width / 3, y: nature.height, facing: 'right' };
    return addSprite(this.#simulation, { file, name: description.name, scale, fromShelf: true, nature, facing, x, y });
  }
}
