/** How a relay logs in to NATS: TLS with a certificate made here, an nkey, a credentials file; and what the log says when NATS refuses it. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it, type TestContext } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { Logger } from 'pino';
import { NatsServer, whyNoNats } from '../../tools/bench/nats_server.ts';
import { ensurePrograms, installHint } from '../../tools/machine.js';
import { NatsNetwork, type NatsOptions } from './nats.ts';

const folder = mkdtempSync(join(tmpdir(), 'sprites-nats-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a file; returns its path. */
function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** A key of NATS: an Ed25519 key with a prefix for its kind, in base 32 with a checksum. */
class Nkey {
  readonly publicText: string;
  readonly seedText: string;
  readonly #key: KeyObject;

  constructor(prefix: number) {
    const { privateKey } = generateKeyPairSync('ed25519');
    const { d = '', x = '' } = privateKey.export({ format: 'jwk' });
    this.#key = privateKey;
    this.publicText = checked(Buffer.concat([Buffer.from([prefix]), Buffer.from(x, 'base64url')]));
    const seedPrefix = 18 << 3; // S
    const head = Buffer.from([seedPrefix | (prefix >> 5), (prefix & 31) << 3]);
    this.seedText = checked(Buffer.concat([head, Buffer.from(d, 'base64url')]));
  }

  /** A JWT of NATS, signed with this key. */
  jwt(subject: string, nats: object): string {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = {
      jti: 'x',
      iat: 1,
      iss: this.publicText,
      sub: subject,
      name: subject,
      nats: { version: 2, ...nats },
    };
    const text = `${part({ typ: 'JWT', alg: 'ed25519-nkey' })}.${part(claims)}`;
    return `${text}.${sign(null, Buffer.from(text), this.#key).toString('base64url')}`;
  }
}

const PREFIX = { account: 0, operator: 14 << 3, user: 20 << 3 };

/** Bytes and their CRC-16 (XMODEM), in base 32. */
function checked(bytes: Buffer): string {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ ((crc & 0x8000) === 0 ? 0 : 0x1021)) & 0xffff;
  }
  const bits = [...bytes, crc & 255, crc >> 8].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? [])
    .map((five) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(five.padEnd(5, '0'), 2)])
    .join('');
}

/** A NATS server with this configuration, which ends with the test. */
async function startNats(t: TestContext, config: string): Promise<NatsServer> {
  const nats = await NatsServer.start('-c', write('nats.conf', config));
  t.after(() => nats.kill());
  return nats;
}

/** Connects, and resolves to the first line of the log. */
async function firstLine(options: Omit<NatsOptions, 'name'>): Promise<string> {
  const line = Promise.withResolvers<string>();
  const tell = (_: object, text: string) => line.resolve(text);
  const network = new NatsNetwork({ name: 'r1', ...options }, {
    info: tell,
    warn: tell,
    error: tell,
  } as unknown as Logger);
  try {
    return await line.promise;
  } finally {
    await network.close();
  }
}

const CONNECTED = 'connected to NATS';

