import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drawn, letters } from '../../test/drawn_pixels.ts';
import { type Cut, colourAt, cutOut, hasTransparency, PICKS_MAX, RIM_MAX } from './cutout.ts';

const CUT: Cut = { fromEdges: true, picks: [], tolerance: 10, rim: 0 };

const at = (picture: ReturnType<typeof drawn>, x: number, y: number) => ({ x, y, colour: colourAt(picture, x, y) });

describe('cut-out', () => {
  it('removes the colour of the edge, and nothing of that colour inside of the body', () => {
    const picture = drawn('wwwwww wrrrrw wrwwrw wrrrrw wwwwww');
    assert.equal(letters(cutOut(picture, CUT)), '...... .rrrr. .rwwr. .rrrr. ......');
    assert.equal(letters(picture), 'wwwwww wrrrrw wrwwrw wrrrrw wwwwww', 'the given picture stays as it is');
  });

  it('removes more the higher the tolerance is', () => {
    const picture = drawn('wwwwww wlrrlw wlrrlw wwwwww');
    const after = (tolerance: number) => letters(cutOut(picture, { ...CUT, tolerance }));
    assert.equal(after(0), '...... .lrrl. .lrrl. ......');
    assert.equal(after(9), '...... .lrrl. .lrrl. ......');
    assert.equal(after(10), '...... ..rr.. ..rr.. ......');
    assert.equal(after(100), '...... ...... ...... ......');
  });

  it('keeps a body that touches the edge, and removes a background of several colours', () => {
    const two = drawn('wwwwwwwwww wwwwwwwwww wwwwwwwwww wwwrrrrwww bbbrrrrbbb bbbrrrrbbb bbbbrbbbbb');
    assert.equal(
      letters(cutOut(two, CUT)),
      '.......... .......... .......... ...rrrr... ...rrrr... ...rrrr... ....r.....',
    );
  });

  it('removes the area of a place that was picked, where it has the colour that was picked', () => {
    const picture = drawn('rrrrrr rwwrgg rwwrgg rrrrrr');
    const picks = [at(picture, 1, 1)];
    const cut = { ...CUT, fromEdges: false, picks };
    assert.equal(letters(cutOut(picture, cut)), 'rrrrrr r..rgg r..rgg rrrrrr');
    const next = drawn('rrrrrr rbwrgg rwwrgg rrrrrr');
    assert.equal(letters(cutOut(next, cut)), letters(next), 'another frame has another colour there');
    const outside = [-1, 6].map((x) => ({ x, y: 0, colour: [220, 30, 30] as const }));
    assert.equal(letters(cutOut(picture, { ...cut, picks: outside })), letters(picture));
  });

  it('goes through what is transparent already', () => {
    const picture = drawn('..... .www. .wrw. .www. .....');
    assert.equal(letters(cutOut(picture, { ...CUT, picks: [at(picture, 1, 1)] })), '..... ..... ..r.. ..... .....');
    assert.equal(hasTransparency(picture), true);
    assert.equal(hasTransparency(drawn('ww ww')), false);
  });

  it('removes a rim of what stays, but not where the body is cut off by the edge of the picture', () => {
    const picture = drawn('wwwwww wrrrrw wrrrrw wrrrrw wrrrrw');
    const cut = { ...CUT, fromEdges: false, picks: [at(picture, 0, 0)] };
    assert.equal(letters(cutOut(picture, { ...cut, rim: 1 })), '...... ...... ..rr.. ..rr.. ..rr..');
    assert.equal(
      letters(cutOut(drawn('rr rr'), { ...cut, picks: [], rim: 4 })),
      'rr rr',
      'without a cut there is no rim',
    );
  });

  it('has a limit of picks', () => {
    const picture = drawn('w'.repeat(PICKS_MAX + 1).replace(/w/g, 'wr'));
    const picks = Array.from({ length: PICKS_MAX + 1 }, (_, i) => at(picture, 2 * i, 0));
    const after = (count: number) =>
      letters(cutOut(picture, { ...CUT, fromEdges: false, picks: picks.slice(0, count) })).replace(/[^w]/g, '').length;
    assert.deepEqual([PICKS_MAX - 1, PICKS_MAX, PICKS_MAX + 1].map(after), [2, 1, 1]);
  });

  it('removes a rim of at most RIM_MAX pixels', () => {
    const picture = drawn(`w${'r'.repeat(2 * RIM_MAX)}`);
    const cut = { ...CUT, fromEdges: false, picks: [at(picture, 0, 0)] };
    const removed = (rim: number) => letters(cutOut(picture, { ...cut, rim })).replace(/[^.]/g, '').length - 1;
    assert.deepEqual([0, RIM_MAX - 1, RIM_MAX, RIM_MAX + 1].map(removed), [0, RIM_MAX - 1, RIM_MAX, RIM_MAX]);
  });

  it('copes with pictures of one pixel and one line', () => {
    for (const picture of ['w', 'wwww', 'w w w']) assert.match(letters(cutOut(drawn(picture), CUT)), /^[. ]+$/);
  });
});
