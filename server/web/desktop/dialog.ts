/** A dialog with a form: it asks a person until the answer is accepted, and shows what is wrong with one that is not. */

import { reasonOf } from '../texts/language.ts';

/** Opens the dialog. It closes when `accept` accepts the form. When that throws, the person sees the error's message. */
export function ask(dialog: HTMLDialogElement, accept: () => Promise<void>): Promise<void> {
  const form = dialog.querySelector('form') as HTMLFormElement;
  const button = dialog.querySelector('button[type="submit"]') as HTMLButtonElement;
  const wrong = dialog.querySelector('.wrong') as HTMLElement;
  wrong.hidden = true;
  button.disabled = false;
  dialog.showModal();
  return new Promise((resolve) => {
    form.onsubmit = async (event) => {
      event.preventDefault();
      wrong.hidden = true;
      button.disabled = true;
      try {
        await accept();
        dialog.close();
        resolve();
      } catch (error) {
        wrong.textContent = reasonOf(error);
        wrong.hidden = false;
      }
      button.disabled = false;
    };
  });
}
