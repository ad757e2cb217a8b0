/** `npm run client`: builds the desktop programs as people download them, into client-win/dist/, and reads minidumps. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import {
  buildInstaller,
  buildLinuxPackages,
  buildWindowsClient,
  DIST,
  describeInstaller,
  LINUX_ARCHIVE,
  LINUX_PACKAGE,
  SYMBOLS,
  symbolsOf,
  WINDOWS_SETUP,
  WINGET,
} from './build.js';
import {
  type Command,
  type CommandLine,
  EXIT,
  goingWith,
  Misused,
  readInput,
  runCommand,
  text,
  type Values,
} from './command.ts';
import { callsIn, nameOf, readMinidump } from './minidump.ts';
import { writeSigner } from './signing.js';

const PROGRAM = 'Sprites.exe';
const SIGNER = join(import.meta.dirname, '..', 'build', 'sign.sh');
const ADDR2LINE = 'x86_64-w64-mingw32-addr2line';
const CALLS_MAX = 60; // the newest say most

const OPTIONS = {
  certificate: text(
    'FILE',
    'sign the program, its uninstaller and its installer with this certificate and key (PKCS#12)',
  ),
  passwordFile: text('FILE', 'the file with the password of the certificate'),
  timestamp: text(
    'URL',
    'have the signature confirmed by this authority (RFC 3161), so that it outlives the certificate',
  ),
};

export const COMMAND: Command<typeof OPTIONS> = {
  usage: ['npm run client -- [windows | linux] [options]', 'npm run client -- symbols DUMP'],
  about:
    'Builds the programs for desktops into client-win/dist/, and prints their sizes and hashes.\n' +
    'The relay of this folder then offers them on its page. As root on Debian, what is missing for that is installed.',
  commands: {
    windows: ['', 'the program for Windows and its installer, with MinGW-w64 and NSIS; this one without a word'],
    linux: ['', 'a package for Debian and Ubuntu, and an archive for other systems'],
    symbols: ['DUMP', 'print where the program for Windows was when it left this minidump'],
  },
  options: goingWith(['windows'], OPTIONS),
};

function build(system: string, signature: Values<typeof OPTIONS>): void {
  const files = system === 'linux' ? packedForLinux() : packedForWindows(signature);
  for (const path of files) {
    const bytes = readFileSync(path);
    const hash = createHash('sha256').update(bytes).digest('hex');
    console.log(`${path}  ${Math.round(bytes.length / 1024)} KiB  sha256 ${hash}`);
  }
  if (system === 'windows') {
    console.log(`${WINGET}  the manifests for winget, with the hash of the installer`);
    console.log(`${SYMBOLS}  what minidumps of this build are read with: keep it if you publish the build`);
  }
  console.log('The relay of this folder now offers it on its page.');
}

function packedForWindows({ certificate, passwordFile, timestamp }: Values<typeof OPTIONS>): string[] {
  if (certificate === undefined && (passwordFile ?? timestamp) !== undefined) {
    throw new Misused('--password-file and --timestamp go with --certificate.');
  }
  const whyUnsigned = certificate && writeSigner(SIGNER, { certificate, passwordFile, timestamp });
  const why = whyUnsigned || (buildWindowsClient() ?? buildInstaller(certificate && SIGNER));
  if (why) throw new Error(`The program for Windows can't be built: ${why}`);
  describeInstaller(); // again, because it may have been signed since
  return [join(DIST, PROGRAM), WINDOWS_SETUP];
}

function packedForLinux(): string[] {
  const why = buildLinuxPackages();
  if (why) throw new Error(`The packages for Linux can't be built: ${why}`);
  return [LINUX_PACKAGE, LINUX_ARCHIVE];
}

/** The whole program that was linked at this time. Throws if it was not kept. */
function findKept(time: number): Buffer {
  const path = join(SYMBOLS, symbolsOf(time));
  if (!existsSync(path)) throw new Error(`${path} is missing: the whole program of the build that crashed.`);
  return gunzipSync(readFileSync(path));
}

/** What a minidump of a program of this name tells, in lines. `find` returns the whole program that was linked at a time. */
export function explain(bytes: Buffer, name: string, find: (time: number) => Buffer): string {
  const dump = readMinidump(bytes);
  const own = dump.modules.find((module) => module.name.toLowerCase() === name.toLowerCase());
  if (own === undefined) throw new Error(`It is the dump of another program, not of ${name}.`);
  const program = find(own.time);
  const folder = mkdtempSync(join(tmpdir(), 'sprites-symbols-'));
  try {
    const path = join(folder, name);
    writeFileSync(path, program);
    const addresses = callsIn(dump, own, program).slice(0, CALLS_MAX);
    const given = addresses.map((address) => `0x${address.toString(16)}`);
    const lines = execFileSync(ADDR2LINE, ['-e', path, '-f', '-C', '-p', '-s', ...given], { encoding: 'utf8' });
    return `${nameOf(dump.code)}\n${lines}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function main({ words: [command = 'windows', ...dumps], values }: CommandLine<typeof OPTIONS>): number {
  if (command !== 'symbols') {
    build(command, values);
  } else {
    if (dumps.length !== 1) throw new Misused(`symbols: name one minidump, not ${dumps.length}. See --help.`);
    process.stdout.write(explain(readInput(dumps[0]), PROGRAM, findKept));
  }
  return EXIT.done;
}

if (import.meta.main) process.exitCode = await runCommand(COMMAND, main);
