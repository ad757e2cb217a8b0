/**
 * What Linux tells about the CPU: the time of each thread of a process, and of the whole machine. Read from /proc.
 *
 * Units   seconds of CPU, in steps of 10 ms: /proc counts in ticks.
 * Cost    three system calls a thread, some 10 µs; see THREADS_PER_TURN_MAX.
 */
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';

/** Ticks a second in /proc: the same on every Linux, whatever the kernel's own timer does. */
const TICKS_PER_SECOND = 100;

/** A line of /proc/PID/task/TID/stat has at most 52 numbers and a name of 15 bytes. */
const STAT_BYTES_MAX = 2_048;

const bytes = Buffer.alloc(STAT_BYTES_MAX);

interface ThreadTime {
  tid: number;
  /** The kernel's name for it, at most 15 bytes; `main` for the first thread of the process. */
  name: string;
  cpuSeconds: number;
}

export interface MachineTime {
  /** Sum over all cores. */
  busySeconds: number;
  /** In which a core was ready to run but the hypervisor gave it to another machine. */
  stealSeconds: number;
}

/** The ids of the threads of a process; none when the process has ended, or the system is not Linux. */
export function threadIds(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [];
  }
}

/** The time of one thread; undefined when it has ended. */
export function threadTime(pid: number, tid: number): ThreadTime | undefined {
  const text = readSmallFile(`/proc/${pid}/task/${tid}/stat`);
  return text === undefined ? undefined : parseThread(text, pid, tid);
}

/** Parses `TID (NAME) STATE …`. The name may itself contain parentheses and spaces. */
export function parseThread(text: string, pid: number, tid: number): ThreadTime {
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  const fields = text.slice(close + 2, close + 200).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]); // utime and stime
  return { tid, name: tid === pid ? 'main' : text.slice(open + 1, close), cpuSeconds: ticks / TICKS_PER_SECOND };
}

/** The time of the machine; undefined where the system is not Linux. */
export function machineTime(): MachineTime | undefined {
  const text = readSmallFile('/proc/stat');
  return text === undefined ? undefined : parseMachine(text);
}

/** Parses the first line of /proc/stat: `cpu USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL …`. */
export function parseMachine(text: string): MachineTime {
  const [user, nice, system, , , irq, softirq, steal = 0] = text
    .slice(0, text.indexOf('\n'))
    .split(/ +/)
    .slice(1)
    .map(Number);
  return {
    busySeconds: (user + nice + system + irq + softirq) / TICKS_PER_SECOND,
    stealSeconds: steal / TICKS_PER_SECOND,
  };
}

/** The first STAT_BYTES_MAX bytes of a file; undefined when it can't be read. */
function readSmallFile(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    return bytes.toString('latin1', 0, readSync(file, bytes, 0, STAT_BYTES_MAX, 0));
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
