/**
 * Firefox and WebKitGTK's MiniBrowser as Debian has them, each on an X display of its own, used as a person does.
 *
 * No library drives both: Playwright needs builds of its own, and others need geckodriver, which Debian does not have. Both obey the
 * commands of WebDriver (https://www.w3.org/TR/webdriver2/): WebKitWebDriver over HTTP, Firefox as packets of its Marionette, to which
 * geckodriver translates them. Invariant: when the process of the test ends, its browsers end too: they lose their X server.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../tools/bench/free_ports.ts';
import { BOUND, startXvfb } from '../../tools/bench/xvfb.ts';
import { findProgram, installHint } from '../../tools/machine.js';
import { OTHER_BROWSERS } from '../../tools/test/needs.ts';
import { sendRequest } from './desktop_client.ts';
import { until } from './relay_process.ts';

/** Why this machine can't run them; false if it can. */
export const noOtherBrowsers = OTHER_BROWSERS.programs.every((program) => findProgram(program))
  ? false
  : `needs ${OTHER_BROWSERS.programs.join(', ')}: ${installHint(OTHER_BROWSERS.packages)}`;

/** The window, in px: below these sizes the pages are laid out as on a phone. */
const WINDOW = { width: 1000, height: 760 };

/** The commands that tests use: method and path of HTTP, and the name in Marionette. */
const COMMANDS = {
  newSession: ['POST', '', 'WebDriver:NewSession'],
  setWindow: ['POST', '/window/rect', 'WebDriver:SetWindowRect'],
  tabs: ['GET', '/window/handles', 'WebDriver:GetWindowHandles'],
  newTab: ['POST', '/window/new', 'WebDriver:NewWindow'],
  toTab: ['POST', '/window', 'WebDriver:SwitchToWindow'],
  closeTab: ['DELETE', '/window', 'WebDriver:CloseWindow'],
  goto: ['POST', '/url', 'WebDriver:Navigate'],
  back: ['POST', '/back', 'WebDriver:Back'],
  reload: ['POST', '/refresh', 'WebDriver:Refresh'],
  execute: ['POST', '/execute/sync', 'WebDriver:ExecuteScript'],
  act: ['POST', '/actions', 'WebDriver:PerformActions'],
  screenshot: ['GET', '/screenshot', 'WebDriver:TakeScreenshot'],
  endSession: ['DELETE', '', 'Marionette:Quit'],
} as const satisfies Record<string, readonly [method: string, path: string, packet: string]>;

/** Carries out a command. Throws an Error with what the browser says when it can't. */
type Driver = (command: keyof typeof COMMANDS, parameters: object) => Promise<unknown>;

export type BrowserKind = 'firefox' | 'webkit';

/** Where the pointer goes, in px of the page, and how long it takes. */
export interface Move {
  x: number;
  y: number;
  afterMs?: number;
}

export class DrivenBrowser {
  readonly #driver: Driver;
  /** What a page is opened in: MiniBrowser hides a new tab behind the one that it has. */
  readonly #opens: 'tab' | 'window';
  readonly #stop: () => Promise<void>;

  private constructor(kind: BrowserKind, driver: Driver, stop: () => Promise<void>) {
    this.#driver = driver;
    this.#opens = kind === 'firefox' ? 'tab' : 'window';
    this.#stop = stop;
  }

  static async start(kind: BrowserKind): Promise<DrivenBrowser> {
    const folder = mkdtempSync(join(tmpdir(), `sprites-${kind}-`));
    const { server, display } = await startXvfb('-screen', '0', '1280x1024x24');
    const env = { ...process.env, HOME: folder, DISPLAY: display, ...QUIET };
    const { driver, child } = await (kind === 'firefox' ? startFirefox(folder, env) : startWebKit(env));
    return new DrivenBrowser(kind, driver, async () => {
      await driver('endSession', {}).catch(() => {});
      for (const one of [child, server]) await end(one);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    });
  }

