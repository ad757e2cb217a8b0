/** Gauges by peer: what this relay sends to each other relay of its cluster, and gets from it. At most RELAYS_MAX peers are shown. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Peers, PeerTraffic } from '../domain/peers.ts';

export function trafficGauges(registry: Registry, peers: Peers): void {
  const names = function* () {
    for (const { name } of peers.membership.relays()) if (name !== peers.membership.name) yield name;
  };
  const counter = (name: string, help: string, value: (traffic: Readonly<PeerTraffic>) => number) => {
    const made: Counter = new Counter({
      name,
      help,
      labelNames: ['peer'],
      registers: [registry],
      collect: () => {
        made.reset();
        for (const peer of names()) made.inc({ peer }, value(peers.trafficOf(peer)));
      },
    });
  };
  counter('sprites_peer_frames_total', 'Frames sent to a relay', ({ frames }) => frames);
  counter('sprites_peer_passed_total', 'Sprites that a relay has accepted', ({ passed }) => passed);
  counter('sprites_peer_received_total', 'Crossings of a relay that were accepted', ({ received }) => received);
  counter('sprites_peer_verdicts_total', 'Answers of a relay to frames with sprites', ({ verdicts }) => verdicts);
  counter(
    'sprites_peer_verdict_seconds_total',
    'Time from frames with sprites to the answers of a relay',
    (traffic) => {
      return traffic.verdictMs / 1000;
    },
  );
  const inDoubt: Gauge = new Gauge({
    name: 'sprites_peer_in_doubt',
    help: 'Sprites that wait for the verdict of a relay',
    labelNames: ['peer'],
    registers: [registry],
    collect: () => {
      inDoubt.reset();
      for (const peer of names()) inDoubt.set({ peer }, peers.inDoubtAt(peer));
    },
  });
}
