/**
 * What this person says: the text as the relay stores it, the numbers, and the one saying that has no answer yet.
 *
 * Invariant: at most one saying is pending. It keeps its number until the relay has answered, even over a new connection or a
 * reload, so it is said once. Numbers only rise, because the relay treats a number that it has seen as a repeat.
 */
import type { Problem, Saying, Transport } from './transport.ts';

interface SayingHandlers {
  /** The pending saying or the next number has changed and must be saved now. A new saying is sent only after that. */
  save(): void;
  /** `heard` is how many others it is for; null when the relay does not remember. */
  accepted(saying: Saying, heard: number | null): void;
  refused(saying: Saying, problem: Problem): void;
}

/** What a reload must not lose. */
export interface SavedSayings {
  nextNumber: number;
  pending: Saying | null;
}

export class Sayings {
  nextNumber = 1;
  pending: Saying | null = null;
  #transport: Transport | null = null;
  readonly #handlers: SayingHandlers;

  constructor(handlers: SayingHandlers) {
    this.#handlers = handlers;
  }

  /** Sends over `transport` from now on. A saying that is pending is sent again, under its number. */
  use(transport: Transport): void {
    this.#transport = transport;
    void this.#send();
  }

  /** Says a text, which `tidy` has made. Returns false when another saying is pending. */
  say(text: string): boolean {
    if (this.pending !== null) return false;
    this.pending = { saying: this.nextNumber++, text };
    this.#handlers.save();
    void this.#send();
    return true;
  }

  /** Restores what was saved when the page was unloaded. */
  resume({ nextNumber, pending }: SavedSayings): void {
    this.nextNumber = nextNumber;
    this.pending = pending;
  }

  async #send(): Promise<void> {
    const { pending } = this;
    const transport = this.#transport;
    if (pending === null || transport === null) return;
    const verdict = await transport.say(pending);
    if (this.pending !== pending || this.#transport !== transport) return; // the next transport sends it again
    this.pending = null;
    this.#handlers.save();
    if (verdict === 'unknown') this.#handlers.refused(pending, SEAT_ENDED);
    else if ('refused' in verdict) this.#handlers.refused(pending, verdict.refused);
    else this.#handlers.accepted(pending, verdict.heard);
  }
}

const SEAT_ENDED: Problem = { code: 'desktop-ended', title: 'The relay did not answer before this desktop ended.' };

/** Returns a text in the form in which the relay stores it. */
export function tidy(text: string): string {
  return text.normalize('NFC').trim();
}

/** Returns the bytes of UTF-8 that a text takes. */
export function sizeBytes(text: string): number {
  return new TextEncoder().encode(text).length;
}
