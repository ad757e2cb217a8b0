import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FOLDER_DEPTH_MAX, filesIn } from './pack_folder.ts';
import { PACK_ENTRIES_MAX } from './zip.ts';

/** What is in a folder: the text of a file, or another folder. */
interface Content {
  [name: string]: string | Content;
}

/** A folder as browsers give it: its reader returns a few entries at a time. */
function folderOf(name: string, content: Content): FileSystemDirectoryEntry {
  const entries = Object.entries(content).map(([own, of]) =>
    typeof of === 'string'
      ? { name: own, isFile: true, isDirectory: false, file: (give: (file: File) => void) => give(new File([of], own)) }
      : folderOf(own, of),
  );
  const createReader = () => {
    const left = [...entries];
    return { readEntries: (give: (some: unknown[]) => void) => give(left.splice(0, 100)) };
  };
  return { name, isFile: false, isDirectory: true, createReader } as unknown as FileSystemDirectoryEntry;
}

const namesIn = async (content: Content) => (await filesIn(folderOf('Cat', content))).map(({ name }) => name).sort();

/** A folder in so many others. */
const nested = (depth: number, inside: Content): Content => (depth === 0 ? inside : { a: nested(depth - 1, inside) });

describe('the files of a dropped folder', () => {
  it('are its pictures and actions, each with its path', async () => {
    const names = await namesIn({
      conf: { 'actions.xml': '<a/>' },
      img: { 'shime1.PNG': 'one' },
      'readme.txt': 'Dear Grace,',
    });
    assert.deepEqual(names, ['Cat/conf/actions.xml', 'Cat/img/shime1.PNG']);
  });

  it('are those down to FOLDER_DEPTH_MAX', async () => {
    const file = { 'actions.xml': '' };
    assert.equal((await namesIn(nested(FOLDER_DEPTH_MAX - 1, file))).length, 1);
    await assert.rejects(namesIn(nested(FOLDER_DEPTH_MAX, file)), /pack\.no-actions/);
  });

  it('are in a folder of at most PACK_ENTRIES_MAX entries', async () => {
    const many = (count: number) => ({
      'actions.xml': '',
      ...Object.fromEntries(Array.from({ length: count - 1 }, (_, i) => [`${i}.txt`, ''])),
    });
    for (const count of [PACK_ENTRIES_MAX - 1, PACK_ENTRIES_MAX]) assert.equal((await namesIn(many(count))).length, 1);
    await assert.rejects(namesIn(many(PACK_ENTRIES_MAX + 1)), /pack\.too-many/);
  });

  it('have actions among them', async () => {
    await assert.rejects(namesIn({ 'shime1.png': '' }), /pack\.no-actions/);
  });
});
