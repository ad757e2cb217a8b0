import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { profilePicture } from './profile_picture.ts';

/** The widths of the bars, from top to bottom. */
const widths = (picture: string) =>
  Array.from(picture.matchAll(/<rect y[^>]*width="([\d.]+)"/g), ([, width]) => Number(width));

describe('the picture of two profiles', () => {
  it('has a bar of each function for each profile, as long as its share of the time', () => {
    const picture = profilePicture([
      { name: 'main thread · work (b.ts:5)', own: 0.2, whole: 0.4, before: 0.4 },
      { name: 'main thread · new (b.ts:7)', own: 0.1, whole: 0.1, before: 0 },
    ]);
    const [before, now, none, fresh] = widths(picture);
    assert.deepEqual([now / before, none, fresh / before], [0.5, 0, 0.25]);
    for (const text of ['work (b.ts:5)', '40.0 %', '20.0 %', '0.0 %', 'earlier', 'now'])
      assert.ok(picture.includes(text));
  });

  it('has one bar of each function of a single profile', () => {
    const picture = profilePicture([{ name: 'work', own: 0.2, whole: 0.4 }]);
    assert.equal(widths(picture).length, 1);
    assert.ok(!picture.includes('earlier'));
  });

  it('is well-formed whatever a function is called', () => {
    const picture = profilePicture([{ name: 'main · <anonymous> & a::operator<<', own: 0, whole: 0 }]);
    assert.ok(picture.includes('main · &lt;anonymous> &amp; a::operator&lt;&lt;<'));
    assert.deepEqual(widths(picture), [0]);
  });
});
