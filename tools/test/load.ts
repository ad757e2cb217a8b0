/** What the processors do: how many idle, and what the processes that this one started have used. */
import { readFileSync } from 'node:fs';
import { type CpuInfo, cpus } from 'node:os';

const TICKS_A_SECOND = 100; // USER_HZ, the unit of /proc on every Linux that Node runs on

/** Of one core, each in ms since the start of the machine. */
type Times = CpuInfo['times'];

/**
 * Cores that idled since the last look, on average. What niced processes of others use counts as idle, because they give way; the time
 * that the kernel spends for them is not known apart.
 */
export class IdleCores {
  readonly #times: () => readonly Times[];
  #idleMs = 0;
  #totalMs = 0;
  #nicedMs = 0;

  constructor(times: () => readonly Times[] = () => cpus().map((core) => core.times)) {
    this.#times = times;
    this.look({ areOwnNiced: true }); // the times are counted from the start of the machine
  }

  /** `areOwnNiced`: processes of this run are niced, too, and do not give way to it. */
  look({ areOwnNiced }: { areOwnNiced: boolean }): number {
    const all = this.#times();
    const sum = (of: (times: Times) => number) => all.reduce((ms, times) => ms + of(times), 0);
    const idleMs = sum(({ idle }) => idle);
    const nicedMs = sum(({ nice }) => nice);
    const totalMs = sum(({ user, nice, sys, idle, irq }) => user + nice + sys + idle + irq);
    const gained = idleMs - this.#idleMs + (areOwnNiced ? 0 : nicedMs - this.#nicedMs);
    const share = totalMs > this.#totalMs ? gained / (totalMs - this.#totalMs) : 0;
    this.#idleMs = idleMs;
    this.#nicedMs = nicedMs;
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
