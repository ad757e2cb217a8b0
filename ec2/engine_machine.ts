/**
 * What only the instance knows of the engine's plan: how many processes its vCPUs serve, and its source addresses.
 *
 * Pure. Invariant: what the plan says already is never changed, and the engine accepts what is added.
 */
import type { EnginePlan } from '../tools/engine_plan.ts';

interface EngineMachine {
  vcpus: number;
  /** Open files that a process may have. */
  files: number;
  /** IPv4 addresses that connections can come from, the first one first. */
  addresses: readonly string[];
}

/** Descriptors of a process besides those of its connections: SpareDescriptors of engine/plan/options.h, and some more. */
const FILES_SPARE = 64;

/** The plan with processes and, when the machine has several addresses, sources. */
export function withMachine(plan: EnginePlan, { vcpus, files, addresses }: EngineMachine): EnginePlan {
  return {
    ...plan,
    processes: plan.processes || processesFor(plan, vcpus, files),
    sources: plan.sources || (addresses.length < 2 ? '' : addresses.join(',')),
  };
}

/**
 * One process for each vCPU; fewer when there are fewer desktops, connections that throw, or throws in flight. 0 when so many
 * could not open all connections: then the engine takes as many as it needs.
 */
function processesFor({ mix, load, transport, throwConnections }: EnginePlan, vcpus: number, files: number): number {
  const desktops = Object.values(mix).reduce((sum, count) => sum + count, 0);
  const senders = mix.throwing ?? 0;
  const throwing = typeof throwConnections === 'number' ? Math.min(senders, throwConnections || senders) : senders;
  const bounds = [vcpus, desktops];
  if (senders > 0) bounds.push(throwing);
  if (load.kind === 'closed') bounds.push(load.inFlight);
  const processes = Math.min(...bounds);
  const held = desktops + (mix.peeking ?? 0);
  const connections = transport === 'socket' ? held : held + throwing + (mix.talking ?? 0);
  return connections / processes + processes + FILES_SPARE > files ? 0 : processes;
}
