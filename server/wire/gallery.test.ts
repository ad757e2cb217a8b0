import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkPublication, LICENCES } from './gallery.ts';
import { ProblemError } from './problem.ts';
import { NAME_BYTES_MAX } from './rules.ts';

const GOOD = { file: '0'.repeat(64), title: 'My cat', author: 'Ann', licence: LICENCES[0] };

describe('a publication', () => {
  it('has a picture, a title and a licence, and may have an author', () => {
    for (const licence of LICENCES) assert.deepEqual(checkPublication({ ...GOOD, licence }), { ...GOOD, licence });
    const { author, ...bare } = GOOD;
    assert.deepEqual(checkPublication(bare), { ...GOOD, author: '' });
    assert.deepEqual(checkPublication({ ...GOOD, title: ' My cat ', more: 1 }), GOOD, 'spaces and other members go');
    const longest = 'a'.repeat(NAME_BYTES_MAX);
    assert.equal(checkPublication({ ...GOOD, title: longest, author: longest }).author, longest);
  });

  it('is refused with the field that is wrong', () => {
    const longer = 'a'.repeat(NAME_BYTES_MAX + 1);
    for (const [field, values] of Object.entries({
      file: [undefined, '', '0'.repeat(63), '0'.repeat(65), 'G'.repeat(64), 1],
      title: [undefined, '', ' ', longer, 'a\nb', 'a\u202eb', 1],
      author: [null, longer, 'a\0b'],
      licence: [undefined, '', 'cc0-1.0', 'MIT', 1],
    })) {
      for (const value of values) {
        assert.throws(
          () => checkPublication({ ...GOOD, [field]: value }),
          (error) => error instanceof ProblemError && error.document.field === field,
          `${field}: ${JSON.stringify(value)}`,
        );
      }
    }
    assert.throws(() => checkPublication(null), ProblemError);
  });
});
