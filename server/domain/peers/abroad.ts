/**
 * Abroad: what a relay has of the other relays of its cluster; nothing while it is alone.
 *
 * It is made before the parts of the relay, which look here when something concerns another relay.
 * Writer: Relay.joinCluster(), once.
 */

import type { Routing } from '../state/torus.ts';
import type { RemoteSayings } from '../talk/speech.ts';
import type { HandOver } from './hand_over.ts';
import type { PeerPeeks } from './peer_peeks.ts';
import type { Peers } from './peers.ts';

export class Abroad {
  peers: Peers | undefined;
  handOver: HandOver | undefined;
  sayings: RemoteSayings | undefined;
  peeks: PeerPeeks | undefined;

  /** Decides what is beyond the edges of the default world, if other relays have desktops there. */
  get routing(): Routing | undefined {
    return this.peers;
  }
}
