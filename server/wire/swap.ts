/** The requests by which two desktops change places. Source PROTOCOL.md#changing-places */
import { checkDesktop, checkObject, checkPerson, checkSwitch, checkWhole } from './fields.ts';
import { GOAL_MEMBERS } from './rules.ts';

/** The desktop that is asked: its name, and how far to the right and down it is, as the list of the company has it. */
export interface SwapWish {
  name: string;
  column: number;
  row: number;
}

/** The answer to a desktop that asks. */
export interface SwapAnswer {
  from: { slot: number; generation: number };
  accept: boolean;
}

/** Checks the body by which a desktop asks. Throws malformed. */
export function checkSwap(value: unknown): SwapWish {
  const body = checkObject(value, 'body');
  const steps = (member: 'column' | 'row') =>
    checkWhole(body[member], member, GOAL_MEMBERS[member].min, GOAL_MEMBERS[member].max);
  return { name: checkPerson(body.name, 'name'), column: steps('column'), row: steps('row') };
}

/** Checks the body by which a desktop answers. Throws malformed. */
export function checkSwapAnswer(value: unknown): SwapAnswer {
  const { from, accept } = checkObject(value, 'body');
  return { from: checkDesktop(from, 'from'), accept: checkSwitch(accept, 'accept') };
}
