/**
 * Peeking, both ways: shows the neighbour's sprites beyond the edge that this person looks through, and posts the stage of this
 * desktop for a neighbour who looks.
 *
 * While a person looks, the desktop slides aside by `View.shift`, so a sprite that crosses walks on where its silhouette was.
 * Cost: nothing while nobody looks; else at most ten small posts a second, and in each frame one picture a silhouette.
 */

import { EDGES, type Edge, type Simulation } from '../motion/simulation.ts';
import { askToPeek } from '../relay/api_client.ts';
import { Peek } from '../relay/peek.ts';
import { stageOf } from '../relay/stage.ts';
import { POST_GAP_MS, StagePosts } from '../relay/stage_posts.ts';
import {
  type Neighbours,
  type Problem,
  type RelayEvent,
  type Seat,
  type Transport,
  wordsOf,
} from '../relay/transport.ts';
import { type Key, phrase } from '../texts/language.ts';
import { announce, element, peekHint, showStageSwitch, showWatchers } from './panel.ts';
import { PeekGesture, peekDepth } from './peek_gesture.ts';
import { type Silhouette, Silhouettes } from './silhouettes.ts';

/** How the desktop is drawn while a person looks over one of its edges. */
export interface View {
  edge: Edge | null;
  /** px by which the desktop has slid away from that edge. */
  shift: number;
  silhouettes: readonly Silhouette[];
}

export interface PeekingHandlers {
  readonly simulation: Simulation;
  seat(): Seat | null;
  /** Whether the sprites of this file may be shown to neighbours. */
  isShown(file: string): boolean;
}

export interface Peeking {
  /** The present view. What must stay over the sprites follows its `shift`. */
  readonly view: View;
  use(transport: Transport, seat: Seat): void;
  /** Handles the stages and the watchers of a batch. Other events are ignored. */
  hear(events: readonly RelayEvent[]): void;
  /** These desktops are beyond the edges now. */
  neighbours(now: Neighbours): void;
  /** Looks over the next edge that has a neighbour, and over none after the last one. */
  next(): void;
  stop(): void;
  /** Advances the view to this frame. */
  frame(nowMs: number, calm: boolean): View;
  /** The files of the silhouettes. */
  files(): string[];
}

const SLIDE_MS = 90; // ms in which the desktop slides about two thirds of the way
const SLID_PX = 0.5; // px from the end of the way at which it has arrived

const LOOKS = {
  left: 'peek.left',
  right: 'peek.right',
  top: 'peek.top',
  bottom: 'peek.bottom',
} as const satisfies Record<Edge, Key>;

