/**
 * What patch 0001 does, in Node.js itself and without building it: a copy of this Node with another number in it.
 *
 * The patch makes a constant of Heap::AllocateExternalBackingStore a flag. In the program that constant is the operand of
 * one instruction; the copy has the flag's value there. For measuring only, on x64; the copy is gone when it is let go.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** mov $144 MB, %ecx; mov $64 MB, %edx; cmovne %rcx, %rdx: the limit with --minor-ms, the limit, and the choice. */
const CHOICE = Buffer.from('b900000009ba00000004480f45d1', 'hex');
const LIMIT_AT = 6;

export interface EmulatedNode {
  program: string;
  remove(): void;
}

/** Throws Error when this Node has no such instruction, or several. */
export function nodeWithYoungLimit(mebibytes: number): EmulatedNode {
  const bytes = readFileSync(process.execPath);
  const at = bytes.indexOf(CHOICE);
  if (at < 0 || bytes.indexOf(CHOICE, at + 1) >= 0) {
    throw new Error(`${process.execPath} is not laid out as the Node 26.10 for x64 that can be changed so`);
  }
  bytes.writeUInt32LE(mebibytes * 2 ** 20, at + LIMIT_AT);
  const folder = mkdtempSync(join(tmpdir(), 'sprites-node-'));
  const program = join(folder, 'node');
  writeFileSync(program, bytes);
  chmodSync(program, 0o755);
  return { program, remove: () => rmSync(folder, { recursive: true }) };
}
