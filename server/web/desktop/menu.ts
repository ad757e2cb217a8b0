/** The menu of the page: a few things a person can do about what is at one point. A click beside it, or Escape, closes it. */
import { element, newElement } from './elements.ts';

export interface MenuEntry {
  text: string;
  choose: () => void;
}

const MARGIN = 8; // px between the menu and the edges of the page

/** Opens the menu at a point, inside the page. */
export function openMenu(x: number, y: number, entries: readonly MenuEntry[]): void {
  const menu = element('menu');
  menu.replaceChildren(
    ...entries.map(({ text, choose }) => {
      const onclick = () => {
        menu.hidePopover();
        element('canvas').focus({ preventScroll: true }); // the keys are the canvas's again
        choose();
      };
      return newElement('button', { type: 'button', role: 'menuitem', textContent: text, onclick });
    }),
  );
  menu.showPopover();
  const { width, height } = menu.getBoundingClientRect();
  menu.style.left = `${Math.max(MARGIN, Math.min(x, innerWidth - width - MARGIN))}px`;
  menu.style.top = `${Math.max(MARGIN, Math.min(y, innerHeight - height - MARGIN))}px`;
  (menu.firstElementChild as HTMLElement).focus();
}
