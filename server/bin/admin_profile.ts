/** `npm run admin -- profile-list`: prints the functions of a recorded profile, or what has changed between two. It asks no relay. */
import { resolve } from 'node:path';
import { EXIT, Misused, readInput, sentenceOf } from '../../tools/command.ts';
import { listFunctions, readProfile } from '../metrics/profile_list.ts';
import type { Print } from './admin_query.ts';

/** Functions in the list. */
const LISTED = 40;

/** `folder`: relative paths begin there. Returns the exit code. Throws Misused, and Error when a file is no profile. */
export function profileListCommand(words: readonly string[], folder: string, print: Print): number {
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
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`.padStart(8);
  const listed = listFunctions(read(file), LISTED, earlier === undefined ? undefined : read(earlier));
  print(earlier === undefined ? '    self    whole' : '  before      now   change');
  for (const { name, own, whole, before } of listed) {
    const shares = before === undefined ? [own, whole] : [before, own, own - before];
    print(`${shares.map(percent).join(' ')}  ${name}`);
  }
  return EXIT.done;
}
