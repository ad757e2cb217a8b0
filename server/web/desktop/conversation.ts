/**
 * The conversation of this desktop: what its person says, what it hears, and where both are shown.
 *
 * A saying of this desktop is shown when its event comes back from the relay, like the others. So all desktops show the same order,
 * and none shows a saying twice.
 */

import { EDGES, REACTION_GAP_MS, type Reaction } from '../../wire/rules.ts';
import type { Point, Sprite } from '../motion/simulation.ts';
import { shownName } from '../relay/api_client.ts';
import { wordsOf } from '../relay/problem_words.ts';
import { SayingHistory } from '../relay/saying_history.ts';
import { type SavedSayings, Sayings } from '../relay/sayings.ts';
import type { Neighbour, Neighbours, Problem, RelayEvent, SayingEvent, Transport } from '../relay/transport.ts';
import { phrase } from '../texts/language.ts';
import { BubbleLayer, type ShownBubble } from './bubble_layer.ts';
import { type Anchor, type Box, type Bubble, Bubbles } from './bubbles.ts';
import { chime } from './chime.ts';
import { HistoryPanel } from './history_panel.ts';
import { announce, notice } from './panel.ts';
import { isReaction, reactionWords } from './reactions.ts';
import { SayLine } from './say_line.ts';
import { heardWords, missedWords, refusalWords, sendingWords } from './saying_words.ts';

interface ConversationHandlers {
  /** Returns the id of this desktop; empty before the first join. */
  self(): string;
  /** Saves what `saved` returns, which has changed. */
  save(): void;
  isMuted(desktop: string): boolean;
  /** The person wants to mute this desktop, or to hear it again. `mutesChanged` is called when the relay has agreed. */
  toggleMute(neighbour: Neighbour): void;
  /** Returns the sprite that speaks for this desktop, or null when none of its sprites is here. */
  spriteOf(desktop: string): Sprite | null;
  /** A bubble with this text has come up at a sprite. */
  speaks(sprite: Sprite, text: string): void;
  /** Returns by how many px the sprites are drawn to the right of and below their places, and how many px of the page each is. */
  slide(): Point;
  zoom(): number;
}

export class Conversation {
  readonly #handlers: ConversationHandlers;
  readonly #history = new SayingHistory();
  readonly #bubbles = new Bubbles();
  readonly #layer = new BubbleLayer();
  readonly #panel: HistoryPanel;
  readonly #line: SayLine;
  readonly #sayings: Sayings;
  #beyond: Neighbours | null = null;
  #up = false;
  #reactedMs = Number.NEGATIVE_INFINITY;