export function createPeeking({ simulation, seat, isShown }: PeekingHandlers): Peeking {
  const gesture = new PeekGesture();
  const silhouettes = new Silhouettes();
  const view: View = { edge: null, shift: 0, silhouettes: [] };
  const now = () => performance.now();
  let beyond: Neighbours | null = null;
  let transport: Transport | null = null;
  /** The desktop of the present seat. What was asked and shown belongs to it. */
  let desktop = '';
  let lastMs = 0;
  let postTimer: ReturnType<typeof setInterval> | undefined;

  const peek = new Peek({
    now,
    ask: async (edge) => {
      const present = seat();
      return present === null ? 'unknown' : askToPeek(present, edge);
    },
    refused(edge, problem) {
      if (silhouettes.edge === edge) silhouettes.clear();
      if (peek.wanted === edge) hint(edge, refusalWords(problem, beyond?.[edge]?.name ?? ''));
    },
  });

  const posts = new StagePosts({
    now,
    stage: (edges, without) => stageOf(simulation, edges, (file) => isShown(file) && !without.has(file)),
    post: async (stage) => transport?.show(stage) ?? 'unknown',
    watched(edges) {
      showWatchers(edges);
      clearInterval(postTimer);
      if (edges.length > 0) postTimer = setInterval(() => posts.tick(), POST_GAP_MS / 4);
    },
  });

  listenToPointer();
  return {
    view,
    use(next, present) {
      transport = next;
      showStageSwitch(present.stage);
      if (present.desktop === desktop) return;
      desktop = present.desktop;
      peek.restart();
      silhouettes.clear();
      posts.watched([]);
    },
    hear(events) {
      for (const event of events) {
        if (event.type === 'stage') {
          silhouettes.receive(event, now());
          if (event.from === undefined && event.edge === peek.wanted) peek.askSoon();
        } else if (event.type === 'watched') posts.watched(event.edges);
      }
    },
    neighbours(present) {
      beyond = present;
      peek.askSoon();
    },
    next() {
      const edge = gesture.next(EDGES.filter(hasNeighbour));
      if (edge !== null) announce(phrase(LOOKS[edge], { name: nameBeyond(edge) }));
    },
    stop: () => gesture.stop(),
    frame,
    files: () => silhouettes.files(),
  };

  function frame(nowMs: number, calm: boolean): View {
    const passedMs = nowMs - lastMs;
    lastMs = nowMs;
    if (simulation.held !== null || document.querySelector('dialog[open]') !== null) gesture.stop();
    const wished = gesture.edge(nowMs);
    const edge = wished !== null && hasNeighbour(wished) ? wished : null;
    if (edge !== peek.wanted) hint(null, '');
    peek.look(edge);
    if (edge === null && view.shift === 0) {
      if (silhouettes.edge !== null) silhouettes.clear(); // a stage that came after the view was closed
      view.edge = null;
      view.silhouettes = [];
      return view;
    }
    const seen = silhouettes.at(nowMs, simulation);
    const shown = edge !== null && silhouettes.edge === edge ? edge : null;
    if (shown !== null && view.shift === 0) view.edge = shown;
    slide(view.edge !== null && view.edge === shown ? peekDepth(view.edge, simulation) : 0, passedMs, calm);
    view.silhouettes = silhouettes.edge === view.edge ? seen : [];
    return view;
  }

  /** Moves the view towards its place. */
  function slide(to: number, passedMs: number, calm: boolean): void {
    view.shift += (to - view.shift) * (1 - Math.exp(-passedMs / SLIDE_MS));
    if (calm || Math.abs(to - view.shift) < SLID_PX) view.shift = to;
  }

  function hint(edge: Edge | null, words: string): void {
    peekHint(edge, words);
    if (words !== '') announce(words);
  }

  function nameBeyond(edge: Edge): string {
    const neighbour = beyond?.[edge];
    return neighbour?.name || phrase('peek.nobody');
  }

  function hasNeighbour(edge: Edge): boolean {
    const neighbour = beyond?.[edge];
    return neighbour !== undefined && neighbour.desktop !== seat()?.desktop;
  }

  function listenToPointer(): void {
    const moved = (event: PointerEvent) => {
      // A finger moves only while it is down. A mouse with its button down drags something.
      const busy = simulation.held !== null || (event.pointerType === 'mouse' && event.buttons !== 0);
      gesture.pointer(event.clientX, event.clientY, simulation, busy, now());
    };
    document.addEventListener('pointermove', moved);
    document.addEventListener('pointerdown', moved);
    for (const end of ['pointerup', 'pointercancel'] as const) {
      document.addEventListener(end, (event) => {
        if (event.pointerType !== 'mouse') gesture.gone(now());
      });
    }
    document.documentElement.addEventListener('pointerleave', () => gesture.gone(now()));
    element('canvas').addEventListener('contextmenu', (event) => {
      if (gesture.edge(now()) !== null) event.preventDefault(); // of a finger that rests at an edge
    });
  }
}

function refusalWords(problem: Problem, name: string): string {
  if (problem.code === 'stage-hidden') return phrase('peek.hidden', { name: name || phrase('peek.neighbour') });
  return wordsOf(problem);
}
