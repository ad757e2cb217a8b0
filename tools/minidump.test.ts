import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { callsIn, nameOf, readMinidump } from './minidump.ts';

const BASE = 0x7ff6_0000_0000n; // where Windows has loaded the program
const LINKED_AT = 0x1_4000_0000n;
const CODE = 0x1000; // the first address of its code, from the base on
const STACK = 0x10_0000n;

/** A program with one section of code, of these bytes. */
function programOf(code: readonly number[]): Buffer {
  const program = Buffer.alloc(0x200 + 0x200);
  const header = 0x80;
  program.writeUInt32LE(header, 0x3c);
  program.writeUInt16LE(1, header + 6); // sections
  program.writeUInt16LE(0xf0, header + 20); // bytes of the optional header
  program.writeBigUInt64LE(LINKED_AT, header + 48);
  const section = header + 24 + 0xf0;
  program.writeUInt32LE(CODE, section + 12);
  program.writeUInt32LE(0x200, section + 16);
  program.writeUInt32LE(0x200, section + 20); // in the file
  program.writeUInt32LE(0x60000020, section + 36);
  Buffer.from(code).copy(program, 0x200);
  return program;
}

/** A minidump of one thread that crashed at `at`, with these words on its stack from its top on. */
function dumpOf(code: number, at: bigint, words: readonly bigint[]): Buffer {
  const dump = Buffer.alloc(0x1000);
  const [threads, modules, exception, context, stack, name] = [0x100, 0x200, 0x300, 0x400, 0x900, 0xf00];
  dump.writeUInt32LE(0x504d444d, 0);
  dump.writeUInt32LE(3, 8);
  dump.writeUInt32LE(0x20, 12);
  for (const [i, [kind, place]] of [
    [3, threads],
    [4, modules],
    [6, exception],
  ].entries()) {
    dump.writeUInt32LE(kind, 0x20 + 12 * i);
    dump.writeUInt32LE(place, 0x28 + 12 * i);
  }
  dump.writeUInt32LE(1, threads);
  dump.writeUInt32LE(7, threads + 4); // the id of the thread
  dump.writeBigUInt64LE(STACK - 16n, threads + 28); // what is below the top is not looked at
  dump.writeUInt32LE(16 + 8 * words.length, threads + 36);
  dump.writeUInt32LE(stack, threads + 40);
  dump.writeBigUInt64LE(BASE + BigInt(CODE + 10), stack);
  for (const [i, word] of words.entries()) dump.writeBigUInt64LE(word, stack + 16 + 8 * i);
  dump.writeUInt32LE(1, modules);
  dump.writeBigUInt64LE(BASE, modules + 4);
  dump.writeUInt32LE(0x2000, modules + 12);
  dump.writeUInt32LE(0x6720_0000, modules + 20);
  dump.writeUInt32LE(name, modules + 24);
  const path = Buffer.from('C:\\Sprites\\Sprites.exe', 'utf16le');
  dump.writeUInt32LE(path.length, name);
  path.copy(dump, name + 4);
  dump.writeUInt32LE(7, exception);
  dump.writeUInt32LE(code, exception + 8);
  dump.writeUInt32LE(context, exception + 164);
  dump.writeBigUInt64LE(STACK, context + 0x98);
  dump.writeBigUInt64LE(at, context + 0xf8);
  return dump;
}

describe('minidump', () => {
  // At 10: behind a call with a distance. At 20: behind one through a register. At 30: behind none.
  const code = Array<number>(64).fill(0x90);
  code[5] = 0xe8;
  code.splice(18, 2, 0xff, 0xd0);
  const program = programOf(code);
  const inCode = (offset: number) => BASE + BigInt(CODE + offset);
  const linked = (offset: number) => LINKED_AT + BigInt(CODE + offset);

  it('has what crashed, the stack of that thread, and the programs in memory', () => {
    const dump = readMinidump(dumpOf(0xc0000005, inCode(40), [1n, 2n]));
    assert.equal(nameOf(dump.code), 'an invalid access to memory');
    assert.deepEqual(dump.stack, [1n, 2n]);
    assert.deepEqual(dump.modules, [{ name: 'Sprites.exe', base: BASE, size: 0x2000, time: 0x6720_0000 }]);
  });

  it('has calls only where its program has one, as the program was linked', () => {
    const words = [inCode(20), 5n, inCode(30), inCode(10), BASE - 1n];
    const dump = readMinidump(dumpOf(0xc00000fd, inCode(40), words));
    assert.deepEqual(callsIn(dump, dump.modules[0], program), [linked(40), linked(20), linked(10)]);
  });

  it('may have crashed in a library of Windows: then it begins with the newest call of the program', () => {
    const dump = readMinidump(dumpOf(0xe0535052, 0x7ffa_0000_0000n, [inCode(10)]));
    assert.deepEqual(callsIn(dump, dump.modules[0], program), [linked(10)]);
  });

  it('is refused if it is another file, or is not of a crash', () => {
    assert.throws(() => readMinidump(Buffer.from('MZ')), /no minidump/);
    const empty = Buffer.alloc(32);
    empty.writeUInt32LE(0x504d444d, 0);
    assert.throws(() => readMinidump(empty), /not the dump of a crash/);
    assert.equal(nameOf(0x1234), 'exception 0x1234');
  });
});
