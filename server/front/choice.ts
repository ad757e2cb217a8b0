/** Which front a process uses: the native one where it is built and the system is Linux, the portable one else. */
import type { Front, FrontHandlers, FrontListener } from './front.ts';
import { machineLimits, NativeFront, planThreads, whyNoNativeFront } from './native.ts';
import { PortableFront } from './portable.ts';

/** A front that is not made yet, and what it will hold. */
export interface FrontPlan {
  kind: Front['kind'];
  /** How it came to that: a sentence for the log. */
  reason: string;
  connectionsMax: number;
  /** I/O threads beside the JavaScript thread. */
  threads: number;
  make(listeners: readonly FrontListener[], handlers: FrontHandlers): Front;
}

/**
 * Plans the front for `connections` at once, of which `ownTable` fit into the process's own file table.
 *
 * Shape   `alone`: this process does all the work of the relay, so a thread beside it would only add a hop.
 * Throws  Error when `native` was asked for and can't be had: says why.
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
      ...{ kind: 'portable', reason: why, connectionsMax, threads: 0 },
      make: (listeners, handlers) => new PortableFront({ listeners, handlers, connectionsMax }),
    };
  }
  const plan = planThreads(connections, machineLimits(alone));
  return {
    ...{ kind: 'native', ...plan },
    make: (listeners, handlers) => new NativeFront({ listeners, handlers, ...plan }),
  };
}
