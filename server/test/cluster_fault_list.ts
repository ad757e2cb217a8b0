/**
 * The faults of the simulated cluster, each a name and a function. To add one, add it here: the simulation counts it, and fails when it never
 * happens in a thousand histories.
 */
import type { Fault, SimulatedCluster } from './simulated_cluster.ts';
import { GONE_MS } from './simulated_relay.ts';

/** How long a relay is down, in ms: half of the time so short that its neighbours do not notice. */
function downMs(cluster: SimulatedCluster): number {
  return 1 + cluster.pick(cluster.pick(2) ? 500 : 4_000);
}

/** A turn from which a machine that dies may have nothing on its disk: a second has eight turns. */
const TURNS_LOST_MAX = 16;

function killMachine(cluster: SimulatedCluster, turnsMax: (turns: number) => number): boolean {
  const relay = cluster.pickRunning();
  if (relay === undefined || relay.turns < 2) return false;
  relay.diesFor = downMs(cluster);
  relay.turnsBack = 1 + cluster.pick(turnsMax(relay.turns));
  return true;
}

export const FAULTS = {
  /** A relay loses the network, or gets it back. */
  cutNetwork: {
    chance: 0.04,
    befall(cluster) {
      const relay = cluster.pickRunning();
      relay?.connect(!relay.isConnected);
      return relay !== undefined;
    },
  },
  /** The claims of private worlds are out of reach of a relay, or back, while it still reaches other relays. */
  loseClaims: {
    chance: 0.03,
    befall(cluster) {
      const relay = cluster.pickRunning();
      relay?.reachClaims(!relay.reachesClaims);
      return relay !== undefined;
    },
  },
  /**
   * NATS has two parts, for so long that what a relay has can be claimed in the other one, and somebody joins there. The relay is alone; it may
   * still reach the claims.
   */
  splitNats: {
    chance: 0.015,
    befall(cluster) {
      const [alone, other] = [cluster.pickRunning(), cluster.pickRunning()];
      if (!cluster.hasGarden || alone === undefined || other === undefined || alone === other) return false;
      alone.connect(false);
      alone.reachClaims(cluster.pick(2) === 0);
      other.connect(true);
      cluster.wait(GONE_MS + 1_000);
      cluster.joinGarden(other);
      return true;
    },
  },
  /** The link between two relays is cut, or heals: they seem silent to each other, and not to a third one. */
  cutLink: {
    chance: 0.04,
    befall(cluster) {
      const [one, other] = [cluster.pickRunning(), cluster.pickRunning()];
      if (one === undefined || other === undefined || one === other) return false;
      one.node.setLink(other.node, !one.node.hasLink(other.node));
      return true;
    },
  },
  /** The process of a relay dies. */
  killProcess: {
    chance: 0.04,
    befall(cluster) {
      const relay = cluster.pickRunning();
      if (relay) relay.diesFor = downMs(cluster);
      return relay !== undefined;
    },
  },
  /** The machine of a relay dies: its journal goes back by some turns. */
  killMachine: {
    chance: 0.04,
    befall: (cluster) => killMachine(cluster, (turns) => Math.min(turns, TURNS_LOST_MAX)),
  },
  /** A backup of yesterday is restored: the journal is as it was at any turn. */
  restoreBackup: {
    chance: 0.02,
    befall: (cluster) => killMachine(cluster, (turns) => turns),
  },
  /** The machines of all relays die at once, as in a power cut. */
  cutPower: {
    chance: 0.015,
    befall(cluster) {
      const running = cluster.relays.filter(({ isAlive, turns }) => isAlive && turns >= 2);
      for (const relay of running) {
        relay.diesFor = downMs(cluster);
        relay.turnsBack = 1 + cluster.pick(Math.min(relay.turns, TURNS_LOST_MAX));
      }
      return running.length > 1;
    },
  },
  /** The clock of a relay is set, up to an hour forwards or backwards. It counts at the next start. */
  setClock: {
    chance: 0.04,
    befall(cluster) {
      const relay = cluster.pickRunning();
      if (relay) relay.clockOffsetMs = cluster.pick(7_200_000) - 3_600_000;
      return relay !== undefined;
    },
  },
  /** A relay stops for good, and hands on what waits; its clients join elsewhere. Perhaps no other one is there. */
  stopForGood: {
    chance: 0.03,
    befall(cluster) {
      const relay = cluster.pickRunning();
      relay?.leave();
      return relay !== undefined;
    },
  },
  /** A second process starts under the name of a relay, while the first still runs. */
  takeOverName: {
    chance: 0.015,
    befall(cluster) {
      const relay = cluster.pickRunning();
      return relay !== undefined && cluster.takeOver(relay);
    },
  },
  /** The disk of a relay is full, at any byte of what it writes next, until makeRoom. */
  fillDisk: {
    chance: 0.03,
    befall(cluster) {
      const { disk } = cluster.pickRunning() ?? {};
      if (disk) disk.roomBytes = disk.usedBytes + cluster.pick(3_000);
      return disk !== undefined;
    },
  },
  makeRoom: {
    chance: 0.06,
    befall(cluster) {
      const { disk } = cluster.pickRunning() ?? {};
      if (disk === undefined || disk.roomBytes === Number.POSITIVE_INFINITY) return false;
      disk.roomBytes = Number.POSITIVE_INFINITY;
      return true;
    },
  },
  /** The last desktop of a relay ends: all of them were silent. What waits there has nobody left. */
  endLeases: {
    chance: 0.03,
    befall(cluster) {
      const relay = cluster.pickRunning();
      return relay !== undefined && cluster.endLeases(relay) > 0;
    },
  },
  /** A relay stops for good while no other one has a desktop: what waits must follow the first that arrives there. */
  stopMeetingNobody: {
    chance: 0.02,
    befall(cluster) {
      const relay = cluster.pickRunning();
      const others = cluster.relays.filter((one) => one !== relay);
      if (relay === undefined || others.some((one) => !one.isAlive || one.leavesUntilMs > 0)) return false;
      for (const other of others) cluster.endLeases(other);
      relay.leave();
      return true;
    },
  },
} as const satisfies Record<string, Fault>;
