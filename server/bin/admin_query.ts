/** A request of `npm run admin` to the admin port, whose answer is printed. */
export interface Query {
  method: 'GET' | 'POST';
  path: string;
  /** Sent as JSON. */
  body?: object;
  /** Prints the parsed answer for people. */
  show(answer: never, print: Print): void;
}

export type Print = (text: string) => void;

/** `1 desktop`, `2 desktops` */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
