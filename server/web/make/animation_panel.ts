/** The panel of animations: which frames each of them shows, and how fast. */
import { type Animation, FPS_MAX, FRAMES_MAX, KNOWN_ANIMATIONS, PLAYED } from '../../wire/files/description.ts';
import { readFrameList, writeFrameList } from '../../wire/files/frame_list.ts';
import { element } from '../desktop/elements.ts';
import { counted, number, type Plain, phrase } from '../texts/language.ts';
import type { Animations } from './draft.ts';

const FPS_USUAL = 8; // frames a second of a new animation

interface AnimationPanelHandlers {
  /** The frame that is selected in the row. */
  selectedFrame(): number;
  changed(animations: Animations): void;
  /** The person has chosen another animation. */
  chosen(): void;
}

export class AnimationPanel {
  readonly #handlers: AnimationPanelHandlers;
  readonly #select = element<HTMLSelectElement>('animation');
  readonly #list = element<HTMLInputElement>('animation-frames');
  readonly #fps = element<HTMLInputElement>('fps');
  readonly #wrong = element('animation-wrong');
  #animations: Animations = {};
  #kept: readonly number[] = [];

  constructor(handlers: AnimationPanelHandlers) {
    this.#handlers = handlers;
    this.#select.addEventListener('change', () => {
      this.#show();
      handlers.chosen();
    });
    this.#list.addEventListener('input', () => this.#typed());
    this.#list.addEventListener('change', () => this.#show()); // writes it as the others
    this.#fps.addEventListener('input', () => {
      const { frames = [] } = this.#present ?? {};
      if (frames.length > 0) this.#set({ frames, fps: fpsOf(Number(this.#fps.value)) });
    });
    element('animation-add').addEventListener('click', () => this.#addSelected());
    element('animation-clear').addEventListener('click', () => this.#clear());
  }

  get chosen(): string {
    return this.#select.value || 'idle';
  }

  /** Shows the chosen animation. People count frames from 1, in the order of the row. */
  show(animations: Animations, kept: readonly number[]): void {
    this.#animations = animations;
    this.#kept = kept;
    this.#showNames();
    this.#show();
  }

  /** The chosen animation; undefined when it shows the frames of another one. */
  get #present(): Animation | undefined {
    return this.#animations[this.#select.value];
  }

  #typed(): void {
    const numbers = readFrameList(this.#list.value);
    const problem = this.#problemOf(numbers);
    this.#wrong.textContent = problem;
    this.#wrong.hidden = problem === '';
    this.#list.setAttribute('aria-invalid', String(problem !== ''));
    if (numbers !== undefined && problem === '') this.#setFrames(numbers.map((number) => this.#kept[number - 1]));
    else if (this.#list.value.trim() === '') this.#clear();
  }

  #problemOf(numbers: number[] | undefined): string {
    if (this.#list.value.trim() === '') return '';
    if (numbers === undefined) return phrase('make.bad-numbers');
    if (numbers.length > FRAMES_MAX) return phrase('make.too-many-frames', { count: FRAMES_MAX });
    const missing = numbers.find((number) => number < 1 || number > this.#kept.length);
    return missing === undefined ? '' : phrase('make.no-frame', { number: missing, last: this.#kept.length });
  }

  #addSelected(): void {
    const { frames = [] } = this.#present ?? {};
    const selected = this.#handlers.selectedFrame();
    if (frames.length < FRAMES_MAX && this.#kept.includes(selected)) this.#setFrames([...frames, selected]);
  }

  #setFrames(frames: number[]): void {
    this.#set({ frames, fps: this.#present?.fps ?? FPS_USUAL });
  }

  #set(animation: Animation): void {
    this.#handlers.changed({ ...this.#animations, [this.#select.value]: animation });
  }

  /** Without frames of its own, an animation shows those of another one. `idle` always has some. */
  #clear(): void {
    const { value } = this.#select;
    if (value === 'idle') return;
    this.#handlers.changed(Object.fromEntries(Object.entries(this.#animations).filter(([name]) => name !== value)));
  }

  #showNames(): void {
    const before = this.chosen;
    const others = Object.keys(this.#animations).filter((name) => !KNOWN_ANIMATIONS.includes(name));
    const options = [...KNOWN_ANIMATIONS, ...others].map((name) => {
      const frames = this.#animations[name]?.frames.length;
      const shows = frames === undefined ? insteadOf(name) : counted('make.frames', frames);
      const option = new Option(`${doesOf(name)} – ${shows}`, name);
      option.selected = name === before;
      return option;
    });
    this.#select.replaceChildren(...options);
  }

  #show(): void {
    const animation = this.#present;
    const places = animation?.frames.map((frame) => this.#kept.indexOf(frame) + 1) ?? [];
    const isTyping = document.activeElement === this.#list;
    if (!isTyping) this.#list.value = writeFrameList(places);
    if (!isTyping || this.#wrong.hidden) {
      this.#wrong.hidden = true;
      this.#list.removeAttribute('aria-invalid');
    }
    this.#list.placeholder = animation === undefined ? insteadOf(this.#select.value) : '';
    this.#fps.value = String(animation?.fps ?? FPS_USUAL);
    this.#fps.disabled = animation === undefined;
    element('fps-shown').textContent = animation === undefined ? '' : number(animation.fps, 1);
    const isFixed = animation === undefined || this.#select.value === 'idle';
    element<HTMLButtonElement>('animation-clear').disabled = isFixed;
  }
}

/** Says which animation is shown instead of one without frames. */
function insteadOf(name: string): string {
  return phrase('make.as-when', { does: doesOf(PLAYED[name]?.instead ?? 'idle') });
}

/** Says when an animation is shown, after the words "when it". One that no desktop knows has its name in quotation marks. */
function doesOf(name: string): string {
  return KNOWN_ANIMATIONS.includes(name) ? phrase(`does.${name}` as Plain) : `“${name}”`;
}

function fpsOf(value: number): number {
  return Math.min(FPS_MAX, Math.max(0.5, value));
}
