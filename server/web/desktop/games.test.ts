import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Sprite } from '../motion/simulation.ts';
import { Games, KEPT_UP_MAX, POTATO_MS_MAX, POTATO_MS_MIN } from './games.ts';

/** A desktop on which sprites play; the texts of a test are their keys. */
class Ground {
  readonly shown: string[] = [];
  readonly ended: string[] = [];
  readonly games = new Games({ show: (_, words) => this.shown.push(words), over: (words) => this.ended.push(words) });
  sprites: Sprite[] = [];
  nowMs = 1_000;

  sprite(name = 'Miso'): Sprite {
    const sprite = { file: 'f', name, mode: 'fall' } as Sprite;
    this.sprites.push(sprite);
    return sprite;
  }

  arrive(animation: string): Sprite {
    const sprite = this.sprite();
    this.games.arrived(sprite, animation, this.nowMs);
    return sprite;
  }

  /** Throws a sprite on; returns its animation. */
  depart(sprite: Sprite): string | undefined {
    const animation = this.games.animationOf(sprite, this.nowMs);
    this.sprites.splice(this.sprites.indexOf(sprite), 1);
    this.games.gone(sprite);
    return animation;
  }

  pass(ms: number): void {
    this.nowMs += ms;
    this.games.step(this);
  }
}

describe('keep up', () => {
  it('counts the edges of a sprite that two throw to each other in the air', () => {
    const [ann, bob] = [new Ground(), new Ground()];
    let animation = ann.depart(ann.sprite());
    assert.equal(animation, undefined, 'it has stood on the ground');
    for (let count = 2; count < 8; count++) {
      const here = count % 2 ? ann : bob;
      const sprite = here.arrive(animation ?? 'fall');
      here.pass(500);
      sprite.mode = 'drag';
      here.pass(500);
      animation = here.depart(sprite);
      assert.equal(animation, `keep-up-${count}`);
    }
    assert.deepEqual([ann.ended, bob.ended], [[], []]);
  });

  it('ends on the ground, and says so when it was a game', () => {
    for (const [animation, said] of [
      ['fall', []],
      ['keep-up-1', []],
      ['keep-up-2', ['game.dropped']],
    ] as const) {
      const ground = new Ground();
      const sprite = ground.arrive(animation);
      sprite.mode = 'land';
      ground.pass(16);
      assert.deepEqual(ground.ended, said);
      assert.equal(ground.depart(sprite), undefined);
    }
  });

  it('goes on when an edge has refused the sprite, and counts no farther than it can say', () => {
    const ground = new Ground();
    const sprite = ground.arrive(`keep-up-${KEPT_UP_MAX}`);
    assert.equal(ground.games.animationOf(sprite, ground.nowMs), `keep-up-${KEPT_UP_MAX}`);
    const other = ground.arrive(`keep-up-${KEPT_UP_MAX - 1}`);
    assert.equal(ground.games.animationOf(other, ground.nowMs), `keep-up-${KEPT_UP_MAX}`);
    assert.equal(ground.games.animationOf(other, ground.nowMs), `keep-up-${KEPT_UP_MAX}`);
  });

  it('takes what is no count for a first throw', () => {
    for (const animation of ['keep-up-0', 'keep-up-', 'keep-up-01', 'keep-up-10000', 'keep-up-x', 'walk']) {
      const ground = new Ground();
      assert.equal(ground.depart(ground.arrive(animation)), 'keep-up-2', animation);
    }
  });
});

describe('a hot potato', () => {
  it('goes off at the end of its time, where it is then; who threw it there knows', () => {
    for (const luck of [0, 1]) {
      const [ann, bob] = [new Ground(), new Ground()];
      const sprite = ann.sprite();
      ann.games.light(sprite, ann.nowMs, luck);
      const total = luck === 0 ? POTATO_MS_MIN : POTATO_MS_MAX;
      ann.pass(5_000);
      const animation = ann.depart(sprite) as string;
      assert.equal(animation, `hot-potato-${(total - 5_000) / 100}`);
      bob.arrive(animation);
      for (const one of [ann, bob]) one.pass(total - 5_000 - 1);
      assert.deepEqual([ann.ended, bob.ended], [[], []]);
      bob.pass(1);
      assert.deepEqual(bob.ended, ['game.burnt']);
      ann.pass(2_000);
      assert.deepEqual(ann.ended, []);
      ann.pass(1);
      assert.deepEqual(ann.ended, ['game.burnt-there']);
    }
  });

  it('that comes back in time goes off here, once', () => {
    const ann = new Ground();
    const sprite = ann.sprite();
    ann.games.light(sprite, ann.nowMs, 0);
    ann.depart(sprite);
    ann.arrive('hot-potato-30');
    ann.pass(3_000);
    ann.pass(60_000);
    assert.deepEqual(ann.ended, ['game.burnt']);
  });

  it('is here when it is back before it was known to be gone', () => {
    const ann = new Ground();
    const sprite = ann.sprite();
    ann.games.light(sprite, ann.nowMs, 0);
    const animation = ann.games.animationOf(sprite, ann.nowMs) as string;
    ann.sprites = [];
    ann.arrive(animation);
    ann.games.gone(sprite);
    ann.pass(60_000);
    assert.deepEqual(ann.ended, ['game.burnt']);
  });

  it('has no more time than a potato can have, whatever arrives', () => {
    const ann = new Ground();
    ann.arrive('hot-potato-9999');
    ann.pass(POTATO_MS_MAX - 1);
    assert.deepEqual(ann.ended, []);
    ann.pass(1);
    assert.deepEqual(ann.ended, ['game.burnt']);
  });

  it('is one although it lies on the ground, and is kept up no more', () => {
    const ann = new Ground();
    const sprite = ann.arrive('keep-up-7');
    ann.games.light(sprite, ann.nowMs, 0);
    sprite.mode = 'idle';
    ann.pass(16);
    assert.deepEqual(ann.ended, []);
    assert.equal(ann.depart(sprite), 'hot-potato-150');
  });
});
