/**
 * Three relays and a real NATS, each relay on a network link of its own to it. One link is cut until the other relays have given that relay
 * up, and comes back: no sprite is lost or doubled, and the sums over the relays are exact.
 *
 * It runs in a network namespace of its own, and NATS in another one, so that nothing of the machine's network is touched.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { whyNoNats } from '../../tools/bench/nats_server.ts';
import { Crowd } from './crowd.ts';
import { look } from './desktop_client.ts';
import { enterNamespace } from './namespace.ts';
import { randomOf } from './random.ts';
import { BOUNDED, type RelayProcess, startRelay, until } from './relay_process.ts';

/**
 * While a throw has no verdict, its desktop in this test does not throw again, so those with a throw to r3 wait until the link is back. With
 * four desktops each, two of r1 and two of r2 have no edge to r3, and go on. With two each, none would.
 */
const DESKTOPS_EACH = 4;
const REST_MS = 20;
const NATS_PORT = 4222;
/** What NATS prints when it accepts connections. */
const READY = 'Server is ready';

const mayHaveNamespace = process.getuid?.() === 0 && spawnSync('unshare', ['--net', 'true']).status === 0;
const why = whyNoNats() || (mayHaveNamespace ? false : 'needs root, for a network namespace of its own');
if (!why) enterNamespace();

/** Runs a program, and throws with what it printed when it fails. */
function run(program: string, ...args: string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  assert.equal(status, 0, `${program} ${args.join(' ')}: ${stderr}`);
}

/** NATS in a namespace of its own, with a link to each of so many relays. */
class ApartNats {
  readonly #folder = mkdtempSync(join(tmpdir(), 'sprites-nats-'));
  readonly #child: ChildProcess;

  constructor() {
    const nats = ['nats-server', '-a', '0.0.0.0', '-p', `${NATS_PORT}`, '-js', '-sd', this.#folder];
    this.#child = spawn('unshare', ['--net', ...nats], { stdio: ['ignore', 'ignore', 'pipe'] });
    process.once('exit', () => this.#child.kill('SIGKILL'));
  }

  async ready(links: number): Promise<void> {
    const child = this.#child;
    let printed = '';
    child.stderr?.setEncoding('utf8').on('data', (part: string) => {
      if (!printed.includes(READY)) printed += part;
    });
    await until('NATS is ready', () => {
      assert.equal(child.exitCode, null, printed);
      return printed.includes(READY);
    });
    const inside = (...args: string[]) => run('nsenter', '-t', `${child.pid}`, '-n', 'ip', ...args);
    for (let link = 1; link <= links; link++) {
      run('ip', 'link', 'add', `near${link}`, 'type', 'veth', 'peer', 'name', `far${link}`, 'netns', `${child.pid}`);
      run('ip', 'address', 'add', `10.77.${link}.1/24`, 'dev', `near${link}`);
      inside('address', 'add', `10.77.${link}.2/24`, 'dev', `far${link}`);
      inside('link', 'set', `far${link}`, 'up');
      this.setLink(link, 'up');
    }
  }

  setLink(link: number, state: 'up' | 'down'): void {
    run('ip', 'link', 'set', `near${link}`, state);
  }

  /** Its address on a link. */
  urlOn(link: number): string {
    return `nats://10.77.${link}.2:${NATS_PORT}`;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null) {
      const ended = once(this.#child, 'exit');
      this.#child.kill('SIGKILL');
      await ended;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

describe('a cluster whose network link is cut', { ...BOUNDED, skip: why }, () => {
  const relays: RelayProcess[] = [];
  const crowd = new Crowd();
  let nats: ApartNats;

  const gauge = async (relay: RelayProcess, name: string) => (await relay.metrics()).get(`sprites_${name}`) as number;
  const sum = async (name: string) => {
    const each = await Promise.all(relays.map((relay) => gauge(relay, name)));
    return each.reduce((all, one) => all + one, 0);
  };

  /** Whether the relays agree that the first and last desktop of each are beside those of the others. */
  const isOneRow = async () => {
    const row = crowd.clients.map(({ joined }) => joined);
    const seen = await Promise.all(row.map(look));
    return row.every(({ desktop }, place) => {
      const next = (place + 1) % row.length;
      return (
        seen[next].neighbours.left?.desktop === desktop && seen[place].neighbours.right?.desktop === row[next].desktop
      );
    });
  };

  before(async () => {
    nats = new ApartNats();
    await nats.ready(3);
    for (const link of [1, 2, 3]) {
      const args = ['--nats', nats.urlOn(link), '--nats-plaintext', '--relay-name', `r${link}`];
      relays.push(await startRelay({ workers: 0, args }));
    }
    await until('every relay knows the two others', async () => (await sum('peers')) === 6);
    for (const relay of relays) await crowd.join(relay.url, DESKTOPS_EACH);
    // A relay that does not know of the desktops of another one yet takes those of r3 for its neighbours.
    await until('the desktops of all relays are in one row', isOneRow);
  });
  after(async () => {
    await crowd.stop();
    for (const relay of relays) await relay.stop();
    await nats?.stop();
  });

  it('loses no accepted sprite and delivers none twice, and the others go on', async (t) => {
    const [r1, r2, r3] = relays;
    /** Until a sprite of each of these relays has been accepted by another one, from now on. */
    const allPass = async (which: RelayProcess[]) => {
      const passed = () => Promise.all(which.map((relay) => gauge(relay, 'peers_passed_total')));
      const earlier = await passed();
      await until('sprites leave these relays', async () => (await passed()).every((count, n) => count > earlier[n]));
    };
    await crowd.throwDuring(randomOf(t), REST_MS, async () => {
      await allPass(relays);
      nats.setLink(3, 'down');
      await until('r3 knows that NATS is gone', async () => (await gauge(r3, 'peers_connected')) === 0);
      await until('r1 and r2 have given r3 up', async () => {
        return (await gauge(r1, 'peers')) === 1 && (await gauge(r2, 'peers')) === 1;
      });
      await allPass([r1, r2]);
      nats.setLink(3, 'up');
      await until('all know each other again', async () => (await sum('peers')) === 6);
      await allPass(relays);
    });
    await until('all that was accepted is acknowledged', async () => {
      return (await sum('waiting')) === 0 && (await sum('peers_in_doubt')) === 0;
    });
    await crowd.assertConservedBy(sum);
    t.diagnostic(
      `${crowd.accepted.size} sprites, ${await sum('peers_passed_total')} over relays, ${crowd.retries} retries, ` +
        `${await sum('peers_repeats_total')} frames sent again`,
    );
  });
});
