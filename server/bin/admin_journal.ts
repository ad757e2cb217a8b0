/** `npm run admin -- journal`: reads the journal in the data directory. It asks no relay, so it works when none can start. */
import { closeSync, existsSync, openSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { EXIT, Misused, makeFolder } from '../../tools/command.ts';
import { FolderDisk } from '../journal/disk.ts';
import { checkJournal, exportJournal } from '../journal/inspect.ts';
import { JOURNAL_FOLDER } from '../roles/journaling.ts';
import { counted, type Print } from './admin_query.ts';

/** Runs `check` or `export`. Returns the exit code: failed when a relay would not start. Throws Misused. */
export function journalCommand(
  words: readonly string[],
  data: string,
  output: string | undefined,
  print: Print,
): number {
  const [what, ...more] = words;
  if ((what !== 'check' && what !== 'export') || more.length > 0) {
    throw new Misused(`journal: must be followed by check or export, not ${JSON.stringify(words.join(' '))}.`);
  }
  const folder = join(data, JOURNAL_FOLDER);
  if (!existsSync(folder)) throw new Error(`There is no journal at ${folder}; --data names its directory.`);
  return what === 'check' ? check(folder, print) : exportTo(folder, output ?? join(data, 'journal.jsonl'), print);
}

function check(folder: string, print: Print): number {
  const { segments, refusal, desktops, worlds, sprites, tornBytes } = checkJournal(new FolderDisk(folder));
  for (const { name, bytes, frames, problems } of segments) {
    print(`${name} ${String(bytes).padStart(10)} bytes ${String(frames).padStart(8)} frames`);
    for (const problem of problems) print(`  ${problem}`);
  }
  if (refusal !== undefined) {
    print(refusal);
    return EXIT.failed;
  }
  if (tornBytes > 0) print(`The last ${tornBytes} bytes are a turn that was not written whole; a relay cuts them off.`);
  print(
    `A relay can start with it: ${counted(desktops, 'desktop')} in ${counted(worlds, 'world')}, ${counted(sprites, 'sprite')} waiting.`,
  );
  return EXIT.done;
}

function exportTo(folder: string, file: string, print: Print): number {
  if (existsSync(file)) throw new Error(`${file} exists already; name another file with --output.`);
  makeFolder(dirname(file), '--output', 0o700);
  const to = openSync(file, 'wx', 0o600);
  try {
    const lines = exportJournal(new FolderDisk(folder), (line) => void writeSync(to, line));
    print(`Written to ${file}: ${lines} facts, without tokens and invitations. Names and private worlds are in it.`);
  } finally {
    closeSync(to);
  }
  return EXIT.done;
}
