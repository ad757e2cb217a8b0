/**
 * A connection to an X server: the few requests with which tests look at windows, and use pointer and keyboard.
 *
 * Requests are sent at once and answered in order, so many of them take one round trip. Input is XTEST's: the server handles it as
 * that of a real mouse and keyboard. Invariant: when a promise resolves, the server has done what was asked.
 * Source: the X Window System Protocol, version 11, and the XTEST extension.
 */
import net from 'node:net';

/** The requests that are used, by their numbers in the protocol. */
const REQUEST = {
  getWindowAttributes: 3,
  configureWindow: 12,
  getGeometry: 14,
  queryTree: 15,
  internAtom: 16,
  getProperty: 20,
  sendEvent: 25,
  grabKeyboard: 31,
  ungrabKeyboard: 32,
  queryPointer: 38,
  translateCoordinates: 40,
  setInputFocus: 42,
  getInputFocus: 43,
  queryExtension: 98,
  changeKeyboardMapping: 100,
  getKeyboardMapping: 101,
  killClient: 113,
} as const;

const ATOM = { any: 0, wmName: 39 } as const;
const EVENT = { keyPress: 2, keyRelease: 3, buttonPress: 4, buttonRelease: 5, motion: 6, clientMessage: 33 } as const;
const FAKE_INPUT = 2; // of XTEST
const VIEWABLE = 2; // a window that is mapped, as all around it are
const PACKET_BYTES = 32; // of an event, an error, and the beginning of a reply
const [ERROR, REPLY, GENERIC_EVENT] = [0, 1, 35];
const NAME_WORDS_MAX = 1024; // 4 bytes each: longer than any title
const SUBSTRUCTURE = 0x180000; // the mask of what a window manager receives
const X_AND_Y = 3; // the mask of a window's members that are configured

const DEAD_ACUTE = 0xfe51; // the accent of the letter that comes next

/** Keys that have a name; every other key is its character. */
const KEYSYMS: Readonly<Record<string, number>> = {
  ...{ Tab: 0xff09, Return: 0xff0d, Escape: 0xff1b, Left: 0xff51, Up: 0xff52, Right: 0xff53, Down: 0xff54 },
  ...{ F4: 0xffc1, shift: 0xffe1, ctrl: 0xffe3, alt: 0xffe9, space: 0x20, acute: DEAD_ACUTE },
};

/** The keysym of a letter: Latin-1 has its own, every other one is that of Unicode. */
function keysymOf(letter: string): number {
  const code = letter.codePointAt(0)!;
  return code < 0x100 ? code : 0x01000000 + code;
}

/** A window that is shown. */
export interface XWindow {
  id: number;
  /** Its titles: the one in Latin-1 and the one in UTF-8, if they differ. */
  titles: string[];
  /** Without a border or a frame, from the corner of the screen. */
  x: number;
  y: number;
  width: number;
  height: number;
}

interface Waiting {
  resolve(reply: Buffer): void;
  reject(error: Error): void;
}

export class XProtocol {
  private readonly socket: net.Socket;
  private received: Buffer = Buffer.alloc(0);
  private sent = 0;
  private readonly waiting = new Map<number, Waiting>();
  private root = 0;
  private xtest = 0;
  private utf8Name = 0;
  /** The keycode of each keysym, and whether it needs shift. */
  private readonly keys = new Map<number, { code: number; shifted: boolean }>();
  /** Keycodes that have no keysym. */
  private readonly freeKeys: number[] = [];

  private constructor(socket: net.Socket) {
    this.socket = socket;
  }

