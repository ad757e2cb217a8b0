/** The dialog in which a person publishes a picture in the gallery. */
import { element } from './panel.ts';
import type { Publication } from './seat.ts';

const DIALOG = `
  <form method="dialog" id="publish-form">
    <h2 id="publish-heading">Publish in the gallery</h2>
    <p class="quiet">Everybody on this relay may then take it. The operator looks at it first.</p>
    <label><span>Title</span><input id="publish-title" maxlength="32" required></label>
    <label><span>Author</span><input id="publish-author" maxlength="32"></label>
    <label>
      <span>Licence</span>
      <select id="publish-licence">
        <option value="CC0-1.0">CC0: free for everything</option>
        <option value="CC-BY-4.0">CC BY: with your name</option>
        <option value="CC-BY-SA-4.0">CC BY-SA: and changes alike</option>
      </select>
    </label>
    <label class="choice"><input type="checkbox" id="publish-may" required><span>I drew it, or may share it under this licence</span></label>
    <p class="wrong" id="publish-wrong" role="alert" hidden></p>
    <button class="button" type="submit" id="publish-send">Publish</button>
    <button class="plain" type="button" id="publish-cancel">Cancel</button>
  </form>`;

/** The dialog of this page, which it gets when it needs it first. */
function dialogOf(page: Document): HTMLDialogElement {
  const there = page.getElementById('publish');
  if (there !== null) return there as HTMLDialogElement;
  const dialog = page.createElement('dialog');
  dialog.id = 'publish';
  dialog.setAttribute('aria-labelledby', 'publish-heading');
  dialog.innerHTML = DIALOG;
  page.body.append(dialog);
  return dialog;
}

/** What the person reads when the relay has a picture; `state` is the answer of publish(). */
export function publishedText(state: string, title: string): string {
  return state === 'listed'
    ? `${title} is in the gallery already.`
    : 'Sent. The gallery shows it when the operator of this relay has accepted it.';
}

/** Asks about a picture until `publish` accepts the answer. When it throws, the person sees the error's message. */
export function askToPublish(
  known: { title: string; author: string; licence?: string },
  publish: (publication: Omit<Publication, 'file'>) => Promise<void>,
): void {
  const dialog = dialogOf(document);
  const form = element<HTMLFormElement>('publish-form');
  const button = element<HTMLButtonElement>('publish-send');
  const wrong = element('publish-wrong');
  const field = (name: string) => element<HTMLInputElement>(`publish-${name}`);
  field('title').value = known.title;
  field('author').value = known.author;
  if (known.licence !== undefined) field('licence').value = known.licence;
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
