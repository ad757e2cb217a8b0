/** `npm run client`: builds the program for Windows and its installer into client-win/dist/. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildInstaller, buildWindowsClient, DIST, describeInstaller, WINDOWS_SETUP, WINGET } from './build.js';
import { type Command, runCommand } from './command.ts';

export const COMMAND: Command<Record<never, never>> = {
  usage: ['npm run client'],
  about:
    'Builds the program for Windows and its installer into client-win/dist/, and prints their sizes and hashes.\n' +
    'The relay of this folder then offers the installer on its page. It needs MinGW-w64 and NSIS; as root on Debian they are installed.',
  options: {},
};

function build(): undefined {
  const why = buildWindowsClient() ?? buildInstaller();
  if (why) throw new Error(`The program for Windows can't be built: ${why}`);
  describeInstaller(); // again, because it may have been signed since
  for (const path of [join(DIST, 'Sprites.exe'), WINDOWS_SETUP]) {
    const bytes = readFileSync(path);
    const hash = createHash('sha256').update(bytes).digest('hex');
    console.log(`${path}  ${Math.round(bytes.length / 1024)} KiB  sha256 ${hash}`);
  }
  console.log(`${WINGET}  the manifests for winget, with the hash of the installer`);
  console.log('The relay of this folder now offers the installer on its page.');
}

if (import.meta.main) process.exitCode = await runCommand(COMMAND, build);
