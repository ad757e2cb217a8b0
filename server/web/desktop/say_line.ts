/**
 * The line in which a person types what to say: it counts the bytes, sends the text, and shows what became of it.
 *
 * Invariant: a text stays in the line until the relay has accepted it.
 */

import { SAYING_TEXT_BYTES_MAX } from '../../wire/rules.ts';
import { sizeBytes, tidy } from '../relay/sayings.ts';
import { counted } from '../texts/language.ts';
import { element } from './panel.ts';

const NEAR_BYTES = 0.75 * SAYING_TEXT_BYTES_MAX; // bytes from which a narrow page shows how many there are: time to find an end

export interface SayLineHandlers {
  /** The person wants to say this tidy text of at most SAYING_TEXT_BYTES_MAX bytes. */
  say(text: string): void;
}

export interface SayLine {
  readonly isOpen: boolean;
  open(): void;
  /** Shows a text that is on its way. It can't be changed until it is accepted or refused. */
  sending(text: string, words: string): void;
  /** Empties the line, because the relay has accepted the text, and shows these words. */
  accepted(words: string): void;
  /** Lets the person change the refused text, and shows why it was refused. */
  refused(words: string): void;
}

export function createSayLine(handlers: SayLineHandlers): SayLine {
  const card = element('talk');
  const field = element<HTMLInputElement>('saying');
  const size = element('saying-size');
  const state = element('saying-state');
  const button = element<HTMLButtonElement>('say');

  const tell = (words: string, isRefusal = false) => {
    state.textContent = words;
    state.classList.toggle('refused', isRefusal);
  };
  const count = () => {
    const bytes = sizeBytes(tidy(field.value));
    size.textContent = `${bytes} / ${SAYING_TEXT_BYTES_MAX}`;
    size.classList.toggle('near', bytes > NEAR_BYTES);
    size.classList.toggle('over', bytes > SAYING_TEXT_BYTES_MAX);
    return bytes;
  };
  const open = () => {
    card.hidden = false;
    button.setAttribute('aria-expanded', 'true');
    count();
    field.focus({ preventScroll: true });
  };
  const close = () => {
    card.hidden = true;
    button.setAttribute('aria-expanded', 'false');
    if (!field.readOnly) tell('');
    element('canvas').focus({ preventScroll: true }); // the keys are the canvas's again
  };

  button.addEventListener('click', () => (card.hidden ? open() : close()));
  element('say-close').addEventListener('click', close);
  card.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || event.isComposing) return;
    event.preventDefault();
    close();
  });
  field.addEventListener('input', () => {
    count();
    tell('');
  });
  element('say-form').addEventListener('submit', (event) => {
    event.preventDefault();
    if (field.readOnly) return;
    const text = tidy(field.value);
    const over = count() - SAYING_TEXT_BYTES_MAX;
    if (text === '') close();
    else if (over > 0) tell(counted('saying.too-long', over), true);
    else handlers.say(text);
  });

  return {
    get isOpen() {
      return !card.hidden;
    },
    open,
    sending(text, words) {
      field.value = text;
      field.readOnly = true;
      tell(words);
      count();
    },
    accepted(words) {
      field.value = '';
      field.readOnly = false;
      tell(words);
      count();
    },
    refused(words) {
      field.readOnly = false;
      tell(words, true);
    },
  };
}
