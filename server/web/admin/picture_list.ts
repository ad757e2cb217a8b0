/**
 * Pictures on the operator's page about which he decides: those that people have reported, and those that they have published, with
 * buttons for each decision.
 *
 * A list asks when it is opened, and again after each decision. A picture is shown with all its frames, because all of them will be seen,
 * and is fetched with the token like everything else. Invariant: texts of strangers are set as text, never as HTML.
 */

import type { GalleryEntry } from '../../wire/gallery.ts';
import type { Report } from '../../wire/report.ts';

/** What nobody can take back: the picture is gone from every desktop. */
const REMOVE: Decision = {
  words: 'Remove everywhere',
  path: 'admin/remove-picture',
  done: 'is removed from every desktop, and banned',
};

/** A button, the route that it posts to, and what is true of the picture then. */
interface Decision {
  words: string;
  path: string;
  done: string;
}

/** A picture in a list. */
interface Listed {
  file: string;
  title: string;
  about: string[];
  decisions: Decision[];
}

interface ListKind {
  id: string;
  title: string;
  path: string;
  read(answer: unknown): { words: string; pictures: Listed[] };
}

export const GALLERY: ListKind = {
  id: 'gallery',
  title: 'Gallery',
  path: 'admin/gallery',
  read(answer) {
    const { entries } = answer as { entries: GalleryEntry[] };
    const waiting = entries.filter(({ acceptedMs }) => acceptedMs === null).length;
    const words = `${waiting === 1 ? 'One picture waits' : `${waiting} pictures wait`} for you, ${entries.length - waiting} in the gallery.`;
    return { words, pictures: entries.map(published) };
  },
};

export const REPORTS: ListKind = {
  id: 'reports',
  title: 'Reports',
  path: 'admin/reports',
  read(answer) {
    const { reports, unanswered = [] } = answer as { reports: Report[]; unanswered?: string[] };
    const words = reports.length === 1 ? 'One picture is reported.' : `${reports.length} pictures are reported.`;
    const missing = unanswered.length === 0 ? '' : ` ${unanswered.join(', ')} did not answer.`;
    return { words: words + missing, pictures: reports.map(reported) };
  },
};

function published({ file, title, author, licence, sinceMs, acceptedMs }: GalleryEntry): Listed {
  const isWaiting = acceptedMs === null;
  const accept = { words: 'Accept', path: 'admin/gallery/accept', done: 'is in the gallery' };
  const words = isWaiting ? 'Refuse' : 'Take out';
  const refuse = { words, path: 'admin/gallery/refuse', done: 'is not in the gallery' };
  return {
    file,
    title,
    about: [`by ${author || 'somebody'}, ${licence}, ${dayOf(sinceMs)}, ${isWaiting ? 'waits' : 'listed'}`],
    decisions: [...(isWaiting ? [accept] : []), refuse, REMOVE],
  };
}

function reported({ file, count, lastMs, reasons, desktops = [] }: Report): Listed {
  const times = count === 1 ? 'Reported once' : `Reported ${count} times`;
  const throwers = desktops.length === 0 ? [] : [`thrown by ${desktops.join(', ')}`];
  return {
    file,
    title: `Picture ${file.slice(0, 8)}`,
    about: [`${times}, last on ${dayOf(lastMs)}`, ...reasons.map((reason) => `“${reason}”`), ...throwers],
    decisions: [{ words: 'Dismiss', path: 'admin/dismiss', done: 'is no longer reported' }, REMOVE],
  };
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** Sends a request of the operator. Rejects when the relay does not answer. */
export type Ask = (path: string, init?: RequestInit) => Promise<Response>;

export class PictureList {
  readonly element = document.createElement('details');
  readonly #kind: ListKind;
  readonly #ask: Ask;
  readonly #summary = document.createElement('summary');
  readonly #state = Object.assign(document.createElement('p'), { role: 'status' });
  readonly #list = document.createElement('ul');
  /** The pictures as data URLs, by file: the page's policy allows no others. */
  #pictures = new Map<string, string>();

  constructor(kind: ListKind, ask: Ask) {
    this.#kind = kind;
    this.#ask = ask;
    this.#summary.textContent = kind.title;
    this.element.id = kind.id;
    this.element.append(this.#summary, this.#state, this.#list);
    this.element.addEventListener('toggle', () => {
      if (this.element.open) void this.#show();
    });
  }

  /** Says in the list's title how many pictures wait for the operator. */
  showWaiting(count: number): void {
    this.#summary.textContent = count === 0 ? this.#kind.title : `${this.#kind.title}: ${count} for you`;
  }

  /** Forgets what it shows: the operator's token is gone. */
  close(): void {
    this.element.open = false;
    this.#list.replaceChildren();
    this.#pictures.clear();
    this.#state.textContent = '';
  }

  /** Shows the list. `news`: a sentence to show before the number of pictures. */
  async #show(news = ''): Promise<void> {
    try {
      const response = await this.#ask(this.#kind.path);
      if (!response.ok) throw new Error(`status ${response.status}`);
      const { words, pictures } = this.#kind.read(await response.json());
      if (!this.element.open) return; // the token may be gone since
      this.#state.textContent = news + words;
      this.#list.replaceChildren(...pictures.map((listed) => this.#item(listed)));
      const files = new Set(pictures.map(({ file }) => file));
      for (const file of this.#pictures.keys()) if (!files.has(file)) this.#pictures.delete(file);
    } catch {
      this.#state.textContent = 'The relay does not answer. Close this list and open it again.';
    }
  }

  #item(listed: Listed): HTMLElement {
    const { file, title, about, decisions } = listed;
    const item = document.createElement('li');
    item.dataset.file = file;
    const picture = Object.assign(document.createElement('img'), { alt: `All frames of ${title}` });
    void this.#load(file, picture);
    const name = Object.assign(document.createElement('h3'), { textContent: title });
    const lines = about.map((textContent) => Object.assign(document.createElement('p'), { textContent }));
    const buttons = Object.assign(document.createElement('p'), { className: 'buttons' });
    buttons.append(...decisions.map((decision) => this.#button(decision, listed)));
    item.append(picture, name, ...lines, buttons);
    return item;
  }

  #button(decision: Decision, { file, title }: Listed): HTMLElement {
    const { words, path, done } = decision;
    const button = Object.assign(document.createElement('button'), {
      type: 'button',
      textContent: words,
      ariaLabel: `${words}: ${title}`,
    });
    button.addEventListener('click', async () => {
      if (decision === REMOVE && !confirm(`Remove ${title} from every desktop, and ban it?`)) return;
      button.disabled = true;
      const init = { method: 'POST', body: JSON.stringify({ picture: file }) };
      const response = await this.#ask(path, init).catch(() => undefined);
      const { detail, unsaved } = ((await response?.json().catch(() => undefined)) ?? {}) as Answer;
      const isUnsaved = unsaved === undefined ? '' : `It is not saved: ${unsaved} `;
      await this.#show(response?.ok ? `${title} ${done}. ${isUnsaved}` : `${detail ?? 'The relay does not answer.'} `);
      this.#summary.focus(); // the button is gone
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
