/**
 * A text that the browser keeps under a key: for the site, or for this tab and its reloads.
 *
 * In a browser that stores nothing, or has no room, it is written in vain, and null is read.
 */
export class KeptText {
  readonly #storage: 'localStorage' | 'sessionStorage';
  readonly #key: string;

  constructor(storage: 'localStorage' | 'sessionStorage', key: string) {
    this.#storage = storage;
    this.#key = key;
  }

  read(): string | null {
    return this.#try((storage) => storage.getItem(this.#key)) ?? null;
  }

  write(text: string): void {
    this.#try((storage) => storage.setItem(this.#key, text));
  }

  clear(): void {
    this.#try((storage) => storage.removeItem(this.#key));
  }

  /** Returns what was written as JSON; null for any other text. */
  readJson<T>(): T | null {
    try {
      return JSON.parse(this.read() ?? 'null');
    } catch {
      return null;
    }
  }

  /** A browser that forbids storage throws already when it is asked for it. */
  #try<T>(act: (storage: Storage) => T): T | undefined {
    try {
      return act(globalThis[this.#storage]);
    } catch {
      return undefined;
    }
  }
}

/** A choice that a person has made in this browser, or that is known of them. */
export class KeptChoice {
  readonly #text: KeptText;

  constructor(key: string) {
    this.#text = new KeptText('localStorage', key);
  }

  get isMade(): boolean {
    return this.#text.read() !== null;
  }

  make(is = true): void {
    if (is) this.#text.write('yes');
    else this.#text.clear();
  }
}
