/** `npm run client`: builds the program for Windows and its installer into client-win/dist/. Exit 0 done, 1 failed. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { buildInstaller, buildWindowsClient, DIST, WINDOWS_SETUP } from './build.js';

const why = buildWindowsClient() ?? buildInstaller();
if (why) {
  console.error(`No program for Windows: ${why}.`);
  process.exit(1);
}
for (const path of [join(DIST, 'Sprites.exe'), WINDOWS_SETUP]) {
  console.log(`${path} (${Math.round(statSync(path).size / 1024)} KiB)`);
}
console.log('A relay that is started now offers the installer on its page.');
