/**
 * The line in which a person types what to say: it counts the bytes, sends the text, and shows what became of it.
 *
 * Invariant: a text stays in the line until the relay has accepted it.
 */

import { SAYING_TEXT_BYTES_MAX } from '../../wire/rules.ts';
import { sizeBytes, tidy } from '../relay/sayings.ts';
import { counted } from '../texts/language.ts';
import { element } from './elements.ts';

const NEAR_BYTES = 0.75 * SAYING_TEXT_BYTES_MAX; // bytes from which a narrow page shows how many there are: time to find an end

export class SayLine {
  readonly #card = element('talk');
  readonly #field = element<HTMLInputElement>('saying');
  /** Called with a tidy text of at most SAYING_TEXT_BYTES_MAX bytes, which the person wants to say. */
  readonly #say: (text: string) => void;

  constructor(say: (text: string) => void) {
    this.#say = say;
    element('say').addEventListener('click', () => (this.isOpen ? this.#close() : this.open()));
    element('say-close').addEventListener('click', () => this.#close());
    this.#card.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || event.isComposing) return;
      event.preventDefault();
      this.#close();
    });
    this.#field.addEventListener('input', () => {
      this.#count();
      this.#tell('');
    });
    element('say-form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#submit();
    });
  }

  get isOpen(): boolean {
    return !this.#card.hidden;
  }

  open(): void {
    this.#show(true);
    this.#count();
    this.#field.focus({ preventScroll: true });
  }

  /** Shows a text that is on its way. It can't be changed until it is accepted or refused. */
  sending(text: string, words: string): void {
    this.#set(text, true, words);
  }

  /** Empties the line, because the relay has accepted the text, and shows these words. */
  accepted(words: string): void {
    this.#set('', false, words);
  }

  /** Lets the person change the refused text, and shows why it was refused. */
  refused(words: string): void {
    this.#field.readOnly = false;
    this.#tell(words, true);
  }

  #close(): void {
    this.#show(false);
    if (!this.#field.readOnly) this.#tell('');
    element('canvas').focus({ preventScroll: true }); // the keys are the canvas's again
  }

  #show(isOpen: boolean): void {
    this.#card.hidden = !isOpen;
    element('say').ariaExpanded = String(isOpen);
  }

  #set(text: string, isSending: boolean, words: string): void {
    this.#field.value = text;
    this.#field.readOnly = isSending;
    this.#tell(words);
    this.#count();
  }

  #submit(): void {
    if (this.#field.readOnly) return;
    const text = tidy(this.#field.value);
    const over = this.#count() - SAYING_TEXT_BYTES_MAX;
    if (text === '') this.#close();
    else if (over > 0) this.#tell(counted('saying.too-long', over), true);
    else this.#say(text);
  }

  #tell(words: string, isRefusal = false): void {
    const state = element('saying-state');
    state.textContent = words;
    state.classList.toggle('refused', isRefusal);
  }

  /** Shows how many bytes the text has, and returns them. */
  #count(): number {
    const size = element('saying-size');
    const bytes = sizeBytes(tidy(this.#field.value));
    size.textContent = `${bytes} / ${SAYING_TEXT_BYTES_MAX}`;
    size.classList.toggle('near', bytes > NEAR_BYTES);
    size.classList.toggle('over', bytes > SAYING_TEXT_BYTES_MAX);
    return bytes;
  }
}
