/** The command with a stand-in for the bundle, as a program that a test can interrupt. */
import { surroundings } from '../../tools/command.ts';
import { fleet } from '../bin/fleet.ts';
import { BUNDLE } from './stand_in.ts';

process.exitCode = await fleet(surroundings(), async () => BUNDLE);
