/**
 * Fleets in an account that moto simulates: the command, clusters, failures, and what the policy allows. They run in one process,
 * because moto and the SDK take five seconds of a core to start.
 *
 * Needs no build: a stand-in is uploaded instead of the bundle, which is all that is built.
 * Takes long: the command waits two seconds between two questions, and its tests run one after the other.
 */
import './fleet_command.ts';
import './cluster.ts';
import './policy_calls.ts';
import './failures.ts';
