/** A part of the page's program, which is loaded when a person asks for it. */
import { phrase } from './language.ts';

/**
 * Returns what loads a module, once. All who wait for it go on in the order in which they asked, which several imports of one module do
 * not promise.
 *
 * It rejects with an Error for the person when the module cannot be had: the line is down, or the relay has another version of the page
 * by now, whose parts have other names. The next call tries again.
 */
export function part<Module>(load: () => Promise<Module>): () => Promise<Module> {
  let loading: Promise<Module> | undefined;
  return () => {
    loading ??= load().catch(() => {
      loading = undefined;
      throw new Error(phrase('part.failed'));
    });
    return loading;
  };
}
