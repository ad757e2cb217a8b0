/**
 * `npm run release`: from a commit to what people download.
 *
 * Everything is made of a clone of the commit, with the version set, so the checkout is touched only when all is built: then it gets the
 * commit with the version, and the tag. The same commit makes the same bytes, whenever and in whichever folder.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Command, type CommandLine, flagOf, Misused, runCommand, text, toggle } from '../command.ts';
import { dated, sectionOf } from './changelog.ts';
import { billOfMaterials } from './parts.ts';

const OPTIONS = {
  dryRun: toggle('build everything, but neither change this checkout nor tag it; no forge is asked'),
  ciPassed: toggle('do not ask the forge (gh) whether its tests of this commit have passed'),
  certificate: text('FILE', 'sign what is for Windows, as npm run client does; its bytes then differ each time'),
  passwordFile: text('FILE', 'as of npm run client'),
  timestamp: text('URL', 'as of npm run client'),
};

export const COMMAND: Command<typeof OPTIONS> = {
  usage: ['npm run release -- VERSION [options]'],
  about:
    'Builds the release VERSION, such as 0.2.0, of the commit that is checked out into build/release/VERSION/: npm package, sources, installer\n' +
    'for Windows, packages for Linux, libraries for programs, manifests for winget, parts (CycloneDX), notes and SHA-256 sums. Then commits the\n' +
    'version, and tags it.',
  takesWords: true,
  options: OPTIONS,
};

type Line = Pick<CommandLine<typeof OPTIONS>, 'words' | 'values'>;

/** The checkout of a release, and its time. */
interface Commit {
  readonly checkout: string;
  readonly hash: string;
  /** Of the commit that was released, in s since 1970. */
  readonly epoch: number;
}

/** Builds a release of the checkout in `root`. Throws Misused, or Error with a sentence. */
export function release(root: string, { words, values: { dryRun, ciPassed, ...signature } }: Line): undefined {
  const [version = '', ...more] = words;
  if (!/^\d+\.\d+\.\d+$/.test(version) || more.length > 0) throw new Misused('Name one version, such as 0.2.0.');
  check(root, version, dryRun, ciPassed);
  const folder = join(root, 'build/release');
  for (const old of ['checkout', 'source', version]) rmSync(join(folder, old), { recursive: true, force: true });
  const commit = withVersion(root, join(folder, 'checkout'), version);
  const source = unpacked(commit, join(folder, 'source'));
  const out = join(folder, version);
  mkdirSync(out, { recursive: true });
  build(source, commit, out, version, signature);
  console.log(`Release ${version}, commit ${commit.hash}, in ${out}:\n\n${sums(out)}`);
  if (dryRun) {
    console.log('\nNothing is committed or tagged (--dry-run).');
    return undefined;
  }
  git(root, 'pull', '-q', '--ff-only', commit.checkout, 'HEAD');
  git(root, 'tag', '-a', `v${version}`, '-m', `Sprites ${version}`);
  console.log(`\nThe tag is v${version}. Publish it: git push origin HEAD v${version}`);
  return undefined;
}

/** Throws Error when this commit can't be released: the sentence says what is to be done first. */
export function check(root: string, version: string, dryRun: boolean, ciPassed: boolean): void {
  const changed = git(root, 'status', '--porcelain');
  if (changed !== '') throw new Error(`Commit or remove what has changed first:\n${changed}`);
  sectionOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version);
  if (dryRun) return;
  if (git(root, 'tag', '--list', `v${version}`) !== '') throw new Error(`There is a tag v${version} already`);
  if (!ciPassed) checkCi(root);
}

/** Throws Error unless the forge says that the tests of this commit have passed. */
function checkCi(root: string): void {
  const hash = git(root, 'rev-parse', 'HEAD');
  const words = ['run', 'list', '--workflow', 'test.yml', '--commit', hash, '--json', 'conclusion'];
  const { error, status, stdout, stderr } = spawnSync('gh', words, { cwd: root, encoding: 'utf8' });
  const known = 'if you know that its tests have passed, add --ci-passed';
  if (error || status !== 0) {
    throw new Error(`The forge can't be asked (gh: ${(error?.message ?? stderr).trim()}); ${known}`);
  }
  const runs: { conclusion: string }[] = JSON.parse(stdout);
  if (runs[0]?.conclusion !== 'success') throw new Error(`The tests of ${hash} have not passed on the forge; ${known}`);
}

