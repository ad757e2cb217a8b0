/**
 * Peering: connects the master's relay with the other relays of its cluster.
 *
 * It sends the heartbeats, and carries frames between the domain's Peers and the network. Frames and answers leave in flush(), when the
 * turn has been written to the journal.
 */
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { LISTEN_STEPS, Membership, type RelayState, STEP_MS } from '../domain/peers/membership.ts';
import type { PeerPeeks } from '../domain/peers/peer_peeks.ts';
import type { PeerSayings } from '../domain/peers/peer_sayings.ts';
import type { Outgoing, Peers } from '../domain/peers/peers.ts';
import type { Relay } from '../domain/relay.ts';
import { countersIn, gaugesIn } from '../metrics/gauges.ts';
import type { RemoteFiles } from '../processes/master.ts';
import type { Sender, Turns } from '../processes/turns.ts';
import { isRelayName } from '../wire/identity.ts';
import { DEFAULT_WORLD } from '../wire/join.ts';
import type { ClusterDocument } from '../wire/peers/cluster_document.ts';
import { decodeHeartbeat, encodeHeartbeat, type Heartbeat } from '../wire/peers/heartbeat.ts';
import { Addresses } from './addresses.ts';
import { type Fetched, PeerFiles } from './peer_files.ts';
import { NobodyThere, type PeerNetwork } from './peer_network.ts';
import { crossingCounters, trafficGauges } from './traffic_gauges.ts';

/** How long to wait for an answer before the frame counts as in doubt and is sent again, in ms. A long turn of a busy relay takes less. */
export const ANSWER_MS = 1_000;

/**
 * How long crossings are gathered after a frame has left, in ms. A frame costs both relays and NATS a message and an answer, and each
 * relay a turn, some hundred CPU-µs in all. At 1,000 crossings a second to a peer, five share them; a single one does not wait.
 */
const GATHER_MS = 5;

/** The shortest time between two log lines about messages that are not understood, in ms. */
const QUIET_MS = 60_000;

const HEARTBEATS = 'sprites.heartbeat';
const FORGOTTEN = 'sprites.forgotten';
/** Frames are for one life of a relay: while another process takes over its name, none reaches both, and each is silent on those of the other. */
const framesOf = (name: string, life: number) => `sprites.frames.${name}.${life}`;
const sayingsOf = (name: string) => `sprites.sayings.${name}`;
const peeksOf = (name: string) => `sprites.peeks.${name}`;

interface PeeringOptions {
  turns: Turns;
  /** Of beginMembership(). */
  membership: Membership;
  network: PeerNetwork;
  log: Logger;
  /** The data directory. */
  data: string;
  /** Another relay has started under this name, so this one must stop. */
  superseded(): void;
  /** The operator of this relay has forgotten another one. */
  forgotten?(name: string): void;
  /** Which relay has the file of a picture in the gallery; undefined when that is this one, or nobody has accepted it. */
  listedAt?(file: string): string | undefined;
}

/** Begins a life of a relay among others. Call it once, after its recovery. */
export function beginMembership(name: string, relay: Relay): Membership {
  const step = Math.floor(Date.now() / STEP_MS);
  return new Membership({ name, life: relay.beginLife(Date.now()), width: 1, step });
}

export class Peering implements RemoteFiles, Sender {
  readonly peers: Peers;
  readonly sayings: PeerSayings;
  readonly peeks: PeerPeeks;
  readonly membership: Membership;
  readonly files: PeerFiles;
  readonly addresses: Addresses;
  readonly #options: PeeringOptions;
  /** Answers to frames of peers that leave at the end of the turn. */
  #answers: (() => void)[] = [];
  #endDue = false;
  #isClosed = false;
  #timer: NodeJS.Timeout;
  #quietUntilMs = Number.NEGATIVE_INFINITY;
  #lifeQuietUntilMs = Number.NEGATIVE_INFINITY;
  #known = '';

  /** Subscribes, listens for a second, and then sends heartbeats. Call it after the recovery of the relay. */
  constructor(options: PeeringOptions) {
    this.#options = options;
    const { turns, membership, network, data } = options;
    const { name } = membership;
    this.membership = membership;
    const { peers, sayings, peeks } = turns.relay.joinCluster(membership);
    this.peers = peers;
    this.sayings = sayings;
    this.peeks = peeks;
    const senderOf = (file: string) => this.peers.files.relayOf(file) ?? options.listedAt?.(file);
    this.files = new PeerFiles({ name, network, data, senderOf });
    this.addresses = new Addresses(network, this.membership);
    turns.addSender(this);
    network.subscribe(HEARTBEATS, (bytes) => this.#hear(bytes));
    network.subscribe(framesOf(name, this.membership.life), (bytes, answer) => this.#receive(bytes, answer));
    network.subscribe(sayingsOf(name), (bytes) => {
      if (!sayings.receive(bytes)) this.#complain(bytes);
    });
    network.subscribe(peeksOf(name), (bytes) => {
      if (!peeks.receive(bytes)) this.#complain(bytes);
      if (peeks.outbox.hasMessages) this.#endSoon();
    });
    network.subscribe(FORGOTTEN, (bytes) => {
      const name = Buffer.from(bytes).toString('latin1');
      const state = isRelayName(name) ? this.membership.stateOf(name) : undefined;
      if (state !== undefined && state !== 'here' && state !== 'forgotten') this.#forget(name);
    });
    this.#timer = setTimeout(() => {
      this.#tick();
      this.#timer = setInterval(() => this.#tick(), STEP_MS);
    }, LISTEN_STEPS * STEP_MS);
  }

