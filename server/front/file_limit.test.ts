import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { connectionsFor, fileLimit } from './file_limit.ts';

/** Returns the file limit of a new process that may have `files` open, as these sources tell it. */
function limitOf(files: number, sources: string): string {
  const module = JSON.stringify(import.meta.resolve('./file_limit.ts'));
  const script = `import { fileLimit, limitInReport } from ${module}; console.log(fileLimit(${sources}));`;
  const command = ['-c', `ulimit -n ${files}; exec "$@"`, 'sh', process.execPath, '--input-type=module', '-e', script];
  return execFileSync('sh', command, { encoding: 'utf8' }).trim();
}

describe('the file limit', () => {
  it('is that of the process', { skip: process.platform === 'win32' }, () => {
    for (const files of [256, 257]) assert.equal(limitOf(files, ''), `${files}`);
  });

  it('is known where /proc can’t be read', { skip: process.platform === 'win32' }, () => {
    for (const files of [256, 257]) assert.equal(limitOf(files, '[() => undefined, limitInReport]'), `${files}`);
  });

  it('is the first that is told, and assumed when none is', () => {
    assert.equal(fileLimit([() => undefined, () => '4096', () => '1']), 4096);
    assert.equal(fileLimit([() => 'unlimited']), 100 * fileLimit([]));
  });

  it('leaves an eighth of the files for others, but 64 at the least and 256 at the most', () => {
    for (const [files, reserved] of [
      [511, 64],
      [512, 64],
      [520, 65],
      [2047, 255],
      [2048, 256],
      [2056, 256],
    ]) {
      assert.equal(connectionsFor(files), files - reserved, `${files}`);
    }
    for (const files of [79, 80, 81]) assert.equal(connectionsFor(files), Math.max(16, files - 64), `${files}`);
  });
});
