/**
 * Canaries: two desktops in a world of their own that throw a sprite to each other, so that a watch knows what people feel.
 *
 * A round trip is from the throw of the first to the arrival of the sprite that the second throws back: two crossings. Both are desktops of
 * the library, which repeats what is lost, and joins again when the relay does not know them any more. Invariant: a sprite that comes too late
 * counts for no round trip but its own. Cost for the relay: two desktops, two sprites a round trip. They leave with `leave`.
 */
import { type Desktop, join } from '../../server/libraries/javascript/client.ts';

/** The picture of the sprites: nobody sees it. */
const PICTURE = '0'.repeat(64);

export class Canaries {
  readonly #url: string;
  readonly #world = `canaries-${Date.now().toString(36)}`;
  readonly #desktops: Desktop[] = [];
  #trips = 0;
  /** What waits for a sprite of this name to arrive. */
  readonly #waiting = new Map<string, () => void>();

  constructor(url: string) {
    this.#url = url;
  }

  /** Joins. Throws Error when the relay does not let them in. */
  async join(): Promise<void> {
    const on = { sprite: ({ sprite }: { sprite: { name: string } }) => this.#waiting.get(sprite.name)?.() };
    for (const name of ['canary 1', 'canary 2']) {
      this.#desktops.push(await join(this.#url, { name, world: this.#world, on }));
    }
  }

  /** In µs; undefined when it takes longer than `msMax`, or the relay refuses a throw. */
  async roundTrip(msMax: number): Promise<number | undefined> {
    const trip = ++this.#trips;
    const late = AbortSignal.timeout(msMax);
    const began = performance.now();
    try {
      for (const [which, desktop] of this.#desktops.entries())
        await this.#cross(desktop, `canary-${trip}-${which}`, late);
      return (performance.now() - began) * 1000;
    } catch {
      return undefined;
    }
  }

  async leave(): Promise<void> {
    await Promise.all(this.#desktops.map((desktop) => desktop.leave()));
  }

  /** Throws a sprite, and waits until the other canary has it. */
  async #cross(desktop: Desktop, name: string, late: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    late.addEventListener('abort', reject);
    this.#waiting.set(name, resolve);
    try {
      const thrown = desktop.throw({ file: PICTURE, name }, 'right').then((verdict) => {
        if ('refused' in verdict) throw new Error(verdict.refused.title);
      });
      await Promise.all([promise, thrown]);
    } finally {
      this.#waiting.delete(name);
    }
  }
}
