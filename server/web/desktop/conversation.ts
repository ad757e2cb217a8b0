/**
 * The conversation of this desktop: what its person says, what it hears, and where both are shown.
 *
 * A saying of this desktop is shown when its event comes back from the relay, like the others. So all desktops show the same order,
 * and none shows a saying twice.
 */

import { EDGES } from '../../wire/rules.ts';
import type { Point, Sprite } from '../motion/simulation.ts';
import { shownName } from '../relay/api_client.ts';
import { SayingHistory } from '../relay/saying_history.ts';
import { type SavedSayings, Sayings } from '../relay/sayings.ts';
import type { Neighbour, Neighbours, Problem, RelayEvent, SayingEvent, Transport } from '../relay/transport.ts';
import { phrase } from '../texts/language.ts';
import { BubbleLayer } from './bubble_layer.ts';
import { type Anchor, type Box, type Bubble, Bubbles } from './bubbles.ts';
import { HistoryPanel } from './history_panel.ts';
import { announce, notice } from './panel.ts';
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
  /** A bubble has come up at a sprite. */
  speaks(sprite: Sprite): void;
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

  constructor(handlers: ConversationHandlers) {
    this.#handlers = handlers;
    this.#panel = new HistoryPanel(handlers);
    this.#line = new SayLine((text) => this.#say(text));
    this.#sayings = new Sayings({
      save: () => handlers.save(),
      accepted: (_, count) => this.#line.accepted(heardWords(count)),
      refused: (_, problem) => this.#refused(problem),
    });
  }

  /** Opens the line in which the person types. */
  open(): void {
    this.#line.open();
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

  #say(text: string): void {
    this.#sayings.say(text);
    this.#showPending();
  }

  #showPending(): void {
    const { pending } = this.#sayings;
    if (pending !== null) this.#line.sending(pending.text, sendingWords(this.#up));
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
    if (speaker !== null) this.#handlers.speaks(speaker);
    if (!own) announce(phrase('saying.says', { name: shownName(from.name), text }));
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
