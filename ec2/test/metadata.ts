/**
 * The metadata service of one instance (IMDSv2), with what cloud-init's Ec2 datasource and the boot scripts request.
 *
 *   node metadata.ts --id i-… --user-data FILE --addresses A,B
 *
 * It listens on 169.254.169.254:80 of its network namespace, and ends with its parent. The addresses are the private ones of the
 * instance's interface, which is `host0` here.
 *
 * Invariant: a request without a token gets 401, as on instances that were started with HttpTokens=required.
 */
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { networkInterfaces } from 'node:os';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { id: { type: 'string' }, 'user-data': { type: 'string' }, addresses: { type: 'string' } },
});
const { id = '', 'user-data': file = '', addresses = '' } = values;
const mac = networkInterfaces().host0?.[0].mac ?? '';

const TOKEN = 'AQAEAHtoken==';
const METADATA: Record<string, string> = {
  'instance-id': id,
  'ami-id': 'ami-0123456789abcdef0',
  'instance-type': 'c6i.large',
  hostname: `${id}.internal`,
  'local-hostname': `${id}.internal`,
  'local-ipv4': addresses.split(',')[0],
  mac,
  [`network/interfaces/macs/${mac}/device-number`]: '0',
  [`network/interfaces/macs/${mac}/local-ipv4s`]: addresses.replaceAll(',', '\n'),
  'public-ipv4': '203.0.113.7',
  'placement/availability-zone': 'us-east-1a',
  'placement/region': 'us-east-1',
};
const IDENTITY = JSON.stringify({ instanceId: id, region: 'us-east-1', availabilityZone: 'us-east-1a' });

/** The content of a path. A folder's content is the list of its entries, as in the real service. */
function contentOf(path: string): string | undefined {
  const [, , kind, ...rest] = path.replace(/\/$/, '').split('/');
  const name = rest.join('/');
  if (kind === 'user-data') return readFileSync(file, 'utf8');
  if (kind === 'dynamic')
    return name === 'instance-identity/document'
      ? IDENTITY
      : name === 'instance-identity'
        ? 'document'
        : 'instance-identity/';
  if (kind !== 'meta-data') return kind === undefined ? 'dynamic\nmeta-data\nuser-data' : undefined;
  if (name in METADATA) return METADATA[name];
  const below = Object.keys(METADATA).filter((key) => name === '' || key.startsWith(`${name}/`));
  const entries = below
    .map((key) => key.slice(name === '' ? 0 : name.length + 1))
    .map((key) => (key.includes('/') ? `${key.split('/')[0]}/` : key));
  return entries.length > 0 ? [...new Set(entries)].join('\n') : undefined;
}

const server = http.createServer((request, response) => {
  const path = (request.url ?? '/').split('?')[0];
  if (request.method === 'PUT' && path === '/latest/api/token') {
    response.writeHead(200, { 'x-aws-ec2-metadata-token-ttl-seconds': '300' }).end(TOKEN);
    return;
  }
  if (request.headers['x-aws-ec2-metadata-token'] !== TOKEN) {
    response.writeHead(401).end();
    return;
  }
  const found = contentOf(path);
  response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'text/plain' }).end(found ?? '');
});
server.listen(80, '169.254.169.254', () => console.log('ready'));
process.stdin.resume().on('end', () => process.exit(0));
