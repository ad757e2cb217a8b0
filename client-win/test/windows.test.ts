/** The Windows program and its installer as files. wine.test.ts tests what they do. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { buildInstaller, buildWindowsClient, DIST, WINDOWS_CLIENT, WINDOWS_SETUP } from '../../tools/build.js';

const OBJDUMP = 'x86_64-w64-mingw32-objdump';

/** Libraries that are part of Windows 10. */
const WINDOWS_LIBRARY =
  /^(ADVAPI32|bcrypt|COMCTL32|COMDLG32|dwmapi|GDI32|IPHLPAPI|KERNEL32|msvcrt|ole32|OLEAUT32|SHELL32|SHLWAPI|SHCORE|USER32|WINHTTP|WINMM|windowscodecs|IMM32|VERSION|api-ms-win-[a-z0-9-]+)\.(dll|drv)$/i;

const skip = buildWindowsClient() ?? false;
const skipInstaller = skip || (buildInstaller() ?? false);

describe('windows program', () => {
  it('needs only libraries that are part of Windows', { skip }, () => {
    const headers = execFileSync(OBJDUMP, ['-p', WINDOWS_CLIENT], { encoding: 'utf8', maxBuffer: 64 << 20 });
    const libraries = [...headers.matchAll(/DLL Name: (\S+)/g)].map(([, name]) => name);
    assert.ok(libraries.length > 5, headers.slice(0, 500));
    assert.deepEqual(
      libraries.filter((name) => !WINDOWS_LIBRARY.test(name)),
      [],
    );
  });

  it('is a 64-bit program that opens no console and needs no administrator rights', { skip }, () => {
    const headers = execFileSync(OBJDUMP, ['-x', WINDOWS_CLIENT], { encoding: 'utf8', maxBuffer: 64 << 20 });
    assert.match(headers, /file format pei-x86-64/);
    assert.match(headers, /Subsystem\s+00000002\s+\(Windows GUI\)/);
    assert.match(readFileSync(WINDOWS_CLIENT, 'latin1'), /requestedExecutionLevel level="asInvoker"/);
  });

  it('has random addresses, data that can not run, and canaries on the stack', { skip }, () => {
    const headers = execFileSync(OBJDUMP, ['-p', WINDOWS_CLIENT], { encoding: 'utf8', maxBuffer: 64 << 20 });
    for (const flag of ['HIGH_ENTROPY_VA', 'DYNAMIC_BASE', 'NX_COMPAT']) assert.ok(headers.includes(flag), flag);
    assert.match(readFileSync(WINDOWS_CLIENT, 'latin1'), /stack smashing detected/);
  });

  it('has an installer, which is a Windows program too', { skip: skipInstaller }, () => {
    const file = openSync(WINDOWS_SETUP, 'r');
    const magic = Buffer.alloc(2);
    readSync(file, magic, 0, 2, 0);
    closeSync(file);
    assert.equal(magic.toString(), 'MZ');
  });

  it('is copied to dist/ with the installer by `npm run client`, which prints path, size and hash of both', {
    skip: skipInstaller,
  }, () => {
    const launcher = join(import.meta.dirname, '../../tools/launch.js');
    const output = execFileSync(process.execPath, [launcher, 'client'], { encoding: 'utf8' });
    const program = join(DIST, 'Sprites.exe');
    assert.deepEqual(readFileSync(program), readFileSync(WINDOWS_CLIENT));
    for (const path of [program, WINDOWS_SETUP]) {
      const bytes = readFileSync(path);
      const hash = createHash('sha256').update(bytes).digest('hex');
      assert.ok(output.includes(`${path}  ${Math.round(bytes.length / 1024)} KiB  sha256 ${hash}`), output);
    }
  });
});
