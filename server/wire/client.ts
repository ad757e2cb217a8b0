/**
 * The program of a desktop, as it names itself in the header User-Agent of its join. A page can't choose that header, so it has its version in
 * the body. The relay counts by it, and decides nothing by it.
 */
import { VERSION_LENGTH_MAX } from './rules.ts';

/** `page`: any browser. `unknown`: it joined before the relay was started. */
export const CLIENT_KINDS = ['page', 'windows', 'linux', 'swarm', 'other', 'unknown'] as const;

type ClientKind = (typeof CLIENT_KINDS)[number];

export interface Client {
  readonly kind: ClientKind;
  /** Empty when it is not known. */
  readonly version: string;
}

const VERSION = `[0-9A-Za-z.+-]{1,${VERSION_LENGTH_MAX}}`;
const WHOLE_VERSION = new RegExp(`^${VERSION}$`);

/** `Sprites/0.2.0 (Windows)` */
const OURS = new RegExp(`^Sprites(?:/(${VERSION}))? \\((Windows|Linux|swarm)\\)$`);

/** What every browser begins with. */
const BROWSER = 'Mozilla/';

export function isVersion(text: unknown): text is string {
  return typeof text === 'string' && WHOLE_VERSION.test(text);
}

/** Reads the header; `ofPage` is the version in the body. Source PROTOCOL.md#join */
export function readClient(userAgent: string | undefined, ofPage = ''): Client {
  const [, version = '', system] = OURS.exec(userAgent ?? '') ?? [];
  if (system !== undefined) return { kind: system.toLowerCase() as ClientKind, version };
  return userAgent?.startsWith(BROWSER) ? { kind: 'page', version: ofPage } : { kind: 'other', version: '' };
}
