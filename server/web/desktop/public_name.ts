/**
 * Whether the page about the world may show the person's name. They choose it there; this browser keeps it, and the desktops in it tell the relay.
 */
import { KeptChoice } from './kept_text.ts';

const KEY = 'sprites.public-name';
export const PUBLIC_NAME = new KeptChoice(KEY);

/** Calls `changed` when another tab has chosen. */
export function watchPublicName(changed: () => void): void {
  addEventListener('storage', ({ key }) => {
    if (key === KEY || key === null) changed(); // null: everything was cleared
  });
}
