/**
 * What only the instance knows of the engine's plan: a process for each vCPU, and its source addresses.
 *
 * Pure. Invariant: what the plan says already is never changed, and the engine accepts what is added.
 */
import type { EnginePlan } from '../tools/engine_plan.ts';

interface EngineMachine {
  vcpus: number;
  /** IPv4 addresses that connections can come from, the first one first. */
  addresses: readonly string[];
}

/** The plan with processes and, when the machine has several addresses, sources. */
export function withMachine(plan: EnginePlan, { vcpus, addresses }: EngineMachine): EnginePlan {
  return {
    ...plan,
    processes: plan.processes || vcpus,
    sources: plan.sources || (addresses.length < 2 ? '' : addresses.join(',')),
  };
}
