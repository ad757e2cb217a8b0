/** The panel with the last sayings, each with its time, its speaker, and a button that mutes the speaker. */
import { shownName } from '../relay/api_client.ts';
import type { HistoryLine, SaidLine } from '../relay/saying_history.ts';
import type { Neighbour } from '../relay/transport.ts';
import { chosenLanguages, phrase } from '../texts/language.ts';
import { element, newElement } from './elements.ts';
import { missedWords } from './saying_words.ts';

interface HistoryPanelHandlers {
  isMuted(desktop: string): boolean;
  /** The person wants to mute this desktop, or to hear it again. */
  toggleMute(neighbour: Neighbour): void;
}

export class HistoryPanel {
  readonly #handlers: HistoryPanelHandlers;
  readonly #panel = element('history');
  readonly #items = new Map<HistoryLine, HTMLElement>();
  readonly #muteButtons = new Map<HTMLButtonElement, Neighbour>();

  constructor(handlers: HistoryPanelHandlers) {
    this.#handlers = handlers;
    this.#panel.tabIndex = 0; // so that the arrow keys scroll it
    element('history-toggle').addEventListener('click', () => this.#toggle());
  }

  /** Shows these lines. Keeps the elements of lines that were shown before, and so the focus. */
  show(lines: readonly HistoryLine[]): void {
    const { scrollTop, clientHeight, scrollHeight } = this.#panel;
    const isAtEnd = scrollTop + clientHeight >= scrollHeight - 1;
    for (const [line, item] of this.#items) if (!lines.includes(line)) this.#remove(line, item);
    for (const line of lines) {
      const item = this.#items.get(line) ?? this.#add(line);
      if (line.kind === 'missed') item.textContent = missedWords(line.sayings);
    }
    element('history-empty').hidden = lines.length > 0;
    this.showMutes();
    if (isAtEnd) this.#scrollToEnd();
  }

  /** Shows on each button whether its speaker is muted now. */
  showMutes(): void {
    for (const [button, { desktop, name }] of this.#muteButtons) {
      const muted = this.#handlers.isMuted(desktop);
      button.textContent = phrase(muted ? 'history.hear' : 'history.mute');
      button.ariaLabel = phrase(muted ? 'mute.hear' : 'mute.mute', { name });
    }
  }

  #toggle(): void {
    this.#panel.hidden = !this.#panel.hidden;
    element('history-toggle').ariaExpanded = String(!this.#panel.hidden);
    this.#scrollToEnd();
  }

  #scrollToEnd(): void {
    this.#panel.scrollTop = this.#panel.scrollHeight;
  }

  #add(line: HistoryLine): HTMLElement {
    const item = newElement('li', { className: line.kind });
    if (line.kind === 'said') item.append(...this.#parts(line));
    this.#items.set(line, item);
    element('history-lines').append(item);
    return item;
  }

  #parts({ from, text, own, atMs }: SaidLine): HTMLElement[] {
    const at = new Date(atMs);
    const time = at.toLocaleTimeString([...chosenLanguages()], { hour: '2-digit', minute: '2-digit' });
    return [
      newElement('time', { dateTime: at.toISOString(), textContent: time }),
      newElement('strong', { dir: 'auto', textContent: own ? phrase('history.you') : shownName(from.name) }),
      ...(own ? [] : [this.#muteButton(from)]),
      newElement('span', { className: 'text', dir: 'auto', textContent: text }),
    ];
  }

  #muteButton(speaker: Neighbour): HTMLButtonElement {
    const onclick = () => this.#handlers.toggleMute(speaker);
    const button = newElement('button', { className: 'plain', type: 'button', onclick });
    this.#muteButtons.set(button, speaker);
    return button;
  }

  #remove(line: HistoryLine, item: HTMLElement): void {
    if (item.contains(document.activeElement)) this.#panel.focus({ preventScroll: true });
    for (const button of item.querySelectorAll('button')) this.#muteButtons.delete(button);
    item.remove();
    this.#items.delete(line);
  }
}
