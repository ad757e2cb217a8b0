/** Gauges of what this relay sends to the other relays of its cluster and gets from them: by peer, at most RELAYS_MAX, and of all. */
import type { Registry } from 'prom-client';
import type { Peers, PeerTraffic } from '../domain/peers/peers.ts';
import { countersIn, rowsIn } from '../metrics/gauges.ts';

export function trafficGauges(registry: Registry, peers: Peers): void {
  const rows = function* (value: (peer: string) => number) {
    for (const { name: peer } of peers.membership.relays()) {
      if (peer !== peers.membership.name) yield [{ peer }, value(peer)] as const;
    }
  };
  const add = rowsIn(registry, 'counter', ['peer']);
  const counter = (name: string, help: string, value: (traffic: Readonly<PeerTraffic>) => number) =>
    add(name, help, () => rows((peer) => value(peers.trafficOf(peer))));
  counter('sprites_peer_frames_total', 'Frames sent to a relay', ({ frames }) => frames);
  counter('sprites_peer_passed_total', 'Sprites that a relay has accepted', ({ passed }) => passed);
  counter('sprites_peer_received_total', 'Crossings of a relay that were accepted', ({ received }) => received);
  counter('sprites_peer_verdicts_total', 'Answers of a relay to frames with sprites', ({ verdicts }) => verdicts);
  counter(
    'sprites_peer_verdict_seconds_total',
    'Time from frames with sprites to the answers of a relay',
    ({ verdictMs }) => verdictMs / 1000,
  );
  rowsIn(registry, 'gauge', ['peer'])('sprites_peer_in_doubt', 'Sprites that wait for the verdict of a relay', () =>
    rows((peer) => peers.inDoubtAt(peer)),
  );
}

/** Frames and crossings of all peers. */
export function crossingCounters(registry: Registry, { counters }: Peers): void {
  const counter = countersIn(registry);
  counter('sprites_peers_frames_total', 'Frames sent to other relays', () => counters.frames);
  counter('sprites_peers_repeats_total', 'Frames sent again, because no answer came', () => counters.repeats);
  counter('sprites_peers_passed_total', 'Crossings that other relays have accepted', () => counters.passed);
  counter(
    'sprites_peers_handed_total',
    'Sprites from mailboxes of ended desktops here that other relays have accepted',
    () => counters.handed,
  );
  counter(
    'sprites_peers_kept_total',
    'Sprites answered 202 and kept, because another relay did not answer in time',
    () => counters.kept,
  );
  counter('sprites_peers_received_total', 'Crossings of other relays that were accepted', () => counters.received);
  counter(
    'sprites_peers_refused_total',
    'Crossings refused by another relay, or because it was not reachable',
    () => counters.refused,
  );
  counter(
    'sprites_peers_abandoned_total',
    'Crossings whose receiver lost its memory before its verdict was known',
    () => counters.abandoned,
  );
  counter(
    'sprites_peers_malformed_total',
    'Messages of other relays that were not understood',
    () => counters.malformed,
  );
}
