/**
 * The parts of a relay that deal with its peers; empty while it is alone.
 *
 * It is constructed before the other parts, which look here when something concerns another relay. Writer: Relay.joinCluster(), once, after
 * recovery; DECISIONS.md says why not earlier (Several relays).
 */

import type { Routing } from '../state/torus.ts';
import type { RemoteSayings } from '../talk/speech.ts';
import type { HandOver } from './hand_over.ts';
import type { PeerPeeks } from './peer_peeks.ts';
import type { Peers } from './peers.ts';

export class PeerParts {
  peers: Peers | undefined;
  handOver: HandOver | undefined;
  sayings: RemoteSayings | undefined;
  peeks: PeerPeeks | undefined;

  /** Decides what is beyond the edges of the default world, if other relays have desktops there. */
  get routing(): Routing | undefined {
    return this.peers;
  }
}