  #tick(): void {
    const { turns, network } = this.#options;
    const count = turns.relay.torus.find(DEFAULT_WORLD)?.count ?? 0;
    network.publish(HEARTBEATS, encodeHeartbeat(this.membership.tick(count)));
    this.#reportChange();
  }

  #reportChange(): void {
    const known = [...this.membership.relays()].map(({ name, state }) => `${name} ${state}`).join(', ');
    if (known === this.#known) return;
    this.#known = known;
    this.#options.log.info({ relays: known.split(', ') }, 'the relays of the cluster have changed');
    this.addresses.send();
  }

  #hear(bytes: Uint8Array): void {
    const heartbeat = decodeHeartbeat(bytes);
    if (typeof heartbeat === 'string') {
      this.#complain(bytes);
      return;
    }
    const outcome = this.membership.hear(heartbeat);
    if (outcome === 'old-life') this.#complainOfLife(heartbeat);
    else if (outcome === 'superseded' && !this.#isClosed) {
      this.#options.log.fatal(
        { name: heartbeat.name },
        'another relay has started under the name of this one, which stops',
      );
      this.#options.superseded();
    }
  }

  /** Logs that a relay is not heard, at most once a minute. */
  #complainOfLife({ name, life }: Heartbeat): void {
    const nowMs = performance.now();
    if (nowMs < this.#lifeQuietUntilMs) return;
    this.#lifeQuietUntilMs = nowMs + QUIET_MS;
    const { membership } = this;
    const { log } = this.#options;
    const context = {
      relay: name,
      life,
      laterLife: name === membership.name ? membership.life : membership.lifeOf(name),
    };
    if (name === membership.name) {
      log.warn(context, 'an earlier process under the name of this relay still runs, and is ignored; stop it');
    } else {
      log.warn(
        context,
        'a relay is ignored, because a later start of it is known: two processes run under its name, or its clock was set back. ' +
          'It is accepted again when the later one has been silent for ten seconds',
      );
    }
  }

  #receive(bytes: Uint8Array, answer: ((bytes: Uint8Array) => void) | undefined): void {
    const { malformed } = this.peers.counters;
    const reply = this.peers.receive(bytes);
    if (this.peers.counters.malformed > malformed) this.#complain(bytes);
    if (answer) this.#answers.push(() => answer(reply));
    this.#endSoon();
  }

  /** Logs a message that this relay does not understand, at most once a minute. */
  #complain(bytes: Uint8Array): void {
    const nowMs = performance.now();
    if (nowMs < this.#quietUntilMs) return;
    this.#quietUntilMs = nowMs + QUIET_MS;
    this.#options.log.warn(
      { version: bytes[0], bytes: bytes.length },
      'a message of another relay is not understood; relays of one cluster must be of the same release or the next one',
    );
  }

  flush(): void {
    const { network } = this.#options;
    this.peers.isConnected = network.isConnected;
    const answers = this.#answers;
    if (answers.length > 0) this.#answers = [];
    for (const answer of answers) answer();
    for (const outgoing of this.peers.popOutgoing()) {
      void this.#send(outgoing);
      if (outgoing.number > 0) this.#gather();
    }
    for (const [peer, message] of this.sayings.outbox.popMessages()) network.publish(sayingsOf(peer), message);
    // A watch and a stage may be lost: the next ones replace them.
    for (const [peer, message] of this.peeks.outbox.popMessages()) network.publish(peeksOf(peer), message);
  }

  /** Whether flush() will send something. */
  get hasToSend(): boolean {
    return (
      this.#answers.length > 0 ||
      this.peers.hasOutgoing ||
      this.sayings.outbox.hasMessages ||
      this.peeks.outbox.hasMessages
    );
  }

  /** Lets the crossings of the next GATHER_MS leave in one frame for each peer. */
  #gather(): void {
    if (this.peers.isGathering) return;
    this.peers.isGathering = true;
    setTimeout(() => {
      this.peers.isGathering = false;
      this.#endSoon();
    }, GATHER_MS);
  }

  fetchFile(file: string, client: string | undefined, done: (fetched: Fetched) => void): void {
    void this.files.fetch(file, client).then((fetched) => {
      done(fetched);
      this.#endSoon();
    });
  }

  async #send(outgoing: Outgoing): Promise<void> {
    const sentMs = performance.now();
    outgoing.life ??= this.membership.lifeOf(outgoing.peer);
    if (outgoing.life === undefined) {
      // An earlier start of this relay has left the frame, and this one has not heard of its receiver yet.
      this.peers.failed(outgoing, false);
      return;
    }
    try {
      const answer = await this.#options.network.request(
        framesOf(outgoing.peer, outgoing.life),
        outgoing.frame,
        ANSWER_MS,
      );
      const { malformed } = this.peers.counters;
      if (outgoing.number > 0) this.peers.noteVerdict(outgoing.peer, performance.now() - sentMs);
      this.peers.answered(outgoing, answer);
      if (this.peers.counters.malformed > malformed) this.#complain(answer);
    } catch (error) {
      const isNobodyThere = error instanceof NobodyThere;
      if (isNobodyThere && this.peers.isReplaced(outgoing)) return this.#send(outgoing);
      this.peers.failed(outgoing, isNobodyThere);
    }
    this.#endSoon();
  }

  /** Ends the master's turn when all messages that have arrived are handled. */
  #endSoon(): void {
    if (this.#endDue || this.#isClosed) return;
    this.#endDue = true;
    setImmediate(() => {
      this.#endDue = false;
      if (!this.#isClosed) this.#options.turns.end();
    });
  }

  /**
   * An operator declares that a relay will not come back. Tells the other relays. Returns how many sprites on their way from here to it
   * are abandoned. REQUIRES: it is known, and not here.
   */
  forget(name: string): number {
    this.#options.network.publish(FORGOTTEN, Buffer.from(name));
    this.#options.forgotten?.(name);
    return this.#forget(name);
  }

  #forget(name: string): number {
    this.membership.forget(name);
    const abandoned = this.peers.forget(name);
    this.#options.log.warn({ relay: name, abandoned }, 'an operator has declared that a relay will not come back');
    this.#endSoon();
    return abandoned;
  }

  /** The document of GET /admin/relays. */
  describe(): ClusterDocument {
    const { membership, peers } = this;
    const relays = [...membership.relays()].map(({ name, state, count, silentSteps, agrees }) => {
      const { passed, received, verdicts, verdictMs } = peers.trafficOf(name);
      return {
        relay: name,
        state,
        desktops: count,
        silentMs: silentSteps * STEP_MS,
        agrees: agrees ?? null,
        passed,
        received,
        inDoubt: peers.inDoubtAt(name),
        verdicts,
        verdictMs,
      };
    });
    return { relay: membership.name, connected: this.#options.network.isConnected, relays };
  }

  /** Whether another relay can be reached now. It may have no desktop yet. */
  get reachesOthers(): boolean {
    return this.#options.network.isConnected && this.#isOther('here');
  }

  /** Whether there is another relay. It may be out of reach for a moment. */
  get hasOthers(): boolean {
    return this.#isOther('here') || this.#isOther('suspected');
  }

  #isOther(wanted: RelayState): boolean {
    const { name: own } = this.membership;
    return [...this.membership.relays()].some(({ name, state }) => name !== own && state === wanted);
  }

  /** Tells the others that this relay stops. */
  leave(): void {
    this.membership.leave();
    this.#tick();
  }

  /** Call it when no request waits for an answer any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#options.network.close();
  }

  /** Registers its metrics. */
  gauges(registry: Registry): void {
    const { peers, membership } = this;
    const gauge = gaugesIn(registry);
    const counter = countersIn(registry);
    gauge('sprites_peers', 'Other relays of the cluster that are here', () => {
      return [...membership.relays()].filter(({ name, state }) => name !== membership.name && state === 'here').length;
    });
    trafficGauges(registry, peers);
    crossingCounters(registry, peers);
    gauge('sprites_peers_connected', '1 while messages to other relays can be sent', () => (peers.isConnected ? 1 : 0));
    gauge('sprites_peers_in_custody', 'Sprites answered 202 for a relay that is silent', () => peers.inCustody);
    gauge('sprites_peers_in_doubt', 'Crossings that wait for the verdict of another relay', () => peers.inDoubt);
    const said = this.sayings.counters;
    counter('sprites_peers_sayings_sent_total', 'Sayings sent to other relays', () => said.sent);
    counter('sprites_peers_sayings_received_total', 'Sayings of other relays that are heard here', () => said.received);
    counter(
      'sprites_peers_sayings_lost_total',
      'Sayings that were not sent to, or not heard from, another relay',
      () => {
        return said.lost;
      },
    );
    gauge('sprites_peers_watches', 'Desktops here that watch a neighbour at another relay', () => this.peeks.watches);
    gauge('sprites_peers_watchers', 'Desktops of other relays that watch a neighbour here', () => this.peeks.watchers);
    const peeked = this.peeks.counters;
    counter('sprites_peers_stages_sent_total', 'Stages sent to watchers at other relays', () => peeked.sent);
    counter('sprites_peers_stages_received_total', 'Stages of other relays for watchers here', () => peeked.received);
    counter('sprites_peers_files_total', 'Sprite files fetched from other relays', () => this.files.fetched);
  }
}
