/** One call to AWS: what fails is thrown as `Refused`, or kept as a reading that has no value. */
import { explain } from '../explain.ts';
import type { Reading } from '../plan.ts';

/** Waits for the response of a call. Throws Refused, whose message begins with `doing`. */
export async function call<T>(doing: string, response: Promise<T>): Promise<T> {
  try {
    return await response;
  } catch (error) {
    throw explain(error, doing);
  }
}

/** Reads something that may be unreadable; the reason is returned, not thrown. */
export async function reading<T>(read: () => Promise<T>): Promise<Reading<T>> {
  try {
    return { read: await read() };
  } catch (error) {
    return { unread: explain(error, 'reading').message };
  }
}
