/** The examples of PROTOCOL.md: somebody may send one as it stands, and a wrong length makes the relay wait, or refuse the rest. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';

describe('an example of PROTOCOL.md', () => {
  it('announces as many bytes as its body has', async () => {
    const text = await readFile(new URL('../PROTOCOL.md', import.meta.url), 'utf8');
    // A head with a length, an empty line, and the body, which may be wrapped.
    const examples = text.matchAll(/^ {4}Content-Length: ([1-9]\d*)\n(?: {4}.+\n)*\n((?: {4}.+\n)+)/gm);
    const lengths = [...examples].map(([, announced, lines]) => {
      const body = lines.replace(/\n\s*/g, '').trim();
      return { body, announced: Number(announced), bytes: Buffer.byteLength(body) };
    });
    assert.ok(lengths.length >= 16, `${lengths.length} examples`);
    for (const { body, announced, bytes } of lengths) assert.equal(announced, bytes, body);
  });
});
