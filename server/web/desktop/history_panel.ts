/** The panel with the last sayings, each with its time, its speaker, and a button that mutes the speaker. */
import type { HistoryLine } from '../relay/saying_history.ts';
import type { Neighbour } from '../relay/transport.ts';
import { chosenLanguages, phrase } from '../texts/language.ts';
import { element } from './panel.ts';
import { missedWords } from './saying_words.ts';

export interface HistoryPanelHandlers {
  isMuted(desktop: string): boolean;
  /** The person wants to mute this desktop, or to hear it again. */
  toggleMute(neighbour: Neighbour): void;
}

export interface HistoryPanel {
  /** Shows these lines. Keeps the elements of lines that were shown before, and so the focus. */
  show(lines: readonly HistoryLine[]): void;
  /** Shows on each button whether its speaker is muted now. */
  showMutes(): void;
}

export function createHistoryPanel(handlers: HistoryPanelHandlers): HistoryPanel {
  const panel = element('history');
  const list = element('history-lines');
  const toggle = element<HTMLButtonElement>('history-toggle');
  const items = new Map<HistoryLine, HTMLElement>();
  const muteButtons = new Map<HTMLButtonElement, Neighbour>();
  panel.tabIndex = 0; // so that the arrow keys scroll it

  toggle.addEventListener('click', () => {
    panel.hidden = !panel.hidden;
    toggle.setAttribute('aria-expanded', String(!panel.hidden));
    panel.scrollTop = panel.scrollHeight;
  });

  return { show, showMutes };

  function show(lines: readonly HistoryLine[]): void {
    const isAtEnd = panel.scrollTop + panel.clientHeight >= panel.scrollHeight - 1;
    for (const [line, item] of items) if (!lines.includes(line)) remove(line, item);
    for (const line of lines) {
      const item = items.get(line);
      if (item === undefined) add(line);
      else if (line.kind === 'missed') item.textContent = missedWords(line.sayings);
    }
    element('history-empty').hidden = lines.length > 0;
    showMutes();
    if (isAtEnd) panel.scrollTop = panel.scrollHeight;
  }

  function add(line: HistoryLine): void {
    const item = document.createElement('li');
    items.set(line, item);
    list.append(item);
    if (line.kind === 'missed') {
      item.className = 'missed';
      item.textContent = missedWords(line.sayings);
      return;
    }
    const time = document.createElement('time');
    const at = new Date(line.atMs);
    time.dateTime = at.toISOString();
    time.textContent = at.toLocaleTimeString([...chosenLanguages()], { hour: '2-digit', minute: '2-digit' });
    const name = document.createElement('strong');
    name.dir = 'auto';
    name.textContent = line.own ? phrase('history.you') : line.from.name;
    const text = document.createElement('span');
    text.className = 'text';
    text.dir = 'auto';
    text.textContent = line.text;
    item.append(time, name);
    if (!line.own) item.append(muteButton(line.from));
    item.append(text);
  }

  function muteButton(speaker: Neighbour): HTMLButtonElement {
    const button = document.createElement('button');
    button.className = 'plain';
    button.type = 'button';
    button.addEventListener('click', () => handlers.toggleMute(speaker));
    muteButtons.set(button, speaker);
    return button;
  }

  function remove(line: HistoryLine, item: HTMLElement): void {
    if (item.contains(document.activeElement)) panel.focus({ preventScroll: true });
    for (const button of item.querySelectorAll('button')) muteButtons.delete(button);
    item.remove();
    items.delete(line);
  }

  function showMutes(): void {
    for (const [button, { desktop, name }] of muteButtons) {
      const muted = handlers.isMuted(desktop);
      button.textContent = phrase(muted ? 'history.hear' : 'history.mute');
      button.setAttribute('aria-label', phrase(muted ? 'mute.hear' : 'mute.mute', { name }));
    }
  }
}
