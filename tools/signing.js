/**
 * Signs programs for Windows with a certificate for code signing, on any machine that has osslsigncode.
 *
 * A shell script does it, because the installer's compiler starts it too, for the uninstaller. The password stays in its file.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ensurePrograms, installHint } from './machine.js';

const PACKAGES = ['osslsigncode'];

const quoted = (word) => `'${word.replaceAll("'", "'\\''")}'`;

/**
 * Writes the script to `path`; it signs the file that it is given. Returns undefined, or why nothing can be signed here.
 *
 * Shape   certificate: a PKCS#12 file; passwordFile and timestamp, the URL of an authority, may be undefined.
 */
export function writeSigner(path, { certificate, passwordFile, timestamp }) {
  if (!ensurePrograms(PACKAGES, PACKAGES)) return `osslsigncode is missing: ${installHint(PACKAGES)}`;
  const options = [
    ...['-h', 'sha256', '-n', 'Sprites', '-pkcs12', resolve(certificate)],
    ...(passwordFile === undefined ? ['-pass', ''] : ['-readpass', resolve(passwordFile)]),
    ...(timestamp === undefined ? [] : ['-ts', timestamp]),
  ];
  mkdirSync(dirname(path), { recursive: true });
  const sign = `osslsigncode sign ${options.map(quoted).join(' ')} -in "$1" -out "$1.signed"`;
  writeFileSync(path, `${sign} && mv "$1.signed" "$1"\n`, { mode: 0o700 });
  return undefined;
}
