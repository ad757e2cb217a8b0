/**
 * Reads a zip archive: what is in it, and the bytes of one entry at a time.
 *
 * The archive may be anybody's, so every length is checked against the file, and an entry is unpacked only when it is asked for, into
 * at most as many bytes as the caller has room for. Nothing is ever written under the names in it. core/picture/packs/zip.cc is the
 * same; packs.vectors.json is played with both.
 * Source  PKWARE's APPNOTE.TXT, 4.3.
 */
import { crc32 } from '../../wire/files/png.ts';
import { readUpTo } from '../relay/read_up_to.ts';
import { phrase } from '../texts/language.ts';

export const PACK_ENTRIES_MAX = 2048; // files and folders: a pack has some sixty

/** The files of a pack by their paths, which `/` divides. Each reads its bytes, and throws an Error when there are more than that. */
export type PackFiles = ReadonlyMap<string, (bytesMax: number) => Promise<Uint8Array<ArrayBuffer>>>;

const END = 0x06054b50;
const END_BYTES = 22;
const COMMENT_BYTES_MAX = 65_535;
const ENTRY = 0x02014b50;
const ENTRY_BYTES = 46;
const LOCAL = 0x04034b50;
const LOCAL_BYTES = 30;
const STORED = 0;
const DEFLATED = 8;
const ENCRYPTED = 1; // a bit of the flags

interface Entry {
  flags: number;
  method: number;
  crc: number;
  packedBytes: number;
  bytes: number;
  at: number;
}

/** Reads the directory of an archive. The first of several entries of one name is it. Throws an Error for the person. */
export function readZip(archive: Uint8Array<ArrayBuffer>): PackFiles {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.length);
  const end = endOf(view);
  const count = view.getUint16(end + 10, true);
  if (count > PACK_ENTRIES_MAX) throw new Error(phrase('pack.too-many', { count: PACK_ENTRIES_MAX }));
  const files = new Map<string, (bytesMax: number) => Promise<Uint8Array<ArrayBuffer>>>();
  let at = view.getUint32(end + 16, true);
  for (let i = 0; i < count; i++) {
    if (at + ENTRY_BYTES > end || view.getUint32(at, true) !== ENTRY) throw damaged();
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((offset) => view.getUint16(at + offset, true));
    if (at + ENTRY_BYTES + nameBytes > end) throw damaged();
    const entry = {
      flags: view.getUint16(at + 8, true),
      method: view.getUint16(at + 10, true),
      crc: view.getUint32(at + 16, true),
      packedBytes: view.getUint32(at + 20, true),
      bytes: view.getUint32(at + 24, true),
      at: view.getUint32(at + 42, true),
    };
    const path = pathOf(archive.subarray(at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes));
    if (!path.endsWith('/') && !files.has(path)) {
      files.set(path, async (bytesMax) => {
        if (entry.bytes > bytesMax)
          throw new Error(phrase('file.too-large', { name: path, mib: bytesMax / 1_048_576 }));
        return unpack(view, entry);
      });
    }
    at += ENTRY_BYTES + nameBytes + extraBytes + commentBytes;
  }
  return files;
}

const damaged = () => new Error(phrase('pack.damaged'));

/** Where the record at the end of the archive begins. */
function endOf(view: DataView): number {
  const first = Math.max(0, view.byteLength - END_BYTES - COMMENT_BYTES_MAX);
  for (let at = view.byteLength - END_BYTES; at >= first; at--) if (view.getUint32(at, true) === END) return at;
  throw damaged();
}

/** A path whose bytes are not UTF-8, as old programs wrote them, has a character for each byte. */
function pathOf(bytes: Uint8Array): string {
  let path: string;
  try {
    path = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    path = String.fromCharCode(...bytes);
  }
  return path.replaceAll('\\', '/');
}

async function unpack(view: DataView<ArrayBuffer>, entry: Entry): Promise<Uint8Array<ArrayBuffer>> {
  const { at, packedBytes, bytes } = entry;
  if (at + LOCAL_BYTES > view.byteLength || view.getUint32(at, true) !== LOCAL) throw damaged();
  const begin = at + LOCAL_BYTES + view.getUint16(at + 26, true) + view.getUint16(at + 28, true);
  if (begin + packedBytes > view.byteLength || (entry.flags & ENCRYPTED) !== 0) throw damaged();
  const packed = new Uint8Array(view.buffer, view.byteOffset + begin, packedBytes);
  const unpacked = entry.method === DEFLATED ? await inflate(packed, bytes) : packed;
  if (entry.method !== DEFLATED && entry.method !== STORED) throw damaged();
  if (unpacked.length !== bytes || crc32(unpacked) !== entry.crc) throw damaged();
  return unpacked;
}

/** Unpacks into at most `bytes` bytes: what an archive claims of itself is no reason to believe it. */
function inflate(packed: Uint8Array<ArrayBuffer>, bytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const unpacking = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return readUpTo(unpacking, bytes).catch(() => {
    throw damaged();
  });
}
