/**
 * The cluster of deploy/cluster: its compose file, and its configurations in the programs that read them, with other ports put in.
 *
 * No container runs here: the programs are those of Debian.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { freePorts } from '../../tools/bench/free_ports.ts';
import { NatsServer, whyNoNats } from '../../tools/bench/nats_server.ts';
import { ensurePrograms, installHint } from '../../tools/machine.js';
import { unknownVariables } from '../../tools/variables.js';
import { readOptions } from '../bin/options.ts';
import { type Batch, crossingOf, isSprite, type Joined } from './desktop_client.ts';
import { BOUNDED, type RelayProcess, startRelay, until } from './relay_process.ts';
import { askOverTls } from './tls_requests.ts';

const CLUSTER = join(import.meta.dirname, '../deploy/cluster');

interface Service {
  image: string;
  build?: { context: string; dockerfile: string };
  environment?: Record<string, string>;
  ports?: string[];
  volumes?: string[];
  read_only?: boolean;
}

const read = (file: string) => readFileSync(join(CLUSTER, file), 'utf8');
const { services, volumes } = parse(read('compose.yaml'), { merge: true }) as {
  services: Record<string, Service>;
  volumes: Record<string, null>;
};
const RELAYS = ['r1', 'r2'];

describe('the compose file of a cluster', () => {
  it('mounts files that exist, read-only, and volumes that it names', () => {
    const mounts = Object.values(services).flatMap(({ volumes: mounted = [] }) => mounted);
    assert.ok(mounts.length > 8);
    for (const mount of mounts) {
      const [source, , mode] = mount.split(':');
      if (source.startsWith('.')) {
        assert.ok(existsSync(join(CLUSTER, source)), mount);
        assert.equal(mode, 'ro', mount);
      } else assert.ok(source in volumes, mount);
    }
  });

  it('names the versions of images, and builds the relays', () => {
    for (const [name, { image, build }] of Object.entries(services)) {
      if (RELAYS.includes(name))
        assert.ok(existsSync(join(CLUSTER, build?.context as string, build?.dockerfile as string)));
      else assert.match(image, /:v?\d+\.\d+\.\d+/);
    }
  });

  it('opens nothing to strangers but the proxy', () => {
    for (const [name, { ports = [] }] of Object.entries(services)) {
      if (name === 'caddy') assert.deepEqual(ports, ['80:80', '443:443']);
      else for (const port of ports) assert.match(port, /^127\.0\.0\.1:/, name);
    }
  });

  it('starts relays with options that they have, each with its name and address, as another than the other', () => {
    for (const name of RELAYS) {
      const { environment = {}, read_only } = services[name];
      assert.deepEqual(unknownVariables(environment), []);
      const given = Object.entries(environment).map(([key, value]) => [
        key,
        value.replace(/\$\{DOMAIN[^}]*\}/, 'sprites.example'),
      ]);
      const options = readOptions([], Object.fromEntries(given));
      assert.ok(options !== 'help');
      assert.equal(options.publicUrl, `https://${name}.sprites.example`);
      assert.equal(environment.SPRITES_RELAY_NAME, name);
      assert.equal(read_only, true);
    }
  });
});

const PACKAGES = ['caddy', 'prometheus'];
const lacking =
  whyNoNats() ||
  (ensurePrograms(PACKAGES, PACKAGES) ? false : `Caddy or Prometheus is missing: ${installHint(PACKAGES)}`);

describe('the cluster', { ...BOUNDED, skip: lacking }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'sprites-cluster-'));
  const token = 'a'.repeat(64);
  const programs: ChildProcess[] = [];
  const relays: RelayProcess[] = [];
  let nats: NatsServer;
  let [site, prometheus]: number[] = [];
  let certificate: Buffer;

  /** A file of the cluster with other addresses: writes it into the folder. */
  function adapt(file: string, values: Record<string, string>, before = ''): string {
    let text = read(file);
    for (const [from, to] of Object.entries(values)) {
      assert.ok(text.includes(from), `${file} has ${from}`);
      text = text.replaceAll(from, to);
    }
    writeFileSync(join(folder, file), before + text);
    return join(folder, file);
  }

  const run = (program: string, args: string[], env = {}) =>
    programs.push(spawn(program, args, { stdio: 'ignore', env: { ...process.env, ...env } }));

  before(async () => {
    [site, prometheus] = await freePorts(2);
    nats = await NatsServer.start();
    for (const name of RELAYS) {
      const data = join(folder, name);
      mkdirSync(data);
      writeFileSync(join(data, 'admin-token'), token, { mode: 0o600 });
      const address = `https://${name}.localhost:${site}`;
      const args = ['--nats', nats.url, '--relay-name', name, '--public-url', address, '--trust-proxy', '127.0.0.1'];
      relays.push(await startRelay({ workers: 1, data, args }));
    }
    const [one, two] = relays.map(({ ports }) => ports);
    const addresses = {
      'r1:8080': `127.0.0.1:${one.api}`,
      'r1:8081': `127.0.0.1:${one.events}`,
      'r2:8080': `127.0.0.1:${two.api}`,
      'r2:8081': `127.0.0.1:${two.events}`,
    };
    // Caddy's own authority signs for localhost, as in a cluster for oneself. It must not become one of this machine.
    const own = '{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n}\n';
    const caddyfile = adapt('Caddyfile', addresses, own);
    run('caddy', ['run', '--config', caddyfile, '--adapter', 'caddyfile'], {
      DOMAIN: `localhost:${site}`,
      XDG_DATA_HOME: folder,
      XDG_CONFIG_HOME: folder,
    });
    const authority = join(folder, 'caddy/pki/authorities/local/root.crt');
    await until('Caddy has its certificates', async () => {
      if (!existsSync(authority)) return false;
      certificate = readFileSync(authority);
      const names = ['localhost', ...RELAYS.map((name) => `${name}.localhost`)];
      const answers = names.map((name) => askOverTls(certificate, `https://${name}:${site}/`).catch(() => undefined));
      return (await Promise.all(answers)).every((answer) => answer?.status === 200);
    });
    const secret = join(folder, 'r1/admin-token');
    copyFileSync(join(CLUSTER, '../alerts.yml'), join(folder, 'alerts.yml'));
    const config = adapt('prometheus.yml', {
      '/run/secrets/admin-token': secret,
      'r1:8083': `127.0.0.1:${one.admin}`,
      'r2:8083': `127.0.0.1:${two.admin}`,
      'scrape_interval: 10s': 'scrape_interval: 1s',
    });
    const listen = `--web.listen-address=127.0.0.1:${prometheus}`;
    run('prometheus', [`--config.file=${config}`, `--storage.tsdb.path=${join(folder, 'tsdb')}`, listen]);
  });
  after(async () => {
    for (const program of programs) {
      if (program.exitCode !== null || program.pid === undefined) continue;
      const ended = once(program, 'exit');
      program.kill('SIGTERM');
      await ended;
    }
    for (const relay of relays) await relay.stop();
    await nats?.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  async function enter(host: string, name: string): Promise<Joined> {
    const body = { name, screen: { width: 800, height: 600 } };
    const { status, body: answer } = await askOverTls(certificate, `https://${host}:${site}/v1/desktops`, {
      method: 'POST',
      body,
    });
    assert.equal(status, 201, `${answer}`);
    return JSON.parse(`${answer}`);
  }

  it('is joined at one name, which leads to either relay, and that one names itself', async () => {
    const { events, desktop, token } = await enter('localhost', 'Eve');
    const name = RELAYS.find((each) => events === `https://${each}.localhost:${site}/v1/desktops/${desktop}/events`);
    assert.ok(name, events);
    // She would sit between Ann and Bob for a whole lease.
    const left = await askOverTls(certificate, events.replace(/\/events$/, ''), { method: 'DELETE', token });
    assert.equal(left.status, 204);
  });

  it('carries a throw from one relay to the other, over TLS', async () => {
    const [ann, bob] = [await enter('r1.localhost', 'Ann'), await enter('r2.localhost', 'Bob')];
    let cursor = bob.cursor;
    for (let crossing = 1; ; crossing++) {
      const thrown = await askOverTls(certificate, ann.crossings, {
        method: 'POST',
        token: ann.token,
        body: crossingOf(crossing),
      });
      // Until the relays know each other, it goes round the desktops of r1.
      if (thrown.status === 202 && JSON.parse(`${thrown.body}`).to?.desktop === bob.desktop) break;
      assert.ok(crossing < 10_000, `${thrown.body}`);
    }
    for (let sprites = 0; sprites === 0; ) {
      const { status, body } = await askOverTls(certificate, `${bob.events}?cursor=${cursor}`, { token: bob.token });
      assert.equal(status, 200, `${body}`);
      const batch: Batch = JSON.parse(`${body}`);
      cursor = batch.cursor;
      sprites = batch.events.filter(isSprite).filter(({ from }) => from.name === 'Ann').length;
    }
  });

  async function ask(path: string) {
    const answer = await fetch(`http://127.0.0.1:${prometheus}/api/v1/${path}`).catch(() => undefined);
    return answer?.ok ? (await answer.json()).data : undefined;
  }

  it('is watched: Prometheus scrapes both relays, and has the alerts', async () => {
    await until('both are scraped', async () => {
      const targets: { health: string }[] = (await ask('targets'))?.activeTargets ?? [];
      return targets.length === 2 && targets.every(({ health }) => health === 'up');
    });
    const { groups }: { groups: { rules: object[] }[] } = await ask('rules');
    assert.ok(groups[0].rules.length > 5);
  });

  it('is drawn: Prometheus answers each query of the dashboard with something to draw', async () => {
    const dashboard: { panels: { title: string; targets?: { expr: string }[] }[] } = JSON.parse(
      read('../grafana.json'),
    );
    for (const { title, targets = [] } of dashboard.panels) {
      for (const { expr } of targets) {
        // What only has a line while something is wrong may have none.
        const query = expr.replaceAll('$instance', '.+').replaceAll('$__rate_interval', '1m').replace(/ > 0$/, '');
        await until(
          `${title}: ${query}`,
          async () => (await ask(`query?${new URLSearchParams({ query })}`))?.result.length,
        );
      }
    }
  });
});
