/** The commands of `npm run admin` about the relays of a cluster: the request of each to the relay, and how its answer is printed. */
import { Misused } from '../../tools/command.ts';
import type { Print, Query } from './admin_query.ts';

export const RELAYS_COMMANDS: Readonly<Record<string, readonly [words: string, meaning: string]>> = {
  relays: [
    '[forget NAME]',
    'list the relays of the cluster; forget: declare that a relay that is gone will not come back; sprites that wait for its verdict are abandoned',
  ],
};

interface Listed {
  relay: string;
  connected: boolean;
  relays: { relay: string; state: string; desktops: number; silentMs: number; inDoubt: number }[];
}

/** What the command asks the relay. Throws Misused. */
export function relaysQuery(words: readonly string[]): Query {
  if (words.length === 0) return { method: 'GET', path: '/admin/relays', show: showRelays };
  const [verb, relay] = words;
  if (verb !== 'forget' || words.length !== 2)
    throw new Misused('relays: must be followed by forget and a name, or by nothing.');
  return {
    ...{ method: 'POST', path: '/admin/relays/forget', body: { relay } },
    show: ({ abandoned }: { abandoned: number }, print: Print) =>
      print(`${relay} is forgotten until it is started again; ${abandoned} sprites on their way to it are abandoned.`),
  };
}

function showRelays({ relay: self, connected, relays }: Listed, print: Print): void {
  const there = relays.length === 1 ? '1 relay' : `${relays.length} relays`;
  print(`${there}${connected ? '' : '; NATS is not connected'}`);
  for (const { relay, state, desktops, silentMs, inDoubt } of relays) {
    const silent = silentMs >= 1000 ? `, silent for ${Math.round(silentMs / 1000)} s` : '';
    const doubt = inDoubt > 0 ? `, ${inDoubt} sprites in doubt` : '';
    const name = relay === self ? `${relay} (this one)` : relay;
    print(`  ${name.padEnd(24)} ${state.padEnd(10)} ${String(desktops).padStart(8)} desktops${silent}${doubt}`);
  }
}
