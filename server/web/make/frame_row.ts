/**
 * The row of frames: a button for each, of which one is selected. Dropped frames stay at the end, faded, and can come back.
 *
 * Keyboard: the row is one stop of the Tab key; the arrow keys select, Delete drops.
 */
import type { Pixels } from '../../wire/files/pixels.ts';
import { newElement } from '../desktop/elements.ts';
import { phrase } from '../texts/language.ts';

interface FrameRow {
  /** Shows the frames, those that are kept first. */
  show(frames: readonly Pixels[], kept: readonly number[], selected: number): void;
}

const THUMB_PX = 56; // px of a frame's longer side

export function createFrameRow(list: HTMLElement, selected: (frame: number) => void, dropped: () => void): FrameRow {
  let drawn: readonly Pixels[] = [];
  let canvases: HTMLCanvasElement[] = [];

  list.addEventListener('keydown', (event) => {
    const buttons = [...list.querySelectorAll('button')];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (event.key === 'Delete' || event.key === 'Backspace') dropped();
    else if (by !== undefined && at >= 0) buttons[Math.min(buttons.length - 1, Math.max(0, at + by))].click();
    else return;
    event.preventDefault();
  });

  return {
    show(frames, kept, chosen) {
      const hadFocus = list.contains(document.activeElement);
      if (frames !== drawn) {
        drawn = frames;
        canvases = frames.map(thumb);
      }
      const rest = [...frames.keys()].filter((frame) => !kept.includes(frame));
      list.replaceChildren(...[...kept, ...rest].map((frame) => item(frame, kept.indexOf(frame), frame === chosen)));
      if (hadFocus) list.querySelector<HTMLElement>('[aria-pressed="true"]')?.focus();
    },
  };

  /** A frame in the row. `place` is −1 for one that is dropped. */
  function item(frame: number, place: number, isChosen: boolean): HTMLElement {
    const isDropped = place < 0;
    const button = newElement('button', {
      type: 'button',
      className: isDropped ? 'thumb dropped' : 'thumb',
      tabIndex: isChosen ? 0 : -1,
      ariaPressed: String(isChosen),
      ariaLabel: isDropped ? phrase('make.dropped-frame') : phrase('make.frame', { number: place + 1 }),
    });
    button.append(canvases[frame], newElement('span', { textContent: isDropped ? '–' : String(place + 1) }));
    button.addEventListener('click', () => {
      selected(frame);
      list.querySelector<HTMLElement>('[aria-pressed="true"]')?.focus();
    });
    const entry = document.createElement('li');
    entry.append(button);
    return entry;
  }
}

function thumb({ width, height, data }: Pixels): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [width, height];
  const factor = THUMB_PX / Math.max(width, height);
  canvas.style.width = `${width * (factor > 1 ? Math.floor(factor) : factor)}px`;
  canvas.getContext('2d')?.putImageData(new ImageData(new Uint8ClampedArray(data), width, height), 0, 0);
  return canvas;
}
