/** A part of the page's program, which is loaded when a person asks for it. */
import { phrase } from './language.ts';

/**
 * Waits for the module. Throws an Error for the person when it cannot be had: the line is down, or the relay has another version of the
 * page by now, whose parts have other names.
 */
export async function part<Module>(loading: Promise<Module>): Promise<Module> {
  try {
    return await loading;
  } catch {
    throw new Error(phrase('part.failed'));
  }
}
