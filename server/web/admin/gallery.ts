/**
 * The gallery on the operator's page: the pictures that people have published, those that wait first, with buttons to accept, refuse
 * and remove them.
 *
 * It asks when it is opened, and again after each decision. A picture is shown with all its frames, because all of them will be seen,
 * and is fetched with the token like everything else. Invariant: texts of strangers are set as text, never as HTML.
 */

import type { GalleryEntry } from '../../wire/gallery.ts';

/** What nobody can take back: the picture is gone from every desktop. */
const REMOVE = 'admin/remove-picture';

/** Sends a request of the operator. Rejects when the relay does not answer. */
export type Ask = (path: string, init?: RequestInit) => Promise<Response>;

export class GalleryControls {
  readonly #details: HTMLDetailsElement;
  readonly #list: HTMLElement;
  readonly #state: HTMLElement;
  readonly #ask: Ask;
  /** The pictures as data URLs, by file: the page's policy allows no others. */
  #pictures = new Map<string, string>();

  constructor(details: HTMLDetailsElement, ask: Ask) {
    this.#details = details;
    this.#list = details.querySelector('ul') as HTMLElement;
    this.#state = details.querySelector('[role="status"]') as HTMLElement;
    this.#ask = ask;
    details.addEventListener('toggle', () => {
      if (details.open) void this.#show();
    });
  }

  /** Forgets what it shows: the operator's token is gone. */
  close(): void {
    this.#details.open = false;
    this.#list.replaceChildren();
    this.#pictures.clear();
    this.#state.textContent = '';
  }

  /** Shows the list. `news`: a sentence to show before the number of pictures. */
  async #show(news = ''): Promise<void> {
    try {
      const response = await this.#ask('admin/gallery');
      if (!response.ok) throw new Error(`status ${response.status}`);
      const { entries } = (await response.json()) as { entries: GalleryEntry[] };
      if (!this.#details.open) return; // the token may be gone since
      const waiting = entries.filter(({ acceptedMs }) => acceptedMs === null).length;
      this.#state.textContent = `${news}${countWords(waiting)} for you, ${entries.length - waiting} in the gallery.`;
      this.#list.replaceChildren(...entries.map((entry) => this.#item(entry)));
      const files = new Set(entries.map(({ file }) => file));
      for (const file of this.#pictures.keys()) if (!files.has(file)) this.#pictures.delete(file);
    } catch {
      this.#state.textContent = 'The relay does not answer. Close the gallery and open it again.';
    }
  }

  #item(entry: GalleryEntry): HTMLElement {
    const { file, title, author, licence, sinceMs, acceptedMs } = entry;
    const isWaiting = acceptedMs === null;
    const day = new Date(sinceMs).toISOString().slice(0, 10);
    const item = document.createElement('li');
    item.dataset.file = file;
    const picture = Object.assign(document.createElement('img'), { alt: `All frames of ${title}` });
    void this.#load(file, picture);
    const name = Object.assign(document.createElement('h3'), { textContent: title });
    const about = Object.assign(document.createElement('p'), {
      textContent: `by ${author || 'somebody'}, ${licence}, ${day}, ${isWaiting ? 'waits' : 'listed'}`,
    });
    const buttons = Object.assign(document.createElement('p'), { className: 'buttons' });
    if (isWaiting) buttons.append(this.#button('Accept', entry, 'admin/gallery/accept', 'is in the gallery'));
    buttons.append(
      this.#button(isWaiting ? 'Refuse' : 'Take out', entry, 'admin/gallery/refuse', 'is not in the gallery'),
      this.#button('Remove everywhere', entry, REMOVE, 'is removed from every desktop, and banned'),
    );
    item.append(picture, name, about, buttons);
    return item;
  }

  #button(words: string, { file, title }: GalleryEntry, path: string, done: string): HTMLElement {
    const button = Object.assign(document.createElement('button'), {
      type: 'button',
      textContent: words,
      ariaLabel: `${words}: ${title}`,
    });
    button.addEventListener('click', async () => {
      if (path === REMOVE && !confirm(`Remove ${title} from every desktop, and ban it?`)) return;
      button.disabled = true;
      const init = { method: 'POST', body: JSON.stringify({ picture: file }) };
      const response = await this.#ask(path, init).catch(() => undefined);
      const { detail, unsaved } = ((await response?.json().catch(() => undefined)) ?? {}) as Answer;
      const isUnsaved = unsaved === undefined ? '' : `It is not saved: ${unsaved} `;
      await this.#show(response?.ok ? `${title} ${done}. ${isUnsaved}` : `${detail ?? 'The relay does not answer.'} `);
      this.#details.querySelector('summary')?.focus(); // the button is gone
    });
    return button;
  }

  async #load(file: string, picture: HTMLImageElement): Promise<void> {
    const known = this.#pictures.get(file);
    if (known !== undefined) {
      picture.src = known;
      return;
    }
    const response = await this.#ask(`admin/picture/${file}`).catch(() => undefined);
    if (!response?.ok) return;
    const reader = new FileReader();
    reader.addEventListener('load', () => {
      picture.src = reader.result as string;
      this.#pictures.set(file, picture.src);
    });
    reader.readAsDataURL(await response.blob());
  }
}

/** A problem, or the answer to a change. */
interface Answer {
  detail?: string;
  /** What could not be saved, and why. */
  unsaved?: string;
}

const countWords = (count: number): string => (count === 1 ? 'One picture waits' : `${count} pictures wait`);
