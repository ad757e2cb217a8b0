/**
 * Emulates patch 0001 without building Node.js: a copy of this Node in which one number is changed.
 *
 * The patch turns a constant of Heap::AllocateExternalBackingStore into a flag. In the program this constant is the operand of
 * one instruction, and the copy has the flag's value there. For measurements only, on x64. remove() deletes the copy.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** mov $144 MB, %ecx; mov $64 MB, %edx; cmovne %rcx, %rdx: the limit with --minor-ms, the normal limit, and the choice between them. */
const CHOICE = Buffer.from('b900000009ba00000004480f45d1', 'hex');
const LIMIT_AT = 6;

export interface EmulatedNode {
  program: string;
  remove(): void;
}

/** Throws Error when this Node does not have exactly one such instruction. */
export function nodeWithYoungLimit(mebibytes: number): EmulatedNode {
  const bytes = readFileSync(process.execPath);
  const at = bytes.indexOf(CHOICE);
  if (at < 0 || bytes.indexOf(CHOICE, at + 1) >= 0) {
    throw new Error(`${process.execPath} is not the Node 26.10 for x64 in which the limit can be changed`);
  }
  bytes.writeUInt32LE(mebibytes * 2 ** 20, at + LIMIT_AT);
  const folder = mkdtempSync(join(tmpdir(), 'sprites-node-'));
  const program = join(folder, 'node');
  writeFileSync(program, bytes);
  chmodSync(program, 0o755);
  return { program, remove: () => rmSync(folder, { recursive: true }) };
}
