/** Runs the swarm's engine against a contender: takes members of its plan, returns its account. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { ENGINE } from '../build.js';
import { ENGINE_PLAN, type EnginePlan, planLine } from '../engine_plan.ts';
import type { EngineResult } from '../engine_result.ts';
import type { Contender } from './contender.ts';

/** A result of an engine that watched the relay's processes, with a rate that merging works out itself. */
export type Account = EngineResult & Required<Pick<EngineResult, 'relay'>> & { window: { deliveredPerS: number } };

/**
 * Runs the engine to its end, against one contender or against the relays of a cluster. Throws Error with its message when it failed, or
 * lost or doubled a sprite or a saying. `phase` is called when a phase begins: connect, settle, warmUp, measure, drain.
 */
export async function runEngine(
  contenders: Contender | readonly Contender[],
  load: Partial<EnginePlan>,
  phase: (name: string) => void = () => {},
): Promise<Account> {
  const all = [contenders].flat();
  // Relays of a cluster answer joins with their own addresses; those of one contender are known.
  const [{ api, events }] = all;
  const plan: EnginePlan = {
    ...ENGINE_PLAN,
    apis: all.map((one) => `127.0.0.1:${one.api}`),
    ...(all.length === 1 && { events: `127.0.0.1:${events}`, crossings: `127.0.0.1:${api}` }),
    watchPids: all.flatMap(({ pids }) => pids),
    ...load,
  };
  const child = spawn(ENGINE, { stdio: ['pipe', 'pipe', 'ignore'] });
  child.stdin.on('error', () => {}); // it may end before it has read the plan
  child.stdin.end(planLine(plan));
  let last: (Account & { phase: string }) | undefined;
  createInterface({ input: child.stdout }).on('line', (line) => {
    last = JSON.parse(line);
    if (last) phase(last.phase);
  });
  await once(child, 'close');
  if (last?.phase !== 'done') throw new Error(`the swarm ended with ${child.exitCode} before it was done`);
  const account: Account = last;
  if (!account.ok) throw new Error(`the swarm failed: ${account.message}`);
  const { lost, undelivered, duplicated, misrouted, corrupted } = account;
  if (lost + undelivered + duplicated + misrouted + corrupted > 0) {
    throw new Error(
      `lost ${lost}, undelivered ${undelivered}, doubled ${duplicated}, misrouted ${misrouted}, corrupted ${corrupted} sprites`,
    );
  }
  const { sayings } = account;
  if (sayings.lost + sayings.again + sayings.unowed + sayings.corrupted > 0) {
    throw new Error(`sayings are lost, or heard too often: ${JSON.stringify(sayings)}`);
  }
  return account;
}
