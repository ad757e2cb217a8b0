/**
 * The long suites that have passed, each with a hash of the code that it passed with. They are kept in a file of the repository,
 * so that a suite runs again only when its code has changed. Invariant: what has uncommitted changes counts as changed.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Documents and their pictures: no long suite depends on them. */
const DOCUMENTS = ['md', 'png', 'svg'];

export class PassedSuites {
  readonly #root: string;
  readonly #path: string;
  readonly #passed: Record<string, string>;

  /** `root`: the checkout. `path`: the file, in it. */
  constructor(root: string, path: string) {
    this.#root = root;
    this.#path = join(root, path);
    this.#passed = existsSync(this.#path) ? JSON.parse(readFileSync(this.#path, 'utf8')) : {};
  }

  /** Whether a suite has passed with the code that is there now. */
  has(suite: string): boolean {
    const code = this.#codeOf(suite);
    return code !== undefined && this.#passed[suite] === code;
  }

  /** Keeps that suites have passed with the code that is there now, and writes the file. */
  add(suites: readonly string[]): void {
    for (const suite of suites) {
      const code = this.#codeOf(suite);
      if (code !== undefined) this.#passed[suite] = code;
    }
    const sorted = Object.fromEntries(Object.entries(this.#passed).sort(([a], [b]) => (a < b ? -1 : 1)));
    writeFileSync(this.#path, `${JSON.stringify(sorted, null, 2)}\n`);
  }

  /** A hash of the code of a suite's folder and of the pinned Node. Undefined without git, or with uncommitted changes. */
  #codeOf(suite: string): string | undefined {
    const folder = folderOf(suite);
    const patterns = DOCUMENTS.flatMap((kind) => [`**/*.${kind}`, `*.${kind}`]);
    const paths = ['--', folder, ...patterns.map((pattern) => `:(exclude)${folder}/${pattern}`)];
    const git = (...args: string[]) => spawnSync('git', [...args, ...paths], { cwd: this.#root, encoding: 'utf8' });
    const status = git('status', '--porcelain');
    const files = git('ls-files', '--stage');
    if (status.status !== 0 || status.stdout !== '' || files.status !== 0) return undefined;
    const { optionalDependencies } = JSON.parse(readFileSync(join(this.#root, 'package.json'), 'utf8'));
    return createHash('sha256').update(files.stdout).update(JSON.stringify(optionalDependencies)).digest('hex');
  }
}

/** The folder that a long suite concerns: its own, or the one above when it lies in `test`. */
function folderOf(suite: string): string {
  const folder = dirname(suite);
  return basename(folder) === 'test' ? dirname(folder) : folder;
}
