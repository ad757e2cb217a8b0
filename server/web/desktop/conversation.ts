/**
 * The conversation of this desktop: what its person says, what it hears, and where both are shown.
 *
 * A saying of this desktop is shown when its event comes back from the relay, like the others. So all desktops show the same order,
 * and none shows a saying twice.
 */

import { EDGES, type Point, type Sprite } from '../motion/simulation.ts';
import { SayingHistory } from '../relay/saying_history.ts';
import { type SavedSayings, Sayings } from '../relay/sayings.ts';
import type { Neighbour, Neighbours, RelayEvent, SayingEvent, Transport } from '../relay/transport.ts';
import { phrase } from '../texts/language.ts';
import { createBubbleLayer } from './bubble_layer.ts';
import { type Anchor, type Box, type Bubble, Bubbles } from './bubbles.ts';
import { createHistoryPanel } from './history_panel.ts';
import { announce, notice } from './panel.ts';
import { createSayLine } from './say_line.ts';
import { heardWords, missedWords, refusalWords, sendingWords } from './saying_words.ts';

export interface ConversationHandlers {
  /** Returns the id of this desktop; empty before the first join. */
  self(): string;
  /** Saves what `saved` returns, which has changed. */
  save(): void;
  isMuted(desktop: string): boolean;
  /** The person wants to mute this desktop, or to hear it again. `mutesChanged` is called when the relay has agreed. */
  toggleMute(neighbour: Neighbour): void;
  /** Returns the sprite that speaks for this desktop, or null when none of its sprites is here. */
  spriteOf(desktop: string): Sprite | null;
  /** Returns by how many px the sprites are drawn to the right of and below their places. */
  slide(): Point;
}

export interface Conversation {
  /** Opens the line in which the person types. */
  open(): void;
  use(transport: Transport): void;
  resume(saved: SavedSayings): void;
  saved(): SavedSayings;
  /** The relay became reachable, or stopped being so. */
  connectionChanged(up: boolean): void;
  /** Handles the sayings of a batch. Other events are ignored. */
  hear(events: readonly RelayEvent[]): void;
  /** These desktops are beyond the edges now. */
  neighbours(now: Neighbours): void;
  mutesChanged(): void;
  /** Draws the bubbles. `held` is the sprite that is being dragged. */
  draw(nowMs: number, held: Sprite | null, calm: boolean): void;
}

export function createConversation(handlers: ConversationHandlers): Conversation {
  const history = new SayingHistory();
  const bubbles = new Bubbles();
  const layer = createBubbleLayer();
  const panel = createHistoryPanel(handlers);
  let beyond: Neighbours | null = null;
  let up = false;
  const sayings = new Sayings({
    save: handlers.save,
    accepted: (_, count) => line.accepted(heardWords(count)),
    refused(_, problem) {
      const words = refusalWords(problem);
      line.refused(words);
      if (!line.isOpen) notice(words);
    },
  });
  const line = createSayLine({
    say(text) {
      line.sending(text, sendingWords(up));
      sayings.say(text);
    },
  });

  return {
    open: line.open,
    use: (transport) => sayings.use(transport),
    resume(saved) {
      sayings.resume(saved);
      if (saved.pending !== null) line.sending(saved.pending.text, sendingWords(up));
    },
    saved: () => ({ nextNumber: sayings.nextNumber, pending: sayings.pending }),
    connectionChanged(is) {
      up = is;
      if (sayings.pending !== null) line.sending(sayings.pending.text, sendingWords(up));
    },
    hear,
    neighbours(now) {
      beyond = now;
    },
    mutesChanged() {
      for (const { saying } of bubbles.shown) {
        if (handlers.isMuted(saying.from.desktop)) bubbles.removeSpeaker(saying.from.desktop);
      }
      panel.showMutes();
    },
    draw(nowMs, held, calm) {
      bubbles.expire(nowMs);
      layer.draw(bubbles.shown, anchorOf, held === null ? null : boxOf(held), { nowMs, self: handlers.self(), calm });
    },
  };

  function hear(events: readonly RelayEvent[]): void {
    const atMs = Date.now();
    let hasMore = false;
    for (const event of events) {
      if (event.type === 'missed') {
        history.add({ kind: 'missed', sayings: event.sayings, atMs });
        announce(missedWords(event.sayings));
        hasMore = true;
      } else if (event.type === 'saying' && !handlers.isMuted(event.from.desktop)) {
        const { from, text } = event;
        const own = from.desktop === handlers.self();
        history.add({ kind: 'said', from, text, own, atMs });
        bubbles.add(event, performance.now());
        if (!own) announce(phrase('saying.says', { name: from.name, text }));
        hasMore = true;
      }
    }
    if (hasMore) panel.show(history.lines);
  }

  function anchorOf({ saying }: Bubble): Anchor {
    const sprite = handlers.spriteOf(saying.from.desktop);
    if (sprite !== null) return { box: boxOf(sprite) };
    if (saying.from.desktop === handlers.self()) return { edge: 'bottom', tail: false };
    const edge = edgeOf(saying);
    return edge === undefined ? { edge: 'top', tail: false } : { edge, tail: true };
  }

  /** Returns the edge beyond which the speaker sits, if it is a neighbour. */
  function edgeOf({ edge, from }: SayingEvent) {
    return edge ?? EDGES.find((one) => beyond?.[one]?.desktop === from.desktop);
  }

  /** Returns where a sprite is on the page. */
  function boxOf({ x, y, nature }: Sprite): Box {
    const slide = handlers.slide();
    const [left, bottom] = [x + slide.x - nature.width / 2, y + slide.y];
    return { left, top: bottom - nature.height, right: left + nature.width, bottom };
  }
}
