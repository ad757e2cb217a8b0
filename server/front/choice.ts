/** Chooses the front of a process: the native one on Linux where it is built, otherwise the portable one. */
import type { Front, FrontHandlers, FrontListener } from './front.ts';
import { machineLimits, NativeFront, planThreads, whyNoNativeFront } from './native.ts';
import { PortableFront } from './portable.ts';

/** A front that does not exist yet, and what it will hold. */
export interface FrontPlan {
  kind: Front['kind'];
  /** Why this front was chosen: a sentence for the log. */
  reason: string;
  connectionsMax: number;
  /** I/O threads beside the JavaScript thread. */
  threads: number;
  /** `connectionsPerAddressMax`: see FrontOptions; default 0, not limited. */
  make(listeners: readonly FrontListener[], handlers: FrontHandlers, connectionsPerAddressMax?: number): Front;
}

/**
 * Plans a front for `connections` at once, of which `ownTable` fit into the process's own file table.
 *
 * Shape   `alone`: this process does all the work of the relay, so an I/O thread would only add a hop.
 * Throws  Error when the native front was asked for and is not available; the message says why.
 */
export function planFront(
  wanted: 'auto' | 'native' | 'portable',
  connections: number,
  ownTable: number,
  alone: boolean,
): FrontPlan {
  const why = wanted === 'portable' ? 'asked for by --front portable' : whyNoNativeFront();
  if (why && wanted === 'native') throw new Error(`--front native: ${why}`);
  if (why) {
    const connectionsMax = Math.min(connections, ownTable);
    return {
      kind: 'portable',
      reason: why,
      connectionsMax,
      threads: 0,
      make: (listeners, handlers, connectionsPerAddressMax) =>
        new PortableFront({ listeners, handlers, connectionsMax, connectionsPerAddressMax }),
    };
  }
  const plan = planThreads(connections, machineLimits(alone));
  return {
    kind: 'native',
    ...plan,
    make: (listeners, handlers, connectionsPerAddressMax) =>
      new NativeFront({ listeners, handlers, connectionsPerAddressMax, ...plan }),
  };
}
