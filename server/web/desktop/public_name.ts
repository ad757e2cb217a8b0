/**
 * Whether the page about the world may show the person's name. They choose it there; this browser keeps it, and the desktops in it tell the relay.
 */
import { KeptText } from './kept_text.ts';

const KEY = 'sprites.public-name';
const PUBLIC_NAME = new KeptText('localStorage', KEY);

export function isNamePublic(): boolean {
  return PUBLIC_NAME.read() !== null;
}

export function setNamePublic(isPublic: boolean): void {
  if (isPublic) PUBLIC_NAME.write('yes');
  else PUBLIC_NAME.clear();
}

/** Calls `changed` when another tab has chosen. */
export function watchPublicName(changed: () => void): void {
  addEventListener('storage', ({ key }) => {
    if (key === KEY || key === null) changed(); // null: everything was cleared
  });
}
