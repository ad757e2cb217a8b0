/**
 * Peeking, both ways: shows the neighbour's sprites beyond the edge that this person looks through, and posts the stage of this
 * desktop for a neighbour who looks.
 *
 * While a person looks, the desktop slides aside by `PeekView.shift`, so a sprite that crosses walks on where its silhouette was.
 * Cost: nothing while nobody looks; else at most ten small posts a second, and in each frame one picture a silhouette.
 */

import { EDGES, type Edge } from '../../wire/rules.ts';
import type { Simulation } from '../motion/simulation.ts';
import { Peek } from '../relay/peek.ts';
import { wordsOf } from '../relay/problem_words.ts';
import { stageOf } from '../relay/stage.ts';
import { POST_GAP_MS, StagePosts } from '../relay/stage_posts.ts';
import type { Neighbours, Problem, RelayEvent, Seat, Transport } from '../relay/transport.ts';
import { phrase } from '../texts/language.ts';
import { element } from './elements.ts';
import { announce, peekHint, showStageSwitch, showWatchers } from './panel.ts';
import { PeekGesture, peekDepth } from './peek_gesture.ts';
import { PeekView } from './peek_view.ts';
import { Silhouettes } from './silhouettes.ts';

interface PeekingHandlers {
  readonly simulation: Simulation;
  /** Px of the page for each px of the simulation. */
  zoom(): number;
  seat(): Seat | null;
  /** Whether the sprites of this file may be shown to neighbours. */
  isShown(file: string): boolean;
}

const now = () => performance.now();

export class Peeking {
  readonly view = new PeekView();
  readonly #handlers: PeekingHandlers;
  readonly #gesture = new PeekGesture();
  readonly #silhouettes = new Silhouettes();
  readonly #peek: Peek;
  readonly #posts: StagePosts;
  #beyond: Neighbours | null = null;
  #transport: Transport | null = null;
  /** The desktop of the present seat. What was asked and shown belongs to it. */
  #desktop = '';
  #lastMs = 0;
  #postTimer: ReturnType<typeof setInterval> | undefined;

  constructor(handlers: PeekingHandlers) {
    const { simulation, isShown } = handlers;
    this.#handlers = handlers;
    this.#peek = new Peek({
      now,
      ask: async (edge) => this.#transport?.peek(edge) ?? 'unknown',
      refused: (edge, problem) => this.#refused(edge, problem),
    });
    this.#posts = new StagePosts({
      now,
      stage: (edges, without) => stageOf(simulation, edges, (file) => isShown(file) && !without.has(file)),
      post: async (stage) => this.#transport?.show(stage) ?? 'unknown',
      watched: (edges) => this.#watched(edges),
    });
    this.#listenToPointer();
  }

  use(transport: Transport, { desktop, stage }: Seat): void {
    this.#transport = transport;
    showStageSwitch(stage);
    if (desktop === this.#desktop) return;
    this.#desktop = desktop;
    this.#peek.restart();
    this.#silhouettes.clear();
    this.#posts.watched([]);
  }

  /** Handles the stages and the watchers of a batch. Other events are ignored. */
  hear(events: readonly RelayEvent[]): void {
    for (const event of events) {
      if (event.type === 'stage') {
        this.#silhouettes.receive(event, now());
        if (event.from === undefined && event.edge === this.#peek.wanted) this.#peek.askSoon();
      } else if (event.type === 'watched') this.#posts.watched(event.edges);
    }
  }

  /** These desktops are beyond the edges now. */
  neighbours(present: Neighbours): void {
    this.#beyond = present;
    this.#peek.askSoon();
  }

  /** Looks over the next edge that has a neighbour, and over none after the last one. */
  next(): void {
    const edge = this.#gesture.next(EDGES.filter((one) => this.#hasNeighbour(one)));
    if (edge !== null) announce(phrase(`peek.${edge}`, { name: this.#beyond?.[edge]?.name || phrase('peek.nobody') }));
  }

  stop(): void {
    this.#gesture.stop();
  }

  /** The files of the silhouettes. */
  files(): string[] {
    return this.#silhouettes.files();
  }

  /** Advances the view to this frame. */
  frame(nowMs: number, calm: boolean): PeekView {
    const passedMs = nowMs - this.#lastMs;
    this.#lastMs = nowMs;
    const edge = this.#wantedEdge(nowMs);
    if (edge !== this.#peek.wanted) hint(null, '');
    this.#peek.look(edge);
    if (edge !== null || this.view.shift !== 0) {
      this.#show(edge, nowMs, passedMs, calm);
    } else {
      if (this.#silhouettes.edge !== null) this.#silhouettes.clear(); // a stage that came after the view was closed
      this.view.close();
    }
    return this.view;
  }

  /** Shows what is beyond an edge, as soon as its stage is here; null closes the view slowly. */
  #show(edge: Edge | null, nowMs: number, passedMs: number, calm: boolean): void {
    const { view } = this;
    const { simulation } = this.#handlers;
    const seen = this.#silhouettes.at(nowMs, simulation);
    const shown = edge !== null && this.#silhouettes.edge === edge ? edge : null;
    if (shown !== null && view.shift === 0) view.edge = shown;
    view.slideTo(view.edge !== null && view.edge === shown ? peekDepth(view.edge, simulation) : 0, passedMs, calm);
    view.silhouettes = this.#silhouettes.edge === view.edge ? seen : [];
  }

  /** The edge that the person looks over now. */
  #wantedEdge(nowMs: number): Edge | null {
    const isBusy = this.#handlers.simulation.held !== null || document.querySelector('dialog[open]') !== null;
    if (isBusy) this.#gesture.stop();
    const edge = this.#gesture.edge(nowMs);
    return edge !== null && this.#hasNeighbour(edge) ? edge : null;
  }

  #hasNeighbour(edge: Edge): boolean {
    const neighbour = this.#beyond?.[edge];
    return neighbour !== undefined && neighbour.desktop !== this.#handlers.seat()?.desktop;
  }

  #refused(edge: Edge, problem: Problem): void {
    if (this.#silhouettes.edge === edge) this.#silhouettes.clear();
    if (this.#peek.wanted !== edge) return;
    const name = this.#beyond?.[edge]?.name || phrase('peek.neighbour');
    hint(edge, problem.code === 'stage-hidden' ? phrase('peek.hidden', { name }) : wordsOf(problem));
  }

  /** Neighbours look through these edges now. */
  #watched(edges: readonly Edge[]): void {
    showWatchers(edges);
    clearInterval(this.#postTimer);
    if (edges.length > 0) this.#postTimer = setInterval(() => this.#posts.tick(), POST_GAP_MS / 4);
  }

  #listenToPointer(): void {
    const { simulation, zoom } = this.#handlers;
    const gesture = this.#gesture;
    const moved = (event: PointerEvent) => {
      // A finger moves only while it is down. A mouse with its button down drags something.
      const busy = simulation.held !== null || (event.pointerType === 'mouse' && event.buttons !== 0);
      gesture.pointer(event.clientX / zoom(), event.clientY / zoom(), simulation, busy, now());
    };
    for (const move of ['pointermove', 'pointerdown'] as const) document.addEventListener(move, moved);
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

function hint(edge: Edge | null, words: string): void {
  peekHint(edge, words);
  if (words !== '') announce(words);
}
