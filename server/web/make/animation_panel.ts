/** The panel of animations: which frames each of them shows, and how fast. */
import { type Animation, FPS_MAX, FRAMES_MAX, KNOWN_ANIMATIONS, PLAYED } from '../../wire/description.ts';
import { readFrameList, writeFrameList } from '../../wire/frame_list.ts';
import { element } from '../desktop/panel.ts';
import { counted, number, type Plain, phrase } from '../texts/language.ts';
import type { Animations } from './draft.ts';

export interface AnimationPanel {
  /** Shows the chosen animation. People count frames from 1, in the order of the row. */
  show(animations: Animations, kept: readonly number[]): void;
  readonly chosen: string;
}

/** What a sprite does while the animation is shown, after the words "when it". */
const DOES: Record<string, Plain> = {
  idle: 'does.idle',
  walk: 'does.walk',
  fall: 'does.fall',
  drag: 'does.drag',
  land: 'does.land',
  climb: 'does.climb',
  sleep: 'does.sleep',
  throw: 'does.throw',
  tumble: 'does.tumble',
  squash: 'does.squash',
  sit: 'does.sit',
  hang: 'does.hang',
  pet: 'does.pet',
  yawn: 'does.yawn',
  look: 'does.look',
  wave: 'does.wave',
  greet: 'does.greet',
};

const FPS_USUAL = 8; // frames a second of a new animation

export function createAnimationPanel(
  selectedFrame: () => number,
  changed: (animations: Animations) => void,
  chosen: () => void,
): AnimationPanel {
  const select = element<HTMLSelectElement>('animation');
  const list = element<HTMLInputElement>('animation-frames');
  const fps = element<HTMLInputElement>('fps');
  const wrong = element('animation-wrong');
  let animations: Animations = {};
  let kept: readonly number[] = [];

  select.addEventListener('change', () => {
    show();
    chosen();
  });
  list.addEventListener('input', () => {
    const numbers = readFrameList(list.value);
    const problem = problemOf(numbers);
    wrong.textContent = problem;
    wrong.hidden = problem === '';
    list.setAttribute('aria-invalid', String(problem !== ''));
    if (numbers !== undefined && problem === '') setFrames(numbers.map((number) => kept[number - 1]));
    else if (list.value.trim() === '') clear();
  });
  list.addEventListener('change', () => show()); // writes it as the others
  fps.addEventListener('input', () => {
    const { frames } = animations[select.value] ?? { frames: [] };
    if (frames.length > 0) set({ frames, fps: fpsOf(Number(fps.value)) });
  });
  element('animation-add').addEventListener('click', () => {
    const { frames = [] } = animations[select.value] ?? {};
    if (frames.length < FRAMES_MAX && kept.includes(selectedFrame())) setFrames([...frames, selectedFrame()]);
  });
  element('animation-clear').addEventListener('click', clear);

  return {
    get chosen() {
      return select.value || 'idle';
    },
    show(shown, frames) {
      animations = shown;
      kept = frames;
      showNames();
      show();
    },
  };

  function problemOf(numbers: number[] | undefined): string {
    if (list.value.trim() === '') return '';
    if (numbers === undefined) return phrase('make.bad-numbers');
    if (numbers.length > FRAMES_MAX) return phrase('make.too-many-frames', { count: FRAMES_MAX });
    const missing = numbers.find((number) => number < 1 || number > kept.length);
    return missing === undefined ? '' : phrase('make.no-frame', { number: missing, last: kept.length });
  }

  function setFrames(frames: number[]): void {
    set({ frames, fps: animations[select.value]?.fps ?? FPS_USUAL });
  }

  function set(animation: Animation): void {
    changed({ ...animations, [select.value]: animation });
  }

  /** Without frames of its own, an animation shows those of another one. `idle` always has some. */
  function clear(): void {
    if (select.value === 'idle') return;
    changed(Object.fromEntries(Object.entries(animations).filter(([name]) => name !== select.value)));
  }

  function showNames(): void {
    const before = select.value || 'idle';
    const others = Object.keys(animations).filter((name) => !KNOWN_ANIMATIONS.includes(name));
    const options = [...KNOWN_ANIMATIONS, ...others].map((name) => {
      const frames = animations[name]?.frames.length;
      const words = doesOf(name);
      const instead = PLAYED[name]?.instead ?? 'idle';
      const shows =
        frames === undefined ? phrase('make.as-when', { does: doesOf(instead) }) : counted('make.frames', frames);
      const option = new Option(`${words} – ${shows}`, name);
      option.selected = name === before;
      return option;
    });
    select.replaceChildren(...options);
  }

  function show(): void {
    const animation = animations[select.value];
    const places = animation?.frames.map((frame) => kept.indexOf(frame) + 1) ?? [];
    if (document.activeElement !== list || wrong.hidden) {
      if (document.activeElement !== list) list.value = writeFrameList(places);
      wrong.hidden = true;
      list.removeAttribute('aria-invalid');
    }
    list.placeholder =
      animation === undefined ? phrase('make.as-when', { does: doesOf(PLAYED[select.value]?.instead ?? 'idle') }) : '';
    fps.value = String(animation?.fps ?? FPS_USUAL);
    fps.disabled = animation === undefined;
    element('fps-shown').textContent = animation === undefined ? '' : number(animation.fps, 1);
    element<HTMLButtonElement>('animation-clear').disabled = animation === undefined || select.value === 'idle';
  }
}

/** Says when an animation is shown, after the words "when it". One that no desktop knows has its name in quotation marks. */
function doesOf(name: string): string {
  return Object.hasOwn(DOES, name) ? phrase(DOES[name]) : `“${name}”`;
}

function fpsOf(value: number): number {
  return Math.min(FPS_MAX, Math.max(0.5, value));
}
