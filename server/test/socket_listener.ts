/** A WebSocket desktop of a test, which keeps everything that it receives. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { Batch, Event, Joined } from './desktop_client.ts';

/** A desktop on a socket, which polls again after each batch. */
export class SocketListener {
  readonly messages: Record<string, unknown>[] = [];
  readonly #socket: WebSocket;
  #arrived: () => void = () => {};

  constructor(desktop: Joined) {
    this.#socket = new WebSocket(desktop.socket);
    this.#socket.on('open', () => this.send({ token: desktop.token, cursor: desktop.cursor }));
    this.#socket.on('message', (bytes) => {
      const message = JSON.parse(bytes.toString());
      this.messages.push(message);
      if (message.cursor) this.send({ cursor: message.cursor });
      this.#arrived();
    });
  }

  async opened(): Promise<void> {
    if (this.#socket.readyState !== WebSocket.OPEN) await once(this.#socket, 'open');
  }

  send(message: object): void {
    this.#socket.send(JSON.stringify(message));
  }

  /** Resolves to the first message, received already or later, that has this. */
  async find(has: (message: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
    for (;;) {
      const found = this.messages.find(has);
      if (found) return found;
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
    }
  }

  hears(text: string): Promise<Record<string, unknown>> {
    return this.find(({ events }) => JSON.stringify(events ?? '').includes(JSON.stringify(text)));
  }

  /** Resolves to the first event, received already or later, that `is` holds for. */
  async findEvent(is: (event: Event) => boolean): Promise<Event> {
    const message = (await this.find(
      ({ events }) => (events as Event[] | undefined)?.some(is) === true,
    )) as unknown as Batch;
    return message.events.find(is) as Event;
  }

  end(): void {
    this.#socket.terminate();
  }
}
