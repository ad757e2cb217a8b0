/**
 * Changing seats with somebody: asks, and shows who asks. Loaded when a person does either.
 *
 * A question is a card with two buttons, which goes when it is answered or over. It takes no focus: a screen reader reads it.
 */
import { problemOf, send, shownName } from '../relay/api_client.ts';
import { wordsOf } from '../relay/problem_words.ts';
import { type Companion, readProblem, type Seat, type SwapEvent } from '../relay/transport.ts';
import { phrase } from '../texts/language.ts';
import { element, newElement } from './elements.ts';
import { announce, notice } from './panel.ts';

let takeAway = () => {};

/** Asks somebody to change seats, and says what came of it. */
export async function askSwap(seat: Seat, { name, column, row }: Companion): Promise<void> {
  const shown = { name: shownName(name) };
  try {
    const response = await send(seat, 'POST', `/v1/desktops/${seat.desktop}/swap`, { name, column, row });
    if (!response.ok) {
      const problem = await readProblem(response);
      notice(problem.code === 'swap-gone' ? phrase('company.gone', shown) : wordsOf(problem));
      return;
    }
    const { swap } = await response.json();
    notice(phrase(swap === 'done' ? 'swap.done' : 'swap.asked', shown));
  } catch {
    notice(phrase('relay.unreachable'));
  }
}

/** Shows what the relay says about changing seats. */
export function showSwap(seat: Seat, { with: partner, from, leaseMs = 0 }: SwapEvent): void {
  takeAway();
  if (partner !== undefined) notice(phrase('swap.done', { name: shownName(partner.name) }));
  if (from === undefined) return;
  const words = phrase('swap.question', { name: shownName(from.name) });
  const answer = (accept: boolean) => async () => {
    takeAway();
    const problem = await problemOf(
      send(seat, 'PUT', `/v1/desktops/${seat.desktop}/swap`, { from: from.desktop, accept }),
    );
    if (problem !== null) notice(problem.code === 'swap-gone' ? phrase('swap.over') : wordsOf(problem));
    else if (accept) notice(phrase('swap.done', { name: shownName(from.name) }));
  };
  const button = (className: string, text: string, accept: boolean) =>
    newElement('button', { type: 'button', className, textContent: text, onclick: answer(accept) });
  const card = newElement('section', { className: 'question card', ariaLabel: phrase('swap.title') });
  card.append(
    newElement('p', { textContent: words }),
    button('button low', phrase('swap.yes'), true),
    button('plain', phrase('swap.no'), false),
  );
  element('company').before(card);
  announce(words);
  const timer = setTimeout(() => takeAway(), leaseMs);
  takeAway = () => {
    clearTimeout(timer);
    card.remove();
    takeAway = () => {};
  };
}