  constructor(handlers: ConversationHandlers) {
    this.#handlers = handlers;
    this.#panel = new HistoryPanel(handlers);
    this.#line = new SayLine((text) => this.#say(text));
    this.#sayings = new Sayings({
      save: () => handlers.save(),
      accepted: ({ text }, count) =>
        isReaction(text) ? announce(heardWords(count)) : this.#line.accepted(heardWords(count)),
      refused: ({ text }, problem) => (isReaction(text) ? notice(wordsOf(problem)) : this.#refused(problem)),
    });
    for (const button of document.querySelectorAll<HTMLElement>('[data-reaction]')) {
      button.addEventListener('click', () => this.react(button.dataset.reaction as Reaction));
    }
  }

  /** Opens the line in which the person types. */
  open(): void {
    this.#line.open();
  }

  /** Says a reaction, which does not wait: not for a connection, and not for a saying that has no answer yet. */
  react(reaction: Reaction): void {
    const nowMs = performance.now();
    if (!this.#up) notice(phrase('state.reconnecting'));
    else if (nowMs - this.#reactedMs >= REACTION_GAP_MS && this.#sayings.say(reaction)) this.#reactedMs = nowMs;
  }

  use(transport: Transport): void {
    this.#sayings.use(transport);
  }

  resume(saved: SavedSayings): void {
    this.#sayings.resume(saved);
    this.#showPending();
  }

  saved(): SavedSayings {
    const { nextNumber, pending } = this.#sayings;
    return { nextNumber, pending };
  }

  /** The relay became reachable, or stopped being so. */
  connectionChanged(up: boolean): void {
    this.#up = up;
    this.#showPending();
  }

  /** These desktops are beyond the edges now. */
  neighbours(now: Neighbours): void {
    this.#beyond = now;
  }

  mutesChanged(): void {
    for (const { saying } of this.#bubbles.shown) {
      const { desktop } = saying.from;
      if (this.#handlers.isMuted(desktop)) this.#bubbles.removeSpeaker(desktop);
    }
    this.#panel.showMutes();
  }

  /** Handles the sayings of a batch. Other events are ignored. */
  hear(events: readonly RelayEvent[]): void {
    let hasMore = false;
    for (const event of events) {
      if (event.type === 'missed') this.#addMissed(event.sayings);
      else if (event.type === 'saying' && !this.#handlers.isMuted(event.from.desktop)) this.#addSaying(event);
      else continue;
      hasMore = true;
    }
    if (hasMore) this.#panel.show(this.#history.lines);
  }

  /** Draws the bubbles. `held` is the sprite that is being dragged. */
  draw(nowMs: number, held: Sprite | null, calm: boolean): void {
    this.#bubbles.expire(nowMs);
    const frame = { nowMs, self: this.#handlers.self(), calm, held: held === null ? null : this.#boxOf(held) };
    this.#layer.draw(this.#bubbles.shown, (bubble) => this.#anchorOf(bubble), frame);
  }

  /** Returns the bubbles that are shown. */
  shown(): ShownBubble[] {
    return this.#layer.shown();
  }

  #say(text: string): void {
    if (isReaction(text)) {
      this.react(text);
      this.#line.accepted('');
      return;
    }
    this.#sayings.say(text);
    this.#showPending();
  }

  /** A reaction is never in the line: there may be a text that the person still writes. */
  #showPending(): void {
    const { pending } = this.#sayings;
    if (pending !== null && !isReaction(pending.text)) this.#line.sending(pending.text, sendingWords(this.#up));
  }

  #refused(problem: Problem): void {
    const words = refusalWords(problem);
    this.#line.refused(words);
    if (!this.#line.isOpen) notice(words);
  }

  #addMissed(sayings: number): void {
    this.#history.add({ kind: 'missed', sayings, atMs: Date.now() });
    announce(missedWords(sayings));
  }

  #addSaying(saying: SayingEvent): void {
    const { from, text } = saying;
    const own = from.desktop === this.#handlers.self();
    this.#history.add({ kind: 'said', from, text, own, atMs: Date.now() });
    this.#bubbles.add(saying, performance.now());
    const speaker = this.#handlers.spriteOf(from.desktop);
    if (speaker !== null) this.#handlers.speaks(speaker, text);
    const name = shownName(from.name);
    if (own) return;
    chime('saying');
    announce(isReaction(text) ? reactionWords(text, name) : phrase('saying.says', { name, text }));
  }

  #anchorOf({ saying }: Bubble): Anchor {
    const { desktop } = saying.from;
    const sprite = this.#handlers.spriteOf(desktop);
    if (sprite !== null) return { box: this.#boxOf(sprite) };
    if (desktop === this.#handlers.self()) return { edge: 'bottom', tail: false };
    const edge = saying.edge ?? EDGES.find((one) => this.#beyond?.[one]?.desktop === desktop);
    return edge === undefined ? { edge: 'top', tail: false } : { edge, tail: true };
  }

  /** Returns where a sprite is on the page. */
  #boxOf({ x, y, nature }: Sprite): Box {
    const slide = this.#handlers.slide();
    const zoom = this.#handlers.zoom();
    const [left, bottom] = [(x + slide.x - nature.width / 2) * zoom, (y + slide.y) * zoom];
    return { left, top: bottom - nature.height * zoom, right: left + nature.width * zoom, bottom };
  }
}
