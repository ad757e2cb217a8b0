/** The elements of a page: finds the one with an id, and makes new ones. Text is inserted as text, never as markup. */

export function element<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

/** Makes an element with these properties. */
export function newElement<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]>,
): HTMLElementTagNameMap[Name] {
  return Object.assign(document.createElement(name), properties);
}
