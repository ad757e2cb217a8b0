/** Which front a process uses: the native one where it is built and the system is Linux, the portable one else. */
import type { Front, FrontOptions } from './front.ts';
import { PortableFront } from './portable.ts';

export interface FrontChoice {
  kind: Front['kind'];
  /** Why it is not the native one. */
  reason?: string;
  make: (options: FrontOptions) => Front;
}

/** Throws Error when `native` was asked for and can't be had: says why. */
export async function chooseFront(wanted: 'auto' | 'native' | 'portable'): Promise<FrontChoice> {
  const portable: FrontChoice = { kind: 'portable', make: (options) => new PortableFront(options) };
  if (wanted === 'portable') return { ...portable, reason: 'asked for by --front portable' };
  const reason = 'there is no native front in this version';
  if (wanted === 'native') throw new Error(`--front native: ${reason}`);
  return { ...portable, reason };
}
