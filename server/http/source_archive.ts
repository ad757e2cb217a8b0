/**
 * The source of the version that runs, as an archive: git makes it in a checkout, and a package of a release brings it along.
 *
 * Only files of the commit can be in it: git reads its objects, not the folder.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The archive in a package: `npm run release` puts it there. */
const PACKED = 'source.tar.gz';

const BYTES_MAX = 64 << 20; // some ten times the archive

/**
 * The archive of a commit of the project in `root`, with its files in a folder of that name.
 *
 * Shape   undefined when the project is neither a checkout nor a package of a release.
 * Cost    git takes half a second of a core.
 * Throws  Error when git can't make it.
 */
export async function sourceArchive(root: string, commit: string, folder: string): Promise<Buffer | undefined> {
  if (existsSync(join(root, '.git'))) {
    // The user of a service does not own the checkout.
    const args = ['-c', 'safe.directory=*', 'archive', '--format=tar.gz', `--prefix=${folder}/`, commit];
    return (await promisify(execFile)('git', args, { cwd: root, encoding: 'buffer', maxBuffer: BYTES_MAX })).stdout;
  }
  return existsSync(join(root, PACKED)) ? await readFile(join(root, PACKED)) : undefined;
}
