/**
 * `npm run admin -- profile-list`: prints the functions of a recorded profile, or what has changed between two, or writes both for
 * KCachegrind or as a picture. It asks no relay.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { EXIT, Misused, readInput, sentenceOf } from '../../tools/command.ts';
import { callgrindOf } from '../metrics/callgrind.ts';
import { listFunctions, readProfile } from '../metrics/profile_list.ts';
import { profilePicture } from '../metrics/profile_picture.ts';
import type { Print } from './admin_query.ts';

/** Functions in the list. */
const LISTED = 40;

/**
 * `folder`: relative paths begin there. With `output` it writes that file, which must not exist, and prints no list. Returns the exit
 * code. Throws Misused, and Error when a file is no profile.
 */
export function profileListCommand(
  words: readonly string[],
  folder: string,
  output: string | undefined,
  print: Print,
): number {
  const [file, earlier, ...more] = words;
  if (file === undefined || more.length > 0) {
    throw new Misused('profile-list: must be followed by a profile, or by a profile and an earlier one.');
  }
  const read = (path: string) => {
    try {
      return readProfile(readInput(resolve(folder, path)).toString('utf8'));
    } catch (error) {
      throw new Error(`${path} can't be listed: ${sentenceOf(error)}`);
    }
  };
  const [now, before] = [read(file), earlier === undefined ? undefined : read(earlier)];
  const listed = listFunctions(now, LISTED, before);
  if (output !== undefined) {
    if (existsSync(output)) throw new Error(`${output} exists already; name another file with --output.`);
    const isPicture = output.endsWith('.svg');
    writeFileSync(output, isPicture ? profilePicture(listed) : [...callgrindOf(now, before)].join(''), { flag: 'wx' });
    print(`Written to ${output}; ${isPicture ? 'a browser opens it' : 'KCachegrind and callgrind_annotate open it'}.`);
    return EXIT.done;
  }
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`.padStart(8);
  print(before === undefined ? '    self    whole' : '  before      now   change');
  for (const { name, own, whole, before: ownBefore } of listed) {
    const shares = ownBefore === undefined ? [own, whole] : [ownBefore, own, own - ownBefore];
    print(`${shares.map(percent).join(' ')}  ${name}`);
  }
  return EXIT.done;
}
