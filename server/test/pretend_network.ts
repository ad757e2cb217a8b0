/**
 * A pretend network of relays for tests: messages are late, lost, repeated and reordered, and links are cut, as the test decides.
 *
 * It has its own clock, which advance() sets: nothing happens between two calls.
 */
import { NobodyThere, type PeerNetwork } from '../cluster/peer_network.ts';

export interface Faults {
  /** Shares of messages that are lost, and that arrive twice. */
  lost: number;
  repeated: number;
  /** How late a message is, in ms: 0 … delayMs, each on its own, so that messages overtake each other. */
  delayMs: number;
}

interface Message {
  readonly dueMs: number;
  readonly deliver: () => void;
}

/** One for all, because the trace of each would cost more than the message. */
const NOBODY_THERE = new NobodyThere();

type Receive = (bytes: Uint8Array, answer?: (bytes: Uint8Array) => void) => void;

export class PretendNetwork {
  faults: Faults = { lost: 0, repeated: 0, delayMs: 0 };
  readonly #random: () => number;
  readonly #subscribers = new Map<string, { node: Node; receive: Receive }[]>();
  #messages: Message[] = [];
  #nowMs = 0;
  lost = 0;
  repeated = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** The network as one relay sees it. */
  node(): Node {
    return new Node(this);
  }

  advance(nowMs: number): void {
    this.#nowMs = nowMs;
    const due = this.#messages.filter(({ dueMs }) => dueMs <= nowMs).sort((a, b) => a.dueMs - b.dueMs);
    this.#messages = this.#messages.filter(({ dueMs }) => dueMs > nowMs);
    for (const { deliver } of due) deliver();
  }

  get onTheWay(): number {
    return this.#messages.length;
  }

  subscribe(subject: string, node: Node, receive: Receive): void {
    this.#subscribers.set(subject, [...(this.#subscribers.get(subject) ?? []), { node, receive }]);
  }

  remove(node: Node): void {
    for (const [subject, all] of this.#subscribers) {
      this.#subscribers.set(
        subject,
        all.filter((one) => one.node !== node),
      );
    }
  }

  /** Those who are connected and listen. */
  listeners(subject: string, except?: Node): { node: Node; receive: Receive }[] {
    return (this.#subscribers.get(subject) ?? []).filter(({ node }) => node !== except && node.isConnected);
  }

  /** Delivers later, or twice, or not at all. `isAfterAll`: without faults. */
  send(deliver: () => void): void {
    const { lost, repeated, delayMs } = this.faults;
    if (this.#random() < lost) {
      this.lost++;
      return;
    }
    this.after(delayMs * this.#random(), deliver);
    if (this.#random() >= repeated) return;
    this.repeated++;
    this.after(3 * delayMs * this.#random(), deliver);
  }

  after(ms: number, deliver: () => void): void {
    this.#messages.push({ dueMs: this.#nowMs + ms, deliver });
  }
}

export class Node implements PeerNetwork {
  readonly #network: PretendNetwork;
  isConnected = true;
  /** The process has ended, and sends nothing more. */
  isClosed = false;
  /** Nodes to which its link is cut: all that either sends to the other is lost. */
  readonly #cutFrom = new Set<Node>();

  constructor(network: PretendNetwork) {
    this.#network = network;
  }

  /** Cuts the link between two nodes in both directions, or heals it. Neither is told. */
  setLink(other: Node, isUp: boolean): void {
    if (isUp) {
      this.#cutFrom.delete(other);
      other.#cutFrom.delete(this);
    } else {
      this.#cutFrom.add(other);
      other.#cutFrom.add(this);
    }
  }

  hasLink(other: Node): boolean {
    return !this.#cutFrom.has(other);
  }

  /** Whether what is on the way from this node to another one arrives. */
  #reaches(other: Node): boolean {
    return other.isConnected && this.hasLink(other);
  }

  publish(subject: string, bytes: Uint8Array): void {
    if (!this.isConnected) return;
    for (const { node, receive } of this.#network.listeners(subject, this)) {
      this.#network.send(() => {
        if (this.#reaches(node)) receive(bytes);
      });
    }
  }

  subscribe(subject: string, receive: Receive): void {
    this.#network.subscribe(subject, this, receive);
  }

  request(subject: string, bytes: Uint8Array, timeoutMs: number): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      this.ask(subject, bytes, timeoutMs, resolve, reject);
    });
  }

  /** request() without a promise, so that a test can go on at once. */
  ask(
    subject: string,
    bytes: Uint8Array,
    timeoutMs: number,
    done: (answer: Uint8Array) => void,
    fail: (error: Error) => void,
  ): void {
    const listeners = this.#network.listeners(subject, this);
    if (!this.isConnected || listeners.length === 0) {
      this.#network.after(0, () => fail(NOBODY_THERE));
      return;
    }
    let isOver = false;
    const end = (act: () => void) => {
      if (isOver) return;
      isOver = true;
      act();
    };
    // All of them get it, and the first answer counts.
    for (const { node, receive } of listeners) {
      this.#network.send(() => {
        if (!this.#reaches(node)) return;
        receive(bytes, (answer) => {
          if (node.isClosed) return;
          this.#network.send(() => {
            if (node.hasLink(this) && this.isConnected) end(() => done(answer));
          });
        });
      });
    }
    this.#network.after(timeoutMs, () => end(() => fail(new Error('no answer in time'))));
  }

  /** The process has ended: what is on the way to it is lost. */
  close(): Promise<void> {
    this.isConnected = false;
    this.isClosed = true;
    this.#network.remove(this);
    return Promise.resolve();
  }
}
