/** `npm run client`: builds the program for Windows and its installer into client-win/dist/. Exit 0 done, 1 failed. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildInstaller, buildWindowsClient, DIST, WINDOWS_SETUP } from './build.js';

const why = buildWindowsClient() ?? buildInstaller();
if (why) {
  console.error(`No program for Windows: ${why}.`);
  process.exit(1);
}
for (const path of [join(DIST, 'Sprites.exe'), WINDOWS_SETUP]) {
  const bytes = readFileSync(path);
  const hash = createHash('sha256').update(bytes).digest('hex');
  console.log(`${path}  ${Math.round(bytes.length / 1024)} KiB  sha256 ${hash}`);
}
console.log('The relay of this folder offers the installer on its page from now on.');