  /** Opens an address in a new tab; the first tab stays empty. */
  async open(url: string): Promise<void> {
    const { handle } = (await this.#driver('newTab', { type: this.#opens })) as { handle: string };
    await this.#driver('toTab', { handle });
    await this.#driver('setWindow', { x: 0, y: 0, ...WINDOW });
    await this.goto(url);
  }

  /** Closes the tab, as a person does. */
  async close(): Promise<void> {
    await this.#driver('closeTab', {});
    const [handle] = (await this.#driver('tabs', {})) as string[];
    await this.#driver('toTab', { handle });
  }

  async goto(url: string): Promise<void> {
    await this.#driver('goto', { url });
  }

  async back(): Promise<void> {
    await this.#driver('back', {});
  }

  async reload(): Promise<void> {
    await this.#driver('reload', {});
  }

  /** Runs a function in the page. It and its arguments are sent as text. */
  async evaluate<Arguments extends unknown[], Result>(
    run: (...args: Arguments) => Result,
    ...args: Arguments
  ): Promise<Awaited<Result>> {
    return (await this.#driver('execute', { script: `return (${run})(...arguments)`, args })) as Awaited<Result>;
  }

  /** Waits until a function holds in the page, also when the page is loaded meanwhile. */
  async waitFor<Arguments extends unknown[]>(
    sentence: string,
    holds: (...args: Arguments) => unknown,
    ...args: Arguments
  ): Promise<void> {
    let fault: unknown;
    const look = () =>
      this.evaluate(holds, ...args).catch((error) => {
        fault = error;
        return false;
      });
    await until(sentence, async () => Boolean(await look())).catch((error) => {
      throw new Error(error.message, { cause: fault });
    });
  }

  /** Presses the pointer at the first place, moves it through the others, and releases it there, all at the given times. */
  async drag([from, ...path]: Move[]): Promise<void> {
    const move = ({ x, y, afterMs = 0 }: Move) => {
      return { type: 'pointerMove', x: Math.round(x), y: Math.round(y), duration: afterMs, origin: 'viewport' };
    };
    const [down, up] = ['pointerDown', 'pointerUp'].map((type) => ({ type, button: 0 }));
    await this.#act('pointer', [move(from), down, ...path.map(move), up], { parameters: { pointerType: 'mouse' } });
  }

  /** Clicks the middle of an element as soon as it is there and can be pressed. */
  async click(selector: string): Promise<void> {
    const find = (at: string) => {
      const found = document.querySelector(at);
      const { left, top, width, height } = found?.getBoundingClientRect() ?? new DOMRect();
      return width > 0 && !found?.matches(':disabled') && { x: left + width / 2, y: top + height / 2 };
    };
    await this.waitFor(`${selector} can be pressed`, find, selector);
    await this.drag([(await this.evaluate(find, selector)) as Move]);
  }

  /** Types on the keyboard. Keys without a character have the code points of WebDriver: KEYS. */
  async type(keys: string): Promise<void> {
    const strokes = [...keys].flatMap((value) => ['keyDown', 'keyUp'].map((type) => ({ type, value })));
    await this.#act('key', strokes);
  }

  /** Returns the page as a PNG. */
  async screenshot(): Promise<Buffer> {
    return Buffer.from((await this.#driver('screenshot', { full: false })) as string, 'base64');
  }

  stop(): Promise<void> {
    return this.#stop();
  }

  async #act(type: 'pointer' | 'key', actions: object[], more: object = {}): Promise<void> {
    await this.#driver('act', { actions: [{ type, id: type, ...more, actions }] });
  }
}

export const KEYS = { enter: '\uE007', escape: '\uE00C' } as const;

/** They look for no session bus, no screen reader and no graphics card. */
const QUIET = {
  NO_AT_BRIDGE: '1',
  GTK_A11Y: 'none',
  DBUS_SESSION_BUS_ADDRESS: 'disabled:',
  LIBGL_ALWAYS_SOFTWARE: '1',
};

interface Started {
  driver: Driver;
  child: ChildProcess;
}

function spawnBound(command: string[], env: NodeJS.ProcessEnv): ChildProcess {
  const [program, ...args] = [...BOUND, ...command];
  const child = spawn(program, args, { env, stdio: 'ignore' });
  child.unref();
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** Settings of Firefox: Marionette on a port that the system chooses, and nothing that opens a page or asks the network by itself. */
const PREFERENCES = {
  'marionette.port': 0,
  'browser.aboutwelcome.enabled': false,
  'browser.startup.homepage': 'about:blank',
  'browser.startup.page': 0,
  'datareporting.policy.dataSubmissionEnabled': false,
  'extensions.systemAddon.update.enabled': false,
};

async function startFirefox(profile: string, env: NodeJS.ProcessEnv): Promise<Started> {
  const lines = Object.entries(PREFERENCES).map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});`);
  writeFileSync(join(profile, 'user.js'), lines.join('\n'));
  const child = spawnBound(['firefox-esr', '--marionette', '--no-remote', '--profile', profile], env);
  const file = join(profile, 'MarionetteActivePort');
  await until('Firefox has opened its port', () => existsSync(file) && readFileSync(file, 'utf8') !== '');
  const send = await openMarionette(Number(readFileSync(file, 'utf8')));
  const driver: Driver = async (command, parameters) => {
    const result = await send(COMMANDS[command][2], parameters);
    return typeof result === 'object' && result !== null && 'value' in result ? result.value : result;
  };
  await driver('newSession', {});
  return { driver, child };
}

/** Packets are JSON after its length in bytes and a colon: `[0, id, command, parameters]`, and answers `[1, id, error, result]`. */
async function openMarionette(port: number): Promise<(command: string, parameters: object) => Promise<unknown>> {
  const socket = connect(port, '127.0.0.1');
  const waiting = new Map<number, (answer: { error: { message: string } | null; result: unknown }) => void>();
  let bytes: Buffer = Buffer.alloc(0);
  socket.unref();
  socket.on('error', () => {});
  socket.on('close', () => {
    for (const settle of waiting.values()) settle({ error: { message: 'Firefox has ended' }, result: null });
  });
  socket.on('data', (part: Buffer) => {
    bytes = Buffer.concat([bytes, part]);
    for (;;) {
      const from = bytes.indexOf(':') + 1;
      const to = from + Number(bytes.subarray(0, Math.max(0, from - 1)));
      if (from === 0 || bytes.length < to) return;
      const packet = JSON.parse(bytes.subarray(from, to).toString());
      bytes = bytes.subarray(to);
      if (!Array.isArray(packet)) continue; // its greeting
      const [, id, error, result] = packet;
      waiting.get(id)?.({ error, result });
      waiting.delete(id);
    }
  });
  await once(socket, 'connect');
  let sent = 0;
  return async (command, parameters) => {
    const id = ++sent;
    const text = JSON.stringify([0, id, command, parameters]);
    const answered = new Promise<{ error: { message: string } | null; result: unknown }>((resolve) =>
      waiting.set(id, resolve),
    );
    socket.write(`${Buffer.byteLength(text)}:${text}`);
    const { error, result } = await answered;
    if (error !== null) throw new Error(`${command}: ${error.message}`);
    return result;
  };
}

async function startWebKit(env: NodeJS.ProcessEnv): Promise<Started> {
  const [port] = await freePorts(1);
  const child = spawnBound(['WebKitWebDriver', `--port=${port}`], env);
  const root = `http://127.0.0.1:${port}`;
  await until('WebKitWebDriver answers', async () => {
    return (await sendRequest(`${root}/status`).catch(() => undefined))?.status === 200;
  });
  let session = '/session';
  const driver: Driver = async (command, parameters) => {
    const [method, path] = COMMANDS[command];
    const body = method === 'POST' ? parameters : undefined;
    const { status, json } = await sendRequest(`${root}${session}${path}`, { method, body });
    const { value } = json as { value: unknown };
    if (status !== 200) throw new Error(`${command}: ${(value as { message: string }).message}`);
    return value;
  };
  const { sessionId } = (await driver('newSession', { capabilities: {} })) as { sessionId: string };
  session += `/${sessionId}`;
  return { driver, child };
}