  /** Connects to a display such as `:1`. */
  static async connect(display: string): Promise<XProtocol> {
    const socket = net.connect(`/tmp/.X11-unix/X${display.slice(1)}`);
    const x = new XProtocol(socket);
    const setup = await new Promise<Buffer>((resolve, reject) => {
      socket.once('error', reject);
      socket.once('close', () => reject(new Error(`The X server ${display} has closed the connection.`)));
      const collect = (bytes: Buffer) => {
        x.received = Buffer.concat([x.received, bytes]);
        if (x.received.length < 8 || x.received.length < 8 + 4 * x.received.readUInt16LE(6)) return;
        socket.off('data', collect);
        resolve(x.received);
      };
      socket.on('data', collect);
      const LITTLE_ENDIAN = 0x6c;
      socket.write(Buffer.from([LITTLE_ENDIAN, 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
    });
    x.received = Buffer.alloc(0);
    if (setup[0] !== 1) throw new Error(`The X server ${display} has refused the connection.`);
    const vendor = setup.readUInt16LE(24);
    x.root = setup.readUInt32LE(40 + 4 * Math.ceil(vendor / 4) + 8 * setup[29]);
    socket.on('data', (bytes: Buffer) => x.read(bytes));
    socket.on('error', () => {});
    socket.on('close', () => x.fail(new Error(`The X server ${display} has ended.`)));
    await x.prepare(setup[34], setup[35]);
    return x;
  }

  close(): void {
    this.socket.destroy();
  }

  /** The windows that are shown and have one of these titles, each before those in it, the lowest first. */
  async windows(title: RegExp): Promise<XWindow[]> {
    const look = async (id: number): Promise<XWindow[]> => {
      // Most windows are hidden, so the rest is asked of the others only.
      if ((await this.ask(REQUEST.getWindowAttributes, 0, [id]))[26] !== VIEWABLE) return [];
      const [latin, utf8, children] = await Promise.all([
        this.text(id, ATOM.wmName),
        this.text(id, this.utf8Name),
        this.childrenOf(id),
      ]);
      const titles = [...new Set([latin.toString('latin1'), utf8.toString('utf8')])];
      const [own, inside] = await Promise.all([
        titles.some((one) => title.test(one)) ? this.placeOf(id) : undefined,
        this.lookAtAll(children, look),
      ]);
      return own ? [{ id, titles, ...own }, ...inside] : inside;
    };
    return await this.lookAtAll(await this.childrenOf(this.root), look);
  }

  /** The windows below the pointer: the one on the root, then each in the one before. */
  async windowsBelowPointer(): Promise<number[]> {
    const path: number[] = [];
    for (let id = this.root; id !== 0; ) {
      const reply = await this.ask(REQUEST.queryPointer, 0, [id]);
      id = reply.readUInt32LE(12);
      if (id !== 0) path.push(id);
    }
    return path;
  }

  /** The window that has the keyboard. */
  async focused(): Promise<number> {
    return (await this.ask(REQUEST.getInputFocus, 0, [])).readUInt32LE(8);
  }

  /** Whether a window, or one in it, has the keyboard: GTK's windows have one in them for that. */
  async hasKeyboard(id: number): Promise<boolean> {
    const focused = await this.focused();
    const inside = await this.childrenOf(id).catch((): number[] => []); // the window may have gone
    return focused === id || inside.includes(focused);
  }

  async focus(id: number): Promise<void> {
    const TO_PARENT = 2; // what gets the focus when the window goes
    this.send(REQUEST.setInputFocus, TO_PARENT, [id, 0]);
    await this.sync();
  }

  /** Whether a program, such as an open menu, receives all keys. */
  async isKeyboardGrabbed(): Promise<boolean> {
    const ASYNCHRONOUS = 0x101; // events go on, for the pointer and the keyboard
    // If the keyboard is free it is given back at once, in the same packet, so no program misses it meanwhile.
    this.socket.cork();
    const grab = this.ask(REQUEST.grabKeyboard, 0, [this.root, 0, ASYNCHRONOUS]);
    this.send(REQUEST.ungrabKeyboard, 0, [0]);
    this.socket.uncork();
    const ALREADY_GRABBED = 1;
    return (await grab)[1] === ALREADY_GRABBED;
  }

  /** Asks the window manager to activate a window. */
  async activate(id: number): Promise<void> {
    const event = Buffer.alloc(PACKET_BYTES);
    event[0] = EVENT.clientMessage;
    event[1] = 32; // bits of each number
    event.writeUInt32LE(id, 4);
    event.writeUInt32LE(await this.atom('_NET_ACTIVE_WINDOW'), 8);
    event.writeUInt32LE(2, 12); // from a pager
    this.send(REQUEST.sendEvent, 0, [this.root, SUBSTRUCTURE], event);
    await this.sync();
  }

  async moveWindow(id: number, x: number, y: number): Promise<void> {
    this.send(REQUEST.configureWindow, 0, [id, X_AND_Y, x, y]);
    await this.sync();
  }

  /** Ends the program of a window. */
  async killProgram(id: number): Promise<void> {
    this.send(REQUEST.killClient, 0, [id]);
    await this.sync();
  }

  /** Whether a window manager that follows the standard manages windows: it lists them, once it has read its own settings. */
  async hasWindowManager(): Promise<boolean> {
    const list = await this.atom('_NET_CLIENT_LIST');
    const reply = await this.ask(REQUEST.getProperty, 0, [this.root, list, ATOM.any, 0, 0]);
    return reply.readUInt32LE(8) !== 0; // its type, which only a property that is there has: the list is empty
  }

  async movePointer(x: number, y: number): Promise<void> {
    this.fake(EVENT.motion, 0, Math.round(x), Math.round(y));
    await this.sync();
  }

  async pressButton(button: number): Promise<void> {
    this.fake(EVENT.buttonPress, button);
    await this.sync();
  }

  async releaseButton(button: number): Promise<void> {
    this.fake(EVENT.buttonRelease, button);
    await this.sync();
  }

  /** Gives the keyboard a key for each that it lacks, as another layout would. Up to as many as it has keys to spare. */
  async addKeysFor(names: Iterable<string>): Promise<void> {
    for (const name of names) {
      const [symbol, code] = [KEYSYMS[name] ?? keysymOf(name), this.freeKeys[0]];
      if (this.keys.has(symbol)) continue;
      if (code === undefined) throw new Error(`The keyboard has no key to spare for ${name}.`);
      this.freeKeys.shift();
      this.send(REQUEST.changeKeyboardMapping, 1, [code | (1 << 8), symbol]);
      this.keys.set(symbol, { code, shifted: false });
    }
    await this.sync();
  }

  /** Presses a key, or holds some that go before it: `a`, `Return`, `ctrl+a`. */
  async pressKey(name: string): Promise<void> {
    this.eachKey(name, EVENT.keyPress);
    await this.sync();
  }

  async releaseKey(name: string): Promise<void> {
    this.eachKey(name, EVENT.keyRelease);
    await this.sync();
  }

  /** Waits until the server has done all that was sent. */
  async sync(): Promise<void> {
    await this.ask(REQUEST.getInputFocus, 0, []);
  }

  private eachKey(name: string, event: number): void {
    const names = name.length > 1 ? name.split('+') : [name];
    const codes: number[] = [];
    for (const one of names) {
      const key = this.keys.get(KEYSYMS[one] ?? keysymOf(one));
      if (key === undefined) throw new Error(`The keyboard has no ${one}.`);
      if (key.shifted) codes.push(this.keys.get(KEYSYMS.shift)!.code);
      codes.push(key.code);
    }
    for (const code of event === EVENT.keyPress ? codes : codes.reverse()) this.fake(event, code);
  }

  private fake(event: number, detail: number, x = 0, y = 0): void {
    const words = [(event | (detail << 8)) >>> 0, 0, this.root, 0, 0, ((x & 0xffff) | (y << 16)) >>> 0, 0, 0];
    this.send(this.xtest, FAKE_INPUT, words);
  }

  /** Looks at all at once: a window that has gone meanwhile is left out. */
  private async lookAtAll(ids: number[], look: (id: number) => Promise<XWindow[]>): Promise<XWindow[]> {
    const all = await Promise.allSettled(ids.map(look));
    if (this.socket.destroyed) throw new Error('The X server has ended.');
    return all.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  }

  private async placeOf(id: number): Promise<Omit<XWindow, 'id' | 'titles'>> {
    const [geometry, place] = await Promise.all([
      this.ask(REQUEST.getGeometry, 0, [id]),
      this.ask(REQUEST.translateCoordinates, 0, [id, this.root, 0]),
    ]);
    const [x, y] = [place.readInt16LE(12), place.readInt16LE(14)];
    return { x, y, width: geometry.readUInt16LE(16), height: geometry.readUInt16LE(18) };
  }

  private async childrenOf(id: number): Promise<number[]> {
    const reply = await this.ask(REQUEST.queryTree, 0, [id]);
    return Array.from({ length: reply.readUInt16LE(16) }, (_, i) => reply.readUInt32LE(PACKET_BYTES + 4 * i));
  }

  private async text(id: number, property: number): Promise<Buffer> {
    const reply = await this.ask(REQUEST.getProperty, 0, [id, property, ATOM.any, 0, NAME_WORDS_MAX]);
    return reply.subarray(PACKET_BYTES, PACKET_BYTES + (reply.readUInt32LE(16) * reply[1]) / 8);
  }

  private async atom(name: string): Promise<number> {
    const text = Buffer.alloc(4 * Math.ceil(name.length / 4));
    text.write(name, 'latin1');
    return (await this.ask(REQUEST.internAtom, 0, [name.length], text)).readUInt32LE(8);
  }

  private async prepare(firstKey: number, lastKey: number): Promise<void> {
    const count = lastKey - firstKey + 1;
    const name = Buffer.from('XTEST\0\0\0');
    const [extension, mapping, utf8Name] = await Promise.all([
      this.ask(REQUEST.queryExtension, 0, ['XTEST'.length], name),
      this.ask(REQUEST.getKeyboardMapping, 0, [firstKey | (count << 8)]),
      this.atom('_NET_WM_NAME'),
    ]);
    if (extension[8] === 0) throw new Error('The X server has no XTEST.');
    this.xtest = extension[9];
    this.utf8Name = utf8Name;
    const columns = mapping[1];
    for (let i = 0; i < count; i++) {
      const from = PACKET_BYTES + 4 * i * columns;
      if (mapping.subarray(from, from + 4 * columns).every((byte) => byte === 0)) this.freeKeys.push(firstKey + i);
      for (const shifted of [false, true]) {
        const keysym = mapping.readUInt32LE(PACKET_BYTES + 4 * (i * columns + (shifted ? 1 : 0)));
        if (keysym !== 0 && !this.keys.has(keysym)) this.keys.set(keysym, { code: firstKey + i, shifted });
      }
    }
  }

  /** Sends a request: its number, one byte, words of 32 bits, and bytes to a multiple of four. */
  private send(request: number, byte: number, words: number[], bytes: Buffer = Buffer.alloc(0)): void {
    const packet = Buffer.alloc(4 + 4 * words.length + bytes.length);
    packet[0] = request;
    packet[1] = byte;
    packet.writeUInt16LE(packet.length / 4, 2);
    for (const [i, word] of words.entries()) packet.writeUInt32LE(word, 4 + 4 * i);
    bytes.copy(packet, 4 + 4 * words.length);
    this.sent++;
    this.socket.write(packet);
  }

  private ask(request: number, byte: number, words: number[], bytes?: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      if (this.socket.destroyed) reject(new Error('The X server has ended.'));
      this.send(request, byte, words, bytes);
      this.waiting.set(this.sent & 0xffff, { resolve, reject });
      this.socket.ref();
    });
  }

  private read(bytes: Buffer): void {
    this.received = this.received.length === 0 ? bytes : Buffer.concat([this.received, bytes]);
    for (;;) {
      if (this.received.length < PACKET_BYTES) return;
      const type = this.received[0];
      const isLong = type === REPLY || type === GENERIC_EVENT;
      const length = PACKET_BYTES + (isLong ? 4 * this.received.readUInt32LE(4) : 0);
      if (this.received.length < length) return;
      const packet = this.received.subarray(0, length);
      this.received = this.received.subarray(length);
      if (type !== REPLY && type !== ERROR) continue;
      const number = packet.readUInt16LE(2);
      const waiting = this.waiting.get(number);
      this.waiting.delete(number);
      if (this.waiting.size === 0) this.socket.unref(); // a test that fails can still end
      if (type === REPLY) waiting?.resolve(packet);
      else waiting?.reject(new Error(`X error ${packet[1]}`));
    }
  }

  private fail(error: Error): void {
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }
}
