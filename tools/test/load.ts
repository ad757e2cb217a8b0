/** What the processors do: how many idle, and what the processes that this one started have used. */
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';

const TICKS_A_SECOND = 100; // USER_HZ, the unit of /proc on every Linux that Node runs on

/** Cores that idled since the last look, on average. */
export class IdleCores {
  #idleMs = 0;
  #totalMs = 0;

  constructor() {
    this.look(); // the times are counted from the start of the machine
  }

  look(): number {
    const all = cpus().map(({ times }) => times);
    const idleMs = all.reduce((sum, { idle }) => sum + idle, 0);
    const totalMs = all.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0);
    const share = totalMs > this.#totalMs ? (idleMs - this.#idleMs) / (totalMs - this.#totalMs) : 0;
    this.#idleMs = idleMs;
    this.#totalMs = totalMs;
    return share * all.length;
  }
}

/**
 * Seconds of processor time that ended children used since the last look, those of their own children included if they waited for
 * them. Two that end at the same moment count for the first that looks. 0 where there is no /proc.
 */
export class ChildrenCpu {
  #seconds = 0;

  look(): number {
    const seconds = ended();
    const used = seconds - this.#seconds;
    this.#seconds = seconds;
    return used;
  }
}

function ended(): number {
  let stat: string;
  try {
    stat = readFileSync('/proc/self/stat', 'utf8');
  } catch {
    return 0;
  }
  // proc(5): after the name in parentheses come the fields from 3 on; 16 and 17 are cutime and cstime.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / TICKS_A_SECOND;
}
