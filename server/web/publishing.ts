/** The dialog in which a person publishes a picture in the gallery. */
import { element } from './panel.ts';
import type { Publication } from './seat.ts';

/** Asks about a picture until `publish` accepts the answer. When it throws, the person sees the error's message. */
export function askToPublish(
  title: string,
  author: string,
  publish: (publication: Omit<Publication, 'file'>) => Promise<void>,
): void {
  const dialog = element<HTMLDialogElement>('publish');
  const form = element<HTMLFormElement>('publish-form');
  const button = element<HTMLButtonElement>('publish-send');
  const wrong = element('publish-wrong');
  const field = (name: string) => element<HTMLInputElement>(`publish-${name}`);
  field('title').value = title;
  field('author').value = author;
  field('may').checked = false;
  wrong.hidden = true;
  form.onsubmit = async (event) => {
    event.preventDefault();
    button.disabled = true;
    wrong.hidden = true;
    try {
      const of = (name: string) => field(name).value.trim();
      await publish({ title: of('title'), author: of('author'), licence: of('licence') });
      dialog.close();
    } catch (error) {
      wrong.textContent = error instanceof Error ? error.message : String(error);
      wrong.hidden = false;
    }
    button.disabled = false;
  };
  element('publish-cancel').onclick = () => dialog.close();
  dialog.showModal();
}
