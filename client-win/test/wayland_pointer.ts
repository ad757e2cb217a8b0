/**
 * A pointer of a Wayland compositor: the few requests of wlr-virtual-pointer with which tests use one.
 *
 * Each message is the id of an object, its size and number, and its arguments, in words of the machine's byte order
 * (https://wayland.freedesktop.org/docs/html/ch04.html).
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { SCREEN } from './x_display.ts';

const DISPLAY = 1; // the object that every connection has
const [REGISTRY, MANAGER, POINTER] = [2, 3, 4]; // those that are made here
const MANAGER_NAME = 'zwlr_virtual_pointer_manager_v1';

/** The numbers of requests and events. */
const GET_REGISTRY = 1;
const BIND = 0;
const GLOBAL = 0;
const CREATE_POINTER = 0;
const [MOVE_TO, BUTTON, FRAME] = [1, 2, 4];

const ANSWER_MS_MAX = 5_000; // ms for each answer of the compositor

const FIRST_BUTTON = 0x110; // as Linux numbers them

/** Of the pointer, as X numbers them. */
const BUTTONS: Record<number, number> = { 1: FIRST_BUTTON, 3: FIRST_BUTTON + 1 };

export class WaylandPointer {
  private readonly socket: Socket;
  /** The buttons that are down: a compositor counts a button that goes up twice. */
  private readonly down = new Set<number>();

  private constructor(socket: Socket) {
    this.socket = socket;
  }

  /** Adds a pointer to the compositor that listens at this path. Throws when it does not offer one in time, or closes the connection. */
  static async connect(path: string): Promise<WaylandPointer> {
    const socket = connect(path);
    socket.setTimeout(ANSWER_MS_MAX, () => socket.destroy(new Error(`The compositor did not offer ${MANAGER_NAME}.`)));
    await once(socket, 'connect');
    const pointer = new WaylandPointer(socket);
    pointer.send(DISPLAY, GET_REGISTRY, [REGISTRY]);
    const manager = await pointer.findManager();
    pointer.send(REGISTRY, BIND, [manager, MANAGER_NAME, 1, MANAGER]);
    pointer.send(MANAGER, CREATE_POINTER, [0, POINTER]);
    socket.setTimeout(0);
    socket.resume();
    socket.unref(); // a test that fails can still end
    return pointer;
  }

  /** The name of the manager among what the compositor offers, now or while it still starts. */
  private async findManager(): Promise<number> {
    let unread = Buffer.alloc(0);
    for await (const bytes of this.socket.iterator({ destroyOnReturn: false })) {
      unread = Buffer.concat([unread, bytes]);
      while (unread.length >= 8 && unread.length >= unread.readUInt16LE(6)) {
        const message = unread.subarray(0, unread.readUInt16LE(6));
        const [object, event] = [message.readUInt32LE(0), message.readUInt16LE(4)];
        if (object === REGISTRY && event === GLOBAL && message.includes(MANAGER_NAME)) return message.readUInt32LE(8);
        unread = unread.subarray(message.length);
      }
    }
    throw new Error(`The compositor closed the connection before it offered ${MANAGER_NAME}.`);
  }

  moveTo(x: number, y: number): void {
    this.act(MOVE_TO, [Math.round(x), Math.round(y), SCREEN.width, SCREEN.height]);
  }

  press(button: number): void {
    this.set(button, true);
  }

  release(button: number): void {
    this.set(button, false);
  }

  private set(button: number, isDown: boolean): void {
    if (this.down.has(button) === isDown) return;
    if (isDown) this.down.add(button);
    else this.down.delete(button);
    this.act(BUTTON, [BUTTONS[button], isDown ? 1 : 0]);
  }

  close(): void {
    this.socket.destroy();
  }

  private act(request: number, args: number[]): void {
    const ms = Math.round(performance.now());
    this.send(POINTER, request, [ms, ...args]);
    this.send(POINTER, FRAME, []);
  }

  private send(object: number, request: number, args: (number | string)[]): void {
    const body = Buffer.concat(args.map(bytesOf));
    const head = Buffer.alloc(8);
    head.writeUInt32LE(object, 0);
    head.writeUInt16LE(request, 4);
    head.writeUInt16LE(8 + body.length, 6);
    this.socket.write(Buffer.concat([head, body]));
  }
}

/** A number, or a text: its length with the zero at its end, and its bytes up to a whole word. */
function bytesOf(argument: number | string): Buffer {
  const word = Buffer.alloc(4);
  if (typeof argument === 'number') {
    word.writeUInt32LE(argument);
    return word;
  }
  const length = Buffer.byteLength(argument) + 1;
  word.writeUInt32LE(length);
  const text = Buffer.alloc(Math.ceil(length / 4) * 4);
  text.write(argument);
  return Buffer.concat([word, text]);
}
