/** The dialog in which a person publishes a picture in the gallery. */

import type { Publication } from '../relay/api_client.ts';
import { phrase } from '../texts/language.ts';
import { ask } from './dialog.ts';
import { element, newElement } from './elements.ts';

const dialogHtml = () => `
  <form method="dialog">
    <h2 id="publish-heading">${phrase('publish.title')}</h2>
    <p class="quiet">${phrase('publish.intro')}</p>
    <label><span>${phrase('publish.name')}</span><input id="publish-title" maxlength="32" required></label>
    <label><span>${phrase('publish.author')}</span><input id="publish-author" maxlength="32"></label>
    <label>
      <span>${phrase('licence')}</span>
      <select id="publish-licence">
        <option value="CC0-1.0">${phrase('licence.cc0')}</option>
        <option value="CC-BY-4.0">${phrase('licence.by')}</option>
        <option value="CC-BY-SA-4.0">${phrase('licence.by-sa')}</option>
      </select>
    </label>
    <label class="choice"><input type="checkbox" id="publish-may" required><span>${phrase('publish.may')}</span></label>
    <p class="wrong" role="alert" hidden></p>
    <button class="button" type="submit" id="publish-send">${phrase('publish.send')}</button>
    <button class="plain" type="button" id="publish-cancel">${phrase('publish.cancel')}</button>
  </form>`;

/** The dialog of this page, which it gets when it needs it first. */
function dialogOf(page: Document): HTMLDialogElement {
  const there = page.getElementById('publish');
  if (there !== null) return there as HTMLDialogElement;
  const dialog = newElement('dialog', { id: 'publish', innerHTML: dialogHtml() }); // of our own texts only
  dialog.setAttribute('aria-labelledby', 'publish-heading');
  page.body.append(dialog);
  element('publish-cancel').addEventListener('click', () => dialog.close());
  return dialog;
}

/** What the person reads when the relay has a picture; `state` is the answer of publish(). */
export function publishedText(state: string, title: string): string {
  return state === 'listed' ? phrase('publish.listed', { title }) : phrase('publish.sent');
}

/** Asks about a picture until `publish` accepts the answer. */
export function askToPublish(
  known: { title: string; author: string; licence?: string },
  publish: (publication: Omit<Publication, 'file'>) => Promise<void>,
): void {
  const dialog = dialogOf(document);
  const field = (name: string) => element<HTMLInputElement>(`publish-${name}`);
  field('title').value = known.title;
  field('author').value = known.author;
  if (known.licence !== undefined) field('licence').value = known.licence;
  field('may').checked = false;
  const of = (name: string) => field(name).value.trim();
  void ask(dialog, () => publish({ title: of('title'), author: of('author'), licence: of('licence') }));
}
