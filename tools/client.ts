/** `npm run client`: builds the desktop programs as people download them, into client-win/dist/. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildInstaller,
  buildLinuxPackages,
  buildWindowsClient,
  DIST,
  describeInstaller,
  LINUX_ARCHIVE,
  LINUX_PACKAGE,
  WINDOWS_SETUP,
  WINGET,
} from './build.js';
import { type Command, type CommandLine, runCommand } from './command.ts';

export const COMMAND: Command<Record<never, never>> = {
  usage: ['npm run client [-- windows | linux]'],
  about:
    'Builds the programs for desktops into client-win/dist/, and prints their sizes and hashes.\n' +
    'The relay of this folder then offers them on its page. As root on Debian, what is missing for that is installed.',
  commands: {
    windows: ['', 'the program for Windows and its installer, with MinGW-w64 and NSIS; this one without a word'],
    linux: [
      '',
      'a package for Debian and Ubuntu, and an archive for other systems: the same bytes for the same commit',
    ],
  },
  options: {},
};

function build({ words }: CommandLine<Record<never, never>>): undefined {
  const [system = 'windows'] = words;
  const files = system === 'linux' ? packedForLinux() : packedForWindows();
  for (const path of files) {
    const bytes = readFileSync(path);
    const hash = createHash('sha256').update(bytes).digest('hex');
    console.log(`${path}  ${Math.round(bytes.length / 1024)} KiB  sha256 ${hash}`);
  }
  if (system === 'windows') console.log(`${WINGET}  the manifests for winget, with the hash of the installer`);
  console.log('The relay of this folder now offers it on its page.');
}

function packedForWindows(): string[] {
  const why = buildWindowsClient() ?? buildInstaller();
  if (why) throw new Error(`The program for Windows can't be built: ${why}`);
  describeInstaller(); // again, because it may have been signed since
  return [join(DIST, 'Sprites.exe'), WINDOWS_SETUP];
}

function packedForLinux(): string[] {
  const why = buildLinuxPackages();
  if (why) throw new Error(`The packages for Linux can't be built: ${why}`);
  return [LINUX_PACKAGE, LINUX_ARCHIVE];
}

if (import.meta.main) process.exitCode = await runCommand(COMMAND, build);
