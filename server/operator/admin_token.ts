/**
 * The admin token: the content of a file that only the operator may read.
 *
 * Invariant: the file has a whole token or does not exist, also when the disk is full or the machine stops at the first start.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import { writeFileAtomically } from '../store/atomic_file.ts';

/** A token that can be sent in a header and cannot be guessed: 16 … 256 visible ASCII characters. The relay's own have 64. */
const TOKEN = /^[!-~]{16,256}$/;

/** What to do about an error of the system. */
const REMEDIES: Record<string, string> = {
  EACCES: 'start the relay as the owner of this file and its folder, or name another file with --admin-token-file',
  ENOSPC: 'make room on this disk, or name another file with --admin-token-file',
};

/**
 * Reads the admin token from a file. If the file is missing, or has no valid token, writes a new one (mode 0600, 256 random
 * bits). Warns when others may read the file.
 *
 * Rejects with an Error when the file can't be read or written: says which file and what to do.
 */
export async function adminToken(file: string, log: Pick<Logger, 'warn'>): Promise<string> {
  try {
    const known = read(file);
    if (known !== undefined && TOKEN.test(known)) {
      warnIfOpen(file, log);
      return known;
    }
    const token = randomBytes(32).toString('hex');
    mkdirSync(dirname(file), { recursive: true });
    await writeFileAtomically(file, Buffer.from(`${token}\n`), 0o600);
    if (known !== undefined) {
      log.warn({ file }, 'the admin token file had no token of at least 16 characters; it has a new one now');
    }
    return token;
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new Error(`admin token: ${message}; ${REMEDIES[code] ?? 'name another file with --admin-token-file'}`);
  }
}

function read(file: string): string | undefined {
  try {
    // A device such as /dev/null must not be replaced by a file.
    if (!statSync(file).isFile()) throw new Error(`${file} is not a file`);
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function warnIfOpen(file: string, log: Pick<Logger, 'warn'>): void {
  // Windows has no such modes.
  const mode = process.platform === 'win32' ? 0 : statSync(file).mode & 0o777;
  if ((mode & 0o077) === 0) return;
  const octal = mode.toString(8).padStart(4, '0');
  log.warn({ file, mode: octal }, `others may read the admin token (mode ${octal}); run: chmod 600 ${file}`);
}