/** Clones the commit, and commits the version and the date if it has not got them. The new commit is the same each time. */
function withVersion(root: string, checkout: string, version: string): Commit {
  execFileSync('git', ['clone', '-q', '--no-tags', root, checkout], { stdio: ['ignore', 'ignore', 'pipe'] });
  const epoch = Number(git(checkout, 'log', '-1', '--format=%ct'));
  const edit = (name: string, change: (content: string) => string) => {
    const path = join(checkout, name);
    writeFileSync(path, change(readFileSync(path, 'utf8')));
  };
  for (const name of ['package.json', 'package-lock.json']) edit(name, (content) => inJson(content, version));
  edit('CHANGELOG.md', (content) => dated(content, version, new Date(epoch * 1000).toISOString().slice(0, 10)));
  if (git(checkout, 'status', '--porcelain') !== '') {
    const author = ['-c', 'user.name=Sprites', '-c', 'user.email=sprites@relay.example'];
    const date = `${epoch} +0000`;
    const env = { ...process.env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
    execFileSync('git', [...author, 'commit', '-qam', `release: ${version}`], { cwd: checkout, env });
  }
  return { checkout, hash: git(checkout, 'rev-parse', 'HEAD'), epoch };
}

/** The package.json or lockfile with this version. npm writes it in the same form. */
export function inJson(content: string, version: string): string {
  const file = JSON.parse(content);
  file.version = version;
  if (file.packages) file.packages[''].version = version;
  return `${JSON.stringify(file, null, 2)}\n`;
}

/** Unpacks what git archives of the commit: the files of the release, which know their commit. */
function unpacked({ checkout }: Commit, source: string): string {
  mkdirSync(source, { recursive: true });
  const archive = execFileSync('git', ['archive', 'HEAD'], { cwd: checkout, maxBuffer: 1 << 30 });
  execFileSync('tar', ['-x', '-C', source], { input: archive });
  return source;
}

function build(
  source: string,
  { checkout, epoch }: Commit,
  out: string,
  version: string,
  { certificate, passwordFile, timestamp }: Omit<Line['values'], 'dryRun' | 'ciPassed'>,
): void {
  process.umask(0o022); // the modes of files in packages
  const map = `-ffile-prefix-map=${source}=.`;
  const flags = { CFLAGS: map, CXXFLAGS: map, SOURCE_DATE_EPOCH: String(epoch), TZ: 'UTC', LC_ALL: 'C.UTF-8' };
  const env = { ...process.env, ...flags };
  const run = (program: string, ...args: string[]) =>
    execFileSync(program, args, { cwd: source, env, stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 64 << 20 });
  const dist = join(source, 'client-win/dist');
  const given = {
    certificate: certificate && resolve(certificate),
    passwordFile: passwordFile && resolve(passwordFile),
    timestamp,
  };
  const signing = Object.entries(given).flatMap(([name, value]) => (value ? [`--${flagOf(name)}`, value] : []));
  const bill = billOfMaterials(source, epoch); // first, because an npm before version 10 can't
  run(process.execPath, 'tools/client.ts', 'windows', ...signing);
  run(process.execPath, 'tools/client.ts', 'linux');
  // The relay of the package gives its visitors the source (server/http/source_archive.ts).
  const archive = ['archive', '--format=tar.gz', `--prefix=sprites-${version}/`, 'HEAD'];
  const packed = execFileSync('git', archive, { cwd: checkout, maxBuffer: 1 << 30 });
  for (const path of [join(source, 'source.tar.gz'), join(out, `sprites-${version}-source.tar.gz`)])
    writeFileSync(path, packed);
  run('npm', 'pack', '--silent', '--ignore-scripts', '--pack-destination', out);
  const packageFile = readdirSync(out).find((name) => name.endsWith('.tgz')) as string; // with the scope, if npm's name has one
  renameSync(join(out, packageFile), join(out, `sprites-${version}.tgz`));
  run(process.execPath, 'server/libraries/pack.ts', '--out', out);
  for (const name of readdirSync(dist).filter((one) => /\.(?:exe|deb|xz)$/.test(one))) {
    copyFileSync(join(dist, name), join(out, name));
  }
  // Manifests for winget, and what minidumps are read with.
  for (const folder of ['winget', 'symbols']) {
    for (const name of readdirSync(join(dist, folder))) copyFileSync(join(dist, folder, name), join(out, name));
  }
  writeFileSync(join(out, `sprites-${version}.cdx.json`), bill);
  writeFileSync(join(out, 'NOTES.md'), sectionOf(readFileSync(join(source, 'CHANGELOG.md'), 'utf8'), version));
}

/** Writes SHA256SUMS of all files, and returns a table of them with their sizes. */
function sums(out: string): string {
  const files = readdirSync(out).sort();
  const rows = files.map((name) => {
    const bytes = readFileSync(join(out, name));
    return { name, size: bytes.length, sum: createHash('sha256').update(bytes).digest('hex') };
  });
  writeFileSync(join(out, 'SHA256SUMS'), rows.map(({ name, sum }) => `${sum}  ${name}\n`).join(''));
  return rows.map(({ name, size, sum }) => `  ${sum}  ${String(size).padStart(9)}  ${name}`).join('\n');
}

function git(root: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

if (import.meta.main) {
  process.exitCode = await runCommand(COMMAND, (line) => release(join(import.meta.dirname, '../..'), line));
}
