/**
 * The environment variables of this project. Nobody else reads one that begins with SPRITES_, so another one is misspelt.
 *
 * Plain JavaScript, because the launcher uses it under any Node. command.test.ts compares the names with what reads them.
 */
import { didYouMean } from './nearest.js';

export const VARIABLES = [
  // Options of the relay; the command admin reads some of them.
  'ADMIN_HOST ADMIN_PORT ADMIN_TOKEN_FILE ADMISSION CONTACT DATA DURABILITY EVENTS_PORT FRONT HOST IPC LOG_LEVEL MAX_DESKTOPS NATS',
  'NATS_CREDENTIALS NATS_PLAINTEXT PICTURES PING_SECONDS PORT PUBLIC_EVENTS_URL PUBLIC_URL RELAY_NAME RESIDENTS RULES SAYINGS',
  'STAGE_TOLERANCE TRUST_PROXY WORKERS',
  // The launcher, the fleet, the tests.
  'NODE NODE_FLAGS NO_APT RESTART BUCKET FUZZ_SECONDS SCREENSHOTS STOPPED_RUNS TEST_ADDON TEST_FRONT',
  // The instances of a fleet.
  'FIELDS JOB MINUTES PREFIX RESULTS',
  // What processes tell those that they start.
  'ADDRESSES CHAOS_CLOCK PRESET SUCCESSION SWARM_NAMESPACE TEST_NAMESPACE WORKER',
].flatMap((line) => line.split(' ').map((name) => `SPRITES_${name}`));

/** A sentence for each variable that looks like one of this project and is none. */
export function unknownVariables(environment) {
  return Object.keys(environment)
    .filter((name) => name.startsWith('SPRITES_') && !VARIABLES.includes(name))
    .map((name) => `Nothing reads the variable ${name}.${didYouMean(name, VARIABLES)}`);
}