describe('the login to NATS', { skip: whyNoNats(), timeout: 900_000 }, () => {
  const noOpenssl = ensurePrograms(['openssl'], ['openssl']) ? false : installHint(['openssl']);

  it('with TLS succeeds only when the certificate is trusted', { skip: noOpenssl }, async (t) => {
    const [key, certificate] = ['key.pem', 'cert.pem'].map((name) => join(folder, name));
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', key, '-out', certificate, ...subject], {
      stdio: 'ignore',
    });
    const { port } = await startNats(t, `tls { cert_file: "${certificate}", key_file: "${key}" }`);
    assert.match(
      await firstLine({ url: `tls://localhost:${port}` }),
      /^the certificate of NATS is not trusted; .* NODE_EXTRA_CA_CERTS=FILE/,
    );
    const before = getCACertificates();
    setDefaultCACertificates([...before, readFileSync(certificate, 'utf8')]);
    t.after(() => setDefaultCACertificates(before));
    assert.equal(await firstLine({ url: `tls://localhost:${port}` }), CONNECTED);
    assert.match(await firstLine({ url: `tls://127.0.0.1:${port}` }), /use the name in it for --nats$/, 'another name');
  });

  it('with tls: is refused when NATS has no TLS: nothing is sent in plain text', async (t) => {
    const { port } = await startNats(t, '');
    assert.match(await firstLine({ url: `tls://127.0.0.1:${port}` }), /^NATS has no TLS; start it with a certificate/);
  });

  it('with the seed of an nkey succeeds for a user that NATS knows', async (t) => {
    const [known, stranger] = [new Nkey(PREFIX.user), new Nkey(PREFIX.user)];
    const { url } = await startNats(t, `authorization { users: [ { nkey: ${known.publicText} } ] }`);
    const seedOf = (name: string, key: Nkey) => write(name, `${key.seedText}\n`);
    assert.equal(await firstLine({ url, credentials: seedOf('known.nk', known) }), CONNECTED);
    assert.match(
      await firstLine({ url, credentials: seedOf('stranger.nk', stranger) }),
      /^NATS refuses the credentials of this relay, which keeps trying; check --nats-credentials/,
    );
    assert.match(await firstLine({ url }), /^NATS accepts only known users; .* --nats-credentials FILE$/);
  });

  it('with a credentials file succeeds for a user of an account that NATS knows', async (t) => {
    const [operator, account, stranger] = [PREFIX.operator, PREFIX.account, PREFIX.account].map(
      (prefix) => new Nkey(prefix),
    );
    const credentialsOf = (name: string, of: Nkey) => {
      const user = new Nkey(PREFIX.user);
      const jwt = of.jwt(user.publicText, { type: 'user', pub: {}, sub: {}, subs: -1, data: -1, payload: -1 });
      const framed = (kind: string, text: string) => `-----BEGIN ${kind}-----\n${text}\n------END ${kind}------\n\n`;
      return write(name, framed('NATS USER JWT', jwt) + framed('USER NKEY SEED', user.seedText));
    };
    const limits = { subs: -1, data: -1, payload: -1, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
    const { url } = await startNats(
      t,
      `operator: ${operator.jwt(operator.publicText, { type: 'operator' })}
       resolver: MEMORY
       resolver_preload: { ${account.publicText}: ${operator.jwt(account.publicText, { type: 'account', limits })} }`,
    );
    assert.equal(await firstLine({ url, credentials: credentialsOf('known.creds', account) }), CONNECTED);
    assert.match(
      await firstLine({ url, credentials: credentialsOf('stranger.creds', stranger) }),
      /^NATS refuses the credentials of this relay/,
    );
  });

  it('says what is wrong with a file that has no credentials', () => {
    const log = {} as Logger;
    const login = (credentials: string) => () =>
      new NatsNetwork({ url: 'nats://127.0.0.1:1', name: 'r1', credentials }, log);
    assert.throws(login(write('empty', '')), /--nats-credentials: .* has neither a user's JWT and seed nor the seed/);
    assert.throws(login(join(folder, 'missing')), /ENOENT/);
  });

  it('goes on until NATS knows the user', async (t) => {
    const user = new Nkey(PREFIX.user);
    const config = (key: Nkey) => `authorization { users: [ { nkey: ${key.publicText} } ] }`;
    const nats = await startNats(t, config(new Nkey(PREFIX.user)));
    const lines: string[] = [];
    const connected = Promise.withResolvers<void>();
    const tell = (_: object, text: string) => {
      lines.push(text);
      if (text === CONNECTED) connected.resolve();
    };
    const log = { info: tell, warn: tell, error: tell } as unknown as Logger;
    const network = new NatsNetwork({ url: nats.url, name: 'r1', credentials: write('user.nk', user.seedText) }, log);
    t.after(() => network.close());
    while (lines.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await nats.kill();
    write('nats.conf', config(user));
    await nats.restart();
    await connected.promise;
    assert.equal(lines.filter((line) => line.startsWith('NATS refuses')).length, 1, 'the log says it once');
  });
});
