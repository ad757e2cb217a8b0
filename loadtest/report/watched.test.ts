import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isPageDue } from './growing.ts';
import { type Watched, type WatchSecond, watchLine, watchPage, watchText } from './watched.ts';

const second = (atS: number, changes: Partial<WatchSecond> = {}): WatchSecond => ({
  ...{ atS, desktops: 10, parked: 9, joinedPerS: 1, leftPerS: 0, acceptedPerS: 20, refusedPerS: 0, waiting: 2 },
  ...changes,
});

const watched = (seconds: WatchSecond[]): Watched => ({
  ...{ format: 'sprites-watch/1', url: 'http://a.example:8080', startedAt: '2026-01-01T10:00:00.000Z', missed: 0 },
  ...{ accepted: 40, refused: 21, refusedByReason: { 'too-fast': 1, banned: 20 }, joined: 2, left: 1, seconds },
});

describe('watched relay', () => {
  it('shows the most of each figure, and a dash for what is not known', () => {
    const text = watchText(watched([second(1, { answerUs: 900, waiting: 7 }), second(2, { desktops: 12 })]));
    assert.match(text, /desktops +at most 12; 2 joined, 1 left/);
    assert.match(text, /waiting +at most 7$/m);
    assert.match(text, /answer +median 900 µs, longest 900 µs/);
    assert.match(text, /RSS, most +–$/m);
  });

  it('names every reason of a refusal, and the round trip of canaries where there are some', () => {
    const alone = watchText(watched([second(1)]));
    assert.match(alone, /refused +21: 1 too-fast, 20 banned$/m);
    assert.doesNotMatch(alone, /canaries/);
    const text = watchText({ ...watched([second(1, { roundTripUs: 900 }), second(2)]), tripsMissed: 1 });
    assert.match(
      text,
      /round trip +of the canaries, there and back: median 900 µs, longest 900 µs; too late, or refused, 1 times/,
    );
  });

  it('draws every figure that is known, and says that it grows', () => {
    const seconds = [1, 2, 3].map((atS) =>
      second(atS, { rssBytes: 1e8, cores: 0.1, answerUs: 500, loopDelayMaxMs: 3 }),
    );
    const html = watchPage(watched(seconds), 2);
    for (const title of ['Desktops', 'Coming and going', 'Sprites a second', 'Latency', 'CPU', 'Memory']) {
      assert.ok(html.includes(`<b>${title}</b>`), title);
    }
    assert.match(html, /http-equiv="refresh" content="2"/);
    assert.match(html, /WATCHING/);
    assert.doesNotMatch(html, /NaN|Infinity|undefined/);
    assert.doesNotMatch(watchPage(watched(seconds)), /refresh/);
  });

  it('has a page and a line before the first second', () => {
    assert.match(watchPage(watched([])), /WATCHED/);
    assert.equal(watchLine(0, watched([])), 'The relay has not answered yet.');
    assert.match(watchLine(0, watched([second(1)])), /^ +time +desktops.*\n +1\.00 s +10 /);
  });

  it('makes its page less often the longer its history is', () => {
    const pages = (from: number, until: number) => {
      let due = 0;
      for (let s = from; s < until; s++) due += +isPageDue(s);
      return due;
    };
    assert.equal(pages(1, 121), 60);
    const inThirtyMinutes = pages(1, 1800);
    assert.ok(inThirtyMinutes > 150 && inThirtyMinutes < 350, String(inThirtyMinutes));
  });
});
