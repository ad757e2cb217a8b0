/**
 * What this browser keeps between visits, by key: the pictures that its visitor made, and the draft in the editor.
 *
 * IndexedDB holds bytes, which sessionStorage does not. Where a browser stores nothing, reads find nothing and writes reject.
 */

const DATABASE = 'sprites';
const VERSION = 1;
const STORES = ['pictures', 'draft'] as const;

const OPEN_MS_MAX = 5_000; // ms for the database to open: a desktop waits for it before its sprites are there

type Store = (typeof STORES)[number];

let opened: Promise<IDBDatabase> | undefined;

/** Returns what is kept under a key; undefined when nothing is. */
export async function readStored<T>(store: Store, key: string): Promise<T | undefined> {
  return await ask(store, 'readonly', (objects) => objects.get(key)).catch(() => undefined);
}

/** Returns all that is kept in a store, in the order of the keys. */
export async function readAllStored<T>(store: Store): Promise<T[]> {
  return await ask<T[]>(store, 'readonly', (objects) => objects.getAll()).catch(() => []);
}

export async function writeStored(store: Store, key: string, value: unknown): Promise<void> {
  await ask(store, 'readwrite', (objects) => objects.put(value, key));
}

export async function removeStored(store: Store, key: string): Promise<void> {
  await ask(store, 'readwrite', (objects) => objects.delete(key)).catch(() => {});
}

async function ask<T>(
  store: Store,
  mode: IDBTransactionMode,
  request: (objects: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  opened ??= open();
  const database = await opened;
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(store, mode);
    const answer = request(transaction.objectStore(store));
    transaction.oncomplete = () => resolve(answer.result);
    transaction.onabort = () => reject(transaction.error ?? new Error('The browser has no room.'));
  });
}

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, VERSION);
    request.onupgradeneeded = () => {
      for (const store of STORES) request.result.createObjectStore(store);
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    setTimeout(() => reject(new Error('The browser does not answer.')), OPEN_MS_MAX);
  });
}
