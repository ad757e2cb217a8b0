/** What others have made and a relay or a program of Sprites contains: `node tools/release/third_party.ts` writes server/THIRD_PARTY.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LIBRARIES } from './parts.ts';

const ROOT = join(import.meta.dirname, '../..');
export const FILE = join(ROOT, 'server/THIRD_PARTY.md');

/** The document, from the lockfile and the list of libraries. */
export function thirdParty(lockfile: string): string {
  const packages: Record<string, { dev?: boolean; license?: string }> = JSON.parse(lockfile).packages;
  const byLicence = Map.groupBy(
    Object.entries(packages).filter(([path, { dev }]) => path !== '' && !dev),
    ([, { license }]) => license ?? 'unknown',
  );
  const npm = [...byLicence]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([licence, found]) => {
      const names = new Set(
        found.map(([path]) => path.replace(/^.*node_modules\//, '').replace(/^@esbuild\/.+/, '@esbuild/*')),
      );
      return `| ${licence} | ${[...names].sort().join(', ')} |`;
    });
  const libraries = LIBRARIES.map(({ name, licence, of }) => `| ${name} | ${licence} | ${of} |`);
  return `# What others have made

Sprites is under the MIT licence, its characters under CC0. \`node tools/release/third_party.ts\` writes this file.

The relay runs with these packages of npm. Each lies in \`node_modules\` with the text of its licence; \`omggif\` and \`uqr\` are also in pages.

| licence | packages |
| --- | --- |
${npm.join('\n')}

The programs for desktops are made of these libraries, or linked with them. Their sources are in Debian's packages of these names. What a
program contains is in a file beside it, with the licences: \`licences.txt\`, or \`share/doc/sprites/copyright\`.

| library | licence | in |
| --- | --- | --- |
${libraries.join('\n')}
`;
}

if (import.meta.main) writeFileSync(FILE, thirdParty(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')));
