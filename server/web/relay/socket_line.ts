/** One WebSocket to the relay, from when the browser begins to open it until it is closed. It closes when the relay is silent for too long. */

interface LineHandlers {
  opened(): void;
  received(message: string): void;
  /** Called once, when either side has closed it. */
  closed(): void;
}

export class SocketLine {
  isOpen = false;
  readonly #socket: WebSocket;
  readonly #silenceMs: number;
  readonly #handlers: LineHandlers;
  #silenceTimer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(socket: WebSocket, silenceMs: number, handlers: LineHandlers) {
    this.#socket = socket;
    this.#silenceMs = silenceMs;
    this.#handlers = handlers;
    socket.onopen = () => {
      this.isOpen = true;
      handlers.opened();
    };
    socket.onclose = socket.onerror = () => this.close();
    socket.onmessage = ({ data }) => {
      this.#restartSilenceTimer();
      handlers.received(String(data));
    };
    this.#restartSilenceTimer();
  }

  send(message: object): void {
    this.#socket.send(JSON.stringify(message));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.isOpen = false;
    clearTimeout(this.#silenceTimer);
    this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = this.#socket.onerror = null;
    this.#socket.close();
    this.#handlers.closed();
  }

  #restartSilenceTimer(): void {
    clearTimeout(this.#silenceTimer);
    this.#silenceTimer = setTimeout(() => this.close(), this.#silenceMs);
  }
}
