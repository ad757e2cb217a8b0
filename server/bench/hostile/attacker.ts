/**
 * The process of an attacker: it runs one attack and reports what it counted.
 *
 * It is a process of its own, so that the probe's round trips are the relay's and not the attacker's, and so that all its
 * connections end with it. It ends when its parent does.
 */
import { Assault, type Order, type Report, STARTED } from './assault.ts';
import { ATTACKS } from './attacks.ts';
import { randomFrom } from './random.ts';

process.once('disconnect', () => process.exit(1));
process.once('message', async ({ attack, seed, ...options }: Order) => {
  const assault = new Assault({ ...options, random: randomFrom(seed), from: ATTACKS[attack].from });
  process.send?.(STARTED);
  await ATTACKS[attack].run(assault);
  const report: Report = { counts: assault.counts, notes: assault.notes };
  process.send?.(report, undefined, undefined, () => process.exit(0));
});
