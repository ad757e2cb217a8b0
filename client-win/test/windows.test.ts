/** The Windows program and its installer as files. wine.test.ts tests what they do. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import {
  buildInstaller,
  buildWindowsClient,
  DIST,
  describeInstaller,
  installerAddress,
  linkTime,
  WINGET as MADE,
  WINDOWS_CLIENT,
  WINDOWS_LATEST,
  WINDOWS_SETUP,
} from '../../tools/build.js';
import { writeSigner } from '../../tools/signing.js';
import { VERSION } from '../../tools/version.js';

const SOURCES = join(import.meta.dirname, '..');
const WINGET = join(SOURCES, 'installer', 'winget');

const OBJDUMP = 'x86_64-w64-mingw32-objdump';

/** Libraries that are part of Windows 10. */
const WINDOWS_LIBRARY =
  /^(ADVAPI32|bcrypt|COMCTL32|COMDLG32|dwmapi|GDI32|IPHLPAPI|KERNEL32|msvcrt|ole32|OLEAUT32|SHELL32|SHLWAPI|SHCORE|USER32|WINHTTP|WINMM|WTSAPI32|windowscodecs|IMM32|VERSION|api-ms-win-[a-z0-9-]+)\.(dll|drv)$/i;

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

  it('has the version of the package in its details and in its manifest', { skip }, () => {
    const bytes = readFileSync(WINDOWS_CLIENT);
    assert.ok(bytes.includes(Buffer.from(`ProductVersion\0${VERSION}`, 'utf16le')));
    assert.ok(bytes.includes(`name="Sprites" version="${VERSION}.0"`));
  });

  it('has random addresses, data that can not run, and canaries on the stack', { skip }, () => {
    const headers = execFileSync(OBJDUMP, ['-p', WINDOWS_CLIENT], { encoding: 'utf8', maxBuffer: 64 << 20 });
    for (const flag of ['HIGH_ENTROPY_VA', 'DYNAMIC_BASE', 'NX_COMPAT']) assert.ok(headers.includes(flag), flag);
    assert.match(readFileSync(WINDOWS_CLIENT, 'latin1'), /stack smashing detected/);
  });

  it('has dialogs that fit a screen of 1080 px at 200 %, and with the task bar', () => {
    const DIALOG_UNITS_MAX = 245; // (1080 - 96 - 60) px at 200 %, where a unit of 9-point Segoe UI is 3.75 px high
    const dialogs = [...readFileSync(join(SOURCES, 'win32', 'sprites.rc'), 'utf8').matchAll(/(\w+) DIALOGEX (.*)/g)];
    assert.ok(dialogs.length >= 5);
    for (const [, name, place] of dialogs) assert.ok(Number(place.split(',')[3]) <= DIALOG_UNITS_MAX, name);
  });

  it('can be signed with a certificate, here one of its own, and keeps the time by which its symbols are found', {
    skip,
  }, (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'sprites-signing-'));
    context.after(() => rmSync(folder, { recursive: true }));
    const at = (name: string) => join(folder, name);
    const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' });
    const key = ['-newkey', 'rsa:2048', '-nodes', '-keyout', at('key.pem'), '-out', at('certificate.pem')];
    openssl('req', '-x509', '-subj', '/CN=Ada', '-addext', 'extendedKeyUsage=codeSigning', ...key);
    writeFileSync(at("pass'word"), 'secret');
    const container = ['-in', at('certificate.pem'), '-inkey', at('key.pem'), '-out', at('ada.p12')];
    openssl('pkcs12', '-export', '-passout', `file:${at("pass'word")}`, ...container);
    const why = writeSigner(at('sign.sh'), {
      certificate: at('ada.p12'),
      passwordFile: at("pass'word"),
      timestamp: undefined,
    });
    if (why !== undefined) return context.skip(why);
    copyFileSync(WINDOWS_CLIENT, at('Sprites.exe'));
    execFileSync('sh', [at('sign.sh'), at('Sprites.exe')], { stdio: 'pipe' });
    const trusted = ['-CAfile', at('certificate.pem'), '-in', at('Sprites.exe')];
    assert.match(
      execFileSync('osslsigncode', ['verify', ...trusted], { encoding: 'utf8' }),
      /Signature verification: ok/,
    );
    assert.equal(linkTime(readFileSync(at('Sprites.exe'))), linkTime(readFileSync(WINDOWS_CLIENT)));
  });

  it('has an installer, which is a Windows program too', { skip: skipInstaller }, () => {
    const file = openSync(WINDOWS_SETUP, 'r');
    const magic = Buffer.alloc(2);
    readSync(file, magic, 0, 2, 0);
    closeSync(file);
    assert.equal(magic.toString(), 'MZ');
  });

  it('has about its installer what the relay tells programs: version, hash and size', { skip: skipInstaller }, () => {
    const bytes = readFileSync(WINDOWS_SETUP);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    assert.deepEqual(JSON.parse(readFileSync(WINDOWS_LATEST, 'utf8')), {
      version: VERSION,
      sha256,
      size: bytes.length,
    });
  });

  it('has winget manifests in dist/ with the hash of its installer, also after that was signed', {
    skip: skipInstaller,
  }, () => {
    const bytes = readFileSync(WINDOWS_SETUP);
    const manifest = () => parse(readFileSync(join(MADE, 'Sprites.Sprites.installer.yaml'), 'utf8'));
    const hashOf = (file: Buffer) => createHash('sha256').update(file).digest('hex').toUpperCase();
    try {
      const signed = join(DIST, 'signed.part');
      writeFileSync(signed, Buffer.concat([bytes, Buffer.from('a signature')]));
      describeInstaller(signed);
      assert.equal(manifest().Installers[0].InstallerSha256, hashOf(readFileSync(signed)));
      rmSync(signed);
    } finally {
      describeInstaller();
    }
    assert.deepEqual(readdirSync(MADE), readdirSync(WINGET));
    assert.equal(manifest().Installers[0].InstallerSha256, hashOf(bytes));
    for (const name of readdirSync(MADE)) {
      const { PackageIdentifier, PackageVersion } = parse(readFileSync(join(MADE, name), 'utf8'));
      assert.deepEqual([PackageIdentifier, PackageVersion], ['Sprites.Sprites', VERSION], name);
    }
  });

  it('has in winget manifests the address of the installer in the release, once package.json has a repository', () => {
    const expected = 'https://forge.example/ann/sprites/releases/download/v0.3.0/Sprites-Setup.exe';
    for (const repository of [
      'https://forge.example/ann/sprites',
      { url: 'git+https://forge.example/ann/sprites.git' },
    ])
      assert.equal(installerAddress({ version: '0.3.0', repository }), expected);
    assert.equal(installerAddress({ version: '0.3.0' }), undefined);
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

describe('windows program, its sources', () => {
  it('has winget manifests of the three kinds, which name the scheme and the file type that the installer registers', () => {
    const manifests = readdirSync(WINGET).map((name) => parse(readFileSync(join(WINGET, name), 'utf8')));
    assert.deepEqual(manifests.map(({ ManifestType }) => ManifestType).sort(), [
      'defaultLocale',
      'installer',
      'version',
    ]);
    const installer = manifests.find(({ ManifestType }) => ManifestType === 'installer');
    assert.deepEqual([installer.Protocols, installer.FileExtensions], [['sprites'], ['spr']]);
    assert.deepEqual([installer.Scope, installer.InstallerSwitches.Silent], ['user', '/S']);
    assert.match(installer.Installers[0].InstallerSha256, /^[0-9A-Fa-f]{64}$/);
  });

  it('has no words in its dialogs, because they come from the table of texts', () => {
    const resources = readFileSync(join(SOURCES, 'win32/sprites.rc'), 'utf8');
    const dialogs = [...resources.matchAll(/^(IDD_\w+) DIALOGEX[\s\S]*?^END$/gm)];
    const names = dialogs.map(([, name]) => name).sort();
    assert.deepEqual(names, ['IDD_COMPANY', 'IDD_HEARD', 'IDD_ONE_FIELD', 'IDD_SAY', 'IDD_SETTINGS', 'IDD_TWO_FIELDS']);
    for (const [dialog] of dialogs) {
      assert.match(dialog, /^FONT 9, "Segoe UI"/m);
      const words = [...dialog.matchAll(/^ {2}\w+ "([^"]+)"/gm)].map(([, text]) => text);
      assert.deepEqual(
        words.filter((text) => text !== 'MiB' && text !== 'OK'),
        [],
      );
    }
  });

  it('has an installer with every text in English and in German', () => {
    const script = readFileSync(join(SOURCES, 'installer/sprites.nsi'), 'utf8');
    const texts = new Map<string, string[]>();
    for (const [, name, language] of script.matchAll(/^LangString (\w+) \$\{LANG_(\w+)\} ".+"$/gm)) {
      texts.set(name, [...(texts.get(name) ?? []), language]);
    }
    assert.ok(texts.size > 10);
    for (const [name, languages] of texts) assert.deepEqual(languages, ['ENGLISH', 'GERMAN'], name);
    const used = [...script.matchAll(/\$\(([A-Z_]+)\)/g)].map(([, name]) => name);
    assert.deepEqual(
      used.filter((name) => !texts.has(name)),
      [],
    );
  });
});
