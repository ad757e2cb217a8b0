/**
 * The preview: a small stage on which the sprite that is being made walks about, is dragged and thrown, as on a desktop.
 *
 * It has the desktop's own simulation, renderer and input. What is thrown over an edge comes back over the opposite one.
 */
import { Renderer } from '../desktop/canvas.ts';
import { advance, createFrameClock } from '../desktop/frame_clock.ts';
import { listenToInput } from '../desktop/input.ts';
import { addSprite, createSimulation, enter, opposite, removeSprite, type Sprite, step } from '../motion/simulation.ts';
import { natureOf, type Sheets } from '../pictures/sheets.ts';

export interface Preview {
  /** Shows this picture in place of the one before. The sprite stays where it is. Null shows none. */
  show(file: string | null): void;
  /** Lets the sprite fall from the top once more. */
  dropIn(): void;
  zoom(factor: number): void;
  togglePause(): boolean;
  /** The stage has another size. */
  fit(): void;
  draw(frameMs: number): void;
  readonly sprite: Sprite | null;
}

const NO_TAGS = new Map();
const NO_VIEW = { edge: null, shift: 0, silhouettes: [] };

export function createPreview(
  canvas: HTMLCanvasElement,
  ledge: HTMLElement,
  sheets: Sheets,
  calm: MediaQueryList,
  pauseToggled: () => void,
): Preview {
  const simulation = createSimulation(1, 1);
  const clock = createFrameClock();
  const renderer = new Renderer(canvas, sheets);
  let sprite: Sprite | null = null;
  let file: string | null = null;
  let factor = 1;
  const slide = () => {
    const { left, top } = canvas.getBoundingClientRect();
    return { x: left, y: top };
  };
  const nothing = () => {};
  const input = listenToInput(
    canvas,
    simulation,
    slide,
    {
      selected: nothing,
      putBack: nothing,
      togglePause: pauseToggled,
      say: nothing,
      peek: nothing,
      stopPeeking: nothing,
    },
    canvas,
  );

  return {
    get sprite() {
      return sprite;
    },
    show(shown) {
      file = shown;
      replace();
    },
    dropIn() {
      if (sprite === null) return;
      removeSprite(simulation, sprite);
      sprite = null;
      replace();
    },
    zoom(wanted) {
      factor = wanted;
      replace();
    },
    togglePause() {
      clock.paused = !clock.paused;
      return clock.paused;
    },
    fit,
    draw(frameMs) {
      if (advance(clock, frameMs)) {
        for (const { sprite: thrown, edge, ...way } of step(simulation, clock.nowMs, Math.random)) {
          enter(simulation, thrown, { edge: opposite(edge), ...way });
        }
      }
      renderer.draw(simulation, NO_TAGS, input.selected, NO_VIEW, frameMs);
    },
  };

  function fit(): void {
    const { width, height } = renderer.fit();
    [simulation.width, simulation.height] = [width, height];
    simulation.calm = calm.matches;
    const stage = canvas.getBoundingClientRect();
    const box = ledge.getBoundingClientRect();
    const top = { left: box.left - stage.left, right: box.right - stage.left, y: box.top - stage.top };
    simulation.ledges = box.width > 0 ? [top] : [];
    if (sprite !== null) sprite.x = Math.min(sprite.x, width);
  }

  /** Puts a sprite with the present picture and size where the one before was. */
  function replace(): void {
    const before = sprite;
    if (before !== null) removeSprite(simulation, before);
    sprite = null;
    if (file === null) return;
    const { description } = sheets.get(file);
    const scale = description.scale * factor;
    const nature = natureOf(description, scale);
    const { x, y } = before ?? { x: simulation.width / 3, y: nature.height };
    const { name } = description;
    sprite = addSprite(simulation, {
      file,
      name,
      scale,
      fromShelf: true,
      nature,
      facing: before?.facing ?? 'right',
      x,
      y,
    });
    if (before === null) return;
    const { vx, vy, mode, sinceMs, nextMs, touchedMs } = before;
    // A sprite that was held is let go: the hand held the one before.
    if (mode !== 'drag') Object.assign(sprite, { vx, vy, mode, sinceMs, nextMs, touchedMs });
  }
}
