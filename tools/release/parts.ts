/**
 * The bill of materials: what a release is made of, as CycloneDX. npm knows the packages of the lockfile; the libraries in C and C++, which
 * come from Debian, are named here. Nothing in it changes from build to build.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';

/** A library in C or C++ that a program of the release is made of or linked with. */
interface Library {
  /** The package of Debian that has its version. */
  readonly debian: string;
  readonly name: string;
  /** An SPDX expression. */
  readonly licence: string;
  /** What of the release has it. */
  readonly of: 'both programs' | 'the program for Windows' | 'the program for Linux';
}

export const LIBRARIES: readonly Library[] = [
  { debian: 'nlohmann-json3-dev', name: 'nlohmann-json', licence: 'MIT', of: 'both programs' },
  { debian: 'libstb-dev', name: 'stb', licence: 'MIT OR Unlicense', of: 'both programs' },
  {
    debian: 'g++-mingw-w64-x86-64-posix',
    name: 'libstdc++ and libgcc',
    licence: 'GPL-3.0-or-later WITH GCC-exception-3.1',
    of: 'the program for Windows',
  },
  {
    debian: 'mingw-w64-x86-64-dev',
    name: 'mingw-w64 and winpthreads',
    licence: 'ZPL-2.1 AND MIT',
    of: 'the program for Windows',
  },
  { debian: 'nsis', name: 'NSIS', licence: 'Zlib', of: 'the program for Windows' },
  { debian: 'libturbojpeg0-dev', name: 'libjpeg-turbo', licence: 'BSD-3-Clause', of: 'the program for Linux' },
  { debian: 'libcurl4-openssl-dev', name: 'libcurl', licence: 'curl', of: 'the program for Linux' },
  { debian: 'libssl-dev', name: 'OpenSSL', licence: 'Apache-2.0', of: 'the program for Linux' },
  { debian: 'libgtk-3-dev', name: 'GTK', licence: 'LGPL-2.1-or-later', of: 'the program for Linux' },
  { debian: 'libxcb1-dev', name: 'libxcb', licence: 'MIT', of: 'the program for Linux' },
  { debian: 'libasound2-dev', name: 'ALSA', licence: 'LGPL-2.1-or-later', of: 'the program for Linux' },
];

interface Bill {
  serialNumber: string;
  metadata: { timestamp: string; component: { name: string } };
  components: object[];
}

/** The bill of the checkout in `root`, as JSON. `epoch`: its time, in s since 1970. Throws Error when npm can't make one. */
export function billOfMaterials(root: string, epoch: number): string {
  const args = ['sbom', '--sbom-format=cyclonedx', '--omit=dev', '--package-lock-only'];
  const bill: Bill = JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20 }));
  return writeBill(bill, epoch, debianVersions());
}

/** Adds the libraries, and replaces what differs each time that npm writes it: the serial number, the time and the name of the folder. */
export function writeBill(bill: Bill, epoch: number, versions: ReadonlyMap<string, string>): string {
  const libraries = LIBRARIES.map(({ debian, name, licence, of }) => {
    const version = versions.get(debian);
    const properties = [{ name: 'sprites:part', value: of }];
    const about = { type: 'library', name, ...(version && { version }), licenses: [{ expression: licence }] };
    return {
      ...about,
      purl: `pkg:deb/debian/${debian}${version ? `@${encodeURIComponent(version)}` : ''}`,
      properties,
    };
  });
  const { serialNumber: _, metadata, components, ...rest } = bill;
  const timestamp = new Date(epoch * 1000).toISOString();
  const about = { ...metadata, timestamp, component: { ...metadata.component, name: 'sprites' } };
  const whole = { ...rest, metadata: about, components: [...components, ...libraries] };
  const hash = createHash('sha256').update(JSON.stringify(whole)).digest('hex');
  const uuid = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(hash) as RegExpExecArray;
  const serialNumber = `urn:uuid:${uuid[1]}-${uuid[2]}-5${uuid[3]}-8${uuid[4]}-${uuid[5]}`; // a UUID of version 5: made of a hash
  return `${JSON.stringify({ serialNumber, ...whole }, null, 2)}\n`;
}

/** The versions of the installed packages, by name; none on a system without dpkg. */
function debianVersions(): Map<string, string> {
  if (!existsSync('/usr/bin/dpkg-query')) return new Map();
  const names = LIBRARIES.map(({ debian }) => debian);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholders are dpkg's.
  const { stdout } = spawnSync('dpkg-query', ['-W', '-f', '${Package} ${Version}\n', ...names], { encoding: 'utf8' });
  return new Map(stdout.split('\n').map((line) => line.split(' ') as [string, string]));
}
