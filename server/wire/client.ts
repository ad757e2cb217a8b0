/** The program of a desktop, as it names itself in the header User-Agent of its join. The relay counts by it, and decides nothing by it. */

/** `page`: any browser. `unknown`: it joined before the relay was started. */
export const CLIENT_KINDS = ['page', 'windows', 'linux', 'swarm', 'other', 'unknown'] as const;

type ClientKind = (typeof CLIENT_KINDS)[number];

export interface Client {
  readonly kind: ClientKind;
  /** Empty when it is not known. */
  readonly version: string;
}

/** `Sprites/0.2.0 (Windows)` */
const OURS = /^Sprites(?:\/([0-9A-Za-z.+-]{1,24}))? \((Windows|Linux|swarm)\)$/;

/** What every browser begins with. */
const BROWSER = 'Mozilla/';

/** Reads the header. Source PROTOCOL.md#join */
export function readClient(userAgent: string | undefined): Client {
  const [, version = '', system] = OURS.exec(userAgent ?? '') ?? [];
  if (system !== undefined) return { kind: system.toLowerCase() as ClientKind, version };
  return { kind: userAgent?.startsWith(BROWSER) ? 'page' : 'other', version: '' };
}
