/** Makes a segment one of another format: only its head says so. */
import { crc32 } from 'node:zlib';
import type { Disk } from '../journal/disk.ts';
import { HEAD_BYTES } from '../journal/segments.ts';

export function setFormat(disk: Disk, name: string, version: number): void {
  const head = disk.read(name, HEAD_BYTES);
  head.writeUInt32LE(version, 8);
  head.writeUInt32LE(crc32(head.subarray(0, HEAD_BYTES - 4)), HEAD_BYTES - 4);
  disk.write(disk.open(name), head, HEAD_BYTES, 0);
}
