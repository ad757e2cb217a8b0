/**
 * What a minidump of the program for Windows tells: what crashed, and which of its functions were on the stack.
 *
 * Windows has the tables to unwind its own libraries; here there are only those of the program. So the stack is not unwound but
 * searched for return addresses: words that point into the program, behind a call. A few are left over from earlier calls.
 * Source: learn.microsoft.com/windows/win32/api/minidumpapiset, and the PE format.
 */

/** A minidump of a 64-bit program that has crashed. */
interface Minidump {
  /** The exception code: what crashed. */
  readonly code: number;
  /** The address where it crashed. */
  readonly at: bigint;
  /** The words on the stack of that thread, from its top. */
  readonly stack: readonly bigint[];
  readonly modules: readonly Module[];
}

/** A program or library in memory. */
interface Module {
  readonly name: string;
  readonly base: bigint;
  readonly size: number;
  /** The time in the header of its file. */
  readonly time: number;
}

const MAGIC = 0x504d444d; // MDMP
const THREADS = 3;
const MODULES = 4;
const EXCEPTION = 6;
const THREAD_BYTES = 48;
const MODULE_BYTES = 108;
const RSP = 0x98; // in the context of a thread on x64
const RIP = 0xf8;
const RUNS = 0x20000000; // the flag of a section that has code

const CODES: Readonly<Record<number, string>> = {
  3221225477: 'an invalid access to memory',
  3221225725: 'a full stack',
  3221226356: 'a damaged heap',
  3221226505: 'an overwritten stack, or a fast fail',
  3763556434: 'an abort: an assertion, or an exception that nobody caught', // kAborted in minidump.cc
  541541187: 'an exception that nobody caught', // GCC's
};

/** What an exception code means. */
export const nameOf = (code: number): string => CODES[code] ?? `exception 0x${code.toString(16)}`;

/** Reads a minidump. Throws if it is none, or has no exception. */
export function readMinidump(bytes: Buffer): Minidump {
  if (bytes.length < 32 || bytes.readUInt32LE(0) !== MAGIC) throw new Error('It is no minidump.');
  const streams = new Map<number, number>();
  for (let i = 0; i < bytes.readUInt32LE(8); i++) {
    const entry = bytes.readUInt32LE(12) + 12 * i;
    streams.set(bytes.readUInt32LE(entry), bytes.readUInt32LE(entry + 8));
  }
  const exception = streams.get(EXCEPTION);
  if (exception === undefined) throw new Error('It is not the dump of a crash: it has no exception.');
  const context = bytes.readUInt32LE(exception + 164);
  return {
    code: bytes.readUInt32LE(exception + 8),
    at: bytes.readBigUInt64LE(context + RIP),
    stack: stackOf(bytes, streams.get(THREADS), bytes.readUInt32LE(exception), bytes.readBigUInt64LE(context + RSP)),
    modules: modulesOf(bytes, streams.get(MODULES)),
  };
}

function stackOf(bytes: Buffer, list: number | undefined, thread: number, top: bigint): bigint[] {
  for (let i = 0; list !== undefined && i < bytes.readUInt32LE(list); i++) {
    const entry = list + 4 + THREAD_BYTES * i;
    if (bytes.readUInt32LE(entry) !== thread) continue;
    const start = bytes.readBigUInt64LE(entry + 24);
    const [size, place] = [bytes.readUInt32LE(entry + 32), bytes.readUInt32LE(entry + 36)];
    const words: bigint[] = [];
    for (let at = Math.max(0, Number(top - start)); at + 8 <= size; at += 8)
      words.push(bytes.readBigUInt64LE(place + at));
    return words;
  }
  return [];
}

function modulesOf(bytes: Buffer, list: number | undefined): Module[] {
  const count = list === undefined ? 0 : bytes.readUInt32LE(list);
  return Array.from({ length: count }, (_, i) => {
    const entry = list! + 4 + MODULE_BYTES * i;
    const name = bytes.readUInt32LE(entry + 20);
    return {
      name: bytes
        .toString('utf16le', name + 4, name + 4 + bytes.readUInt32LE(name))
        .split('\\')
        .at(-1)!,
      base: bytes.readBigUInt64LE(entry),
      size: bytes.readUInt32LE(entry + 8),
      time: bytes.readUInt32LE(entry + 16),
    };
  });
}

/** The addresses of a dump that are in its program, as that was linked: where it crashed, then where calls would return to. */
export function callsIn(dump: Minidump, own: Module, program: Buffer): bigint[] {
  const header = program.readUInt32LE(0x3c);
  const linkedAt = program.readBigUInt64LE(header + 48);
  const codes = codesOf(program, header);
  const isBehindCall = (address: bigint) => {
    const offset = Number(address - own.base);
    const code = codes.find(({ start, end }) => offset >= start + 7 && offset < end);
    return code !== undefined && endsCall(program, code.file + offset - code.start);
  };
  const isOwn = dump.at >= own.base && dump.at < own.base + BigInt(own.size);
  return [...(isOwn ? [dump.at] : []), ...dump.stack.filter(isBehindCall)].map(
    (address) => address - own.base + linkedAt,
  );
}

/** The sections that have code: where each is in memory, from the base on, and in the file. */
function codesOf(program: Buffer, header: number): { start: number; end: number; file: number }[] {
  const first = header + 24 + program.readUInt16LE(header + 20);
  const sections = Array.from({ length: program.readUInt16LE(header + 6) }, (_, i) => first + 40 * i);
  return sections
    .filter((at) => program.readUInt32LE(at + 36) & RUNS)
    .map((at) => {
      const start = program.readUInt32LE(at + 12);
      return { start, end: start + program.readUInt32LE(at + 16), file: program.readUInt32LE(at + 20) };
    });
}

/** Whether a call ends at this place of the file: E8 with a distance, or FF /2 of two to seven bytes. */
function endsCall(program: Buffer, at: number): boolean {
  return program[at - 5] === 0xe8 || [2, 3, 4, 6, 7].some((size) => isIndirectCall(program, at - size));
}

const isIndirectCall = (program: Buffer, at: number) => program[at] === 0xff && (program[at + 1] & 0x38) === 0x10;
