/**
 * Does for instances what EC2 does: boots them with their user data, and terminates them when they power off.
 *
 *   nsenter --net=/run/netns/NETWORK unshare --pid … node hypervisor.ts --network NETWORK --slots N --endpoint URL --home DIR
 *
 * An instance is the systemd of Debian (or Ubuntu) in a container on an overlay, with its own network namespace and metadata
 * service.
 * Every instance that moto lists as running is booted when it appears. Each line on stdin is an order in JSON:
 * {"boot":{"id","userData","system"}} boots one that moto does not know, {"again":"id"} boots one again from its own disk, and
 * {"in":"id","run":[…]} runs a command in one. Each line on stdout is an event in JSON. The program ends when stdin ends. Its
 * PID and mount namespaces then take everything with them that was started and mounted.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  DescribeInstanceAttributeCommand,
  DescribeInstancesCommand,
  EC2Client,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2';
import { imageOf, type System } from './images.ts';

interface Container {
  id: string;
  disk: string;
  console: string;
  processes: ChildProcess[];
}

const { values } = parseArgs({
  options: {
    network: { type: 'string' },
    slots: { type: 'string' },
    endpoint: { type: 'string' },
    home: { type: 'string' },
  },
});
const { network = '', slots = '0', endpoint, home = '' } = values;
const ec2 = new EC2Client({ endpoint, region: 'us-east-1', maxAttempts: 2 });
const containers = new Map<string, Container>();
const known = new Set<string>();
const free = Array.from({ length: Number(slots) }, (_, slot) => slot);
const POLL_MS = 300;

/** The Ec2 datasource checks that it runs on EC2. Old instances proved it with this file, which needs no firmware. */
const IDENTITY = `[Service]
TemporaryFileSystem=/sys
BindReadOnlyPaths=/sys/class /sys/devices /etc/ec2-uuid:/sys/hypervisor/uuid
`;
const CLOUD = `datasource_list: [ Ec2 ]
datasource: { Ec2: { max_wait: 20, timeout: 3 } }
network: { config: disabled }
ssh_deletekeys: false
ssh_genkeytypes: []
locale: false
`;

const report = (event: object) => console.log(JSON.stringify(event));

async function start(id: string, userData: string, system: System = 'debian'): Promise<void> {
  const disk = join(home, id);
  for (const part of ['changes', 'work', 'root']) mkdirSync(join(disk, part), { recursive: true });
  writeFileSync(join(disk, 'user-data'), userData);
  const layers = `lowerdir=${imageOf(system)},upperdir=${join(disk, 'changes')},workdir=${join(disk, 'work')}`;
  spawnSync('mount', ['-t', 'overlay', 'overlay', '-o', layers, join(disk, 'root')]);
  const etc = join(disk, 'root/etc');
  mkdirSync(join(etc, 'systemd/system/cloud-init.service.d'), { recursive: true });
  writeFileSync(join(etc, 'systemd/system/cloud-init.service.d/ec2.conf'), IDENTITY);
  writeFileSync(join(etc, 'ec2-uuid'), 'ec2a1b2c-0000-4000-8000-000000000001\n');
  writeFileSync(join(etc, 'cloud/cloud.cfg.d/99_test.cfg'), CLOUD);
  writeFileSync(join(etc, 'machine-id'), '');
  const container: Container = { id, disk, console: '', processes: [] };
  containers.set(id, container);
  await powerOn(container);
}

/** Starts the container in a free slot and reports when it is off. */
async function powerOn(container: Container): Promise<void> {
  const { id, disk } = container;
  const slot = free.shift();
  if (slot === undefined) return report({ event: 'no slot', id });
  const own = `${network}-${slot}`;
  const metadata = spawn(
    'nsenter',
    [
      `--net=/run/netns/${own}`,
      process.execPath,
      join(import.meta.dirname, 'metadata.ts'),
      '--id',
      id,
      '--user-data',
      join(disk, 'user-data'),
      '--addresses',
      `10.77.0.${10 + slot},10.77.0.${110 + slot}`,
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  await new Promise((resolve) => metadata.stdout.once('data', resolve));
  const words = [
    '-q',
    '-D',
    join(disk, 'root'),
    '--boot',
    '--register=no',
    '--keep-unit',
    '--console=read-only',
    '--capability=CAP_NET_ADMIN', // an instance may add addresses to its interface
    `--machine=${id}`,
    `--network-namespace-path=/run/netns/${own}`,
  ];
  const system = spawn('systemd-nspawn', words, { stdio: ['ignore', 'pipe', 'pipe'] });
  container.processes = [metadata, system];
  for (const stream of [system.stdout, system.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      container.console += text;
    });
  }
  report({ event: 'on', id, address: `10.77.0.${10 + slot}` });
  system.once('close', async (code) => {
    metadata.stdin.end();
    container.processes = [];
    free.push(slot);
    const log = join(disk, 'changes/var/log/sprites.log');
    report({
      event: 'off',
      id,
      code,
      log: existsSync(log) ? readFileSync(log, 'utf8') : '',
      console: container.console,
    });
    await ec2.send(new TerminateInstancesCommand({ InstanceIds: [id] })).catch(() => {});
  });
}

/** Runs a command in the container, as `docker exec` does. */
function runInside(id: string, command: readonly string[]): void {
  const container = containers.get(id);
  const [, system] = container?.processes ?? [];
  const leader = system?.pid === undefined ? '' : firstChild(system.pid);
  const { status, stdout, stderr } = spawnSync('nsenter', ['-t', leader, '-a', ...command], { encoding: 'utf8' });
  report({ event: 'ran', id, status, stdout, stderr });
}

function firstChild(pid: number): string {
  const tasks = readdirSync(`/proc/${pid}/task`);
  return (
    tasks
      .map((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ')[0])
      .find((child) => child !== '') ?? ''
  );
}

/** Boots the instances that moto lists as running, and kills those it lists as terminated. */
async function followMoto(): Promise<void> {
  const { Reservations = [] } = await ec2.send(new DescribeInstancesCommand({}));
  for (const { InstanceId: id = '', State } of Reservations.flatMap(({ Instances }) => Instances ?? [])) {
    if (State?.Name === 'terminated') for (const child of containers.get(id)?.processes ?? []) child.kill('SIGKILL');
    if (State?.Name !== 'running' || known.has(id)) continue;
    known.add(id);
    const { UserData } = await ec2.send(
      new DescribeInstanceAttributeCommand({ InstanceId: id, Attribute: 'userData' }),
    );
    await start(id, Buffer.from(UserData?.Value ?? '', 'base64').toString('utf8'));
  }
}

let ended = false;
createInterface({ input: process.stdin })
  .on('line', async (line) => {
    const order = JSON.parse(line) as {
      boot?: { id: string; userData: string; system?: System };
      again?: string;
      in?: string;
      run?: string[];
    };
    if (order.boot) await start(order.boot.id, order.boot.userData, order.boot.system);
    if (order.again) await powerOn(containers.get(order.again) as Container);
    if (order.in) runInside(order.in, order.run ?? []);
  })
  .on('close', () => {
    ended = true;
  });

report({ event: 'ready' });
while (!ended) {
  await followMoto().catch((error: Error) => report({ event: 'fault', message: error.message }));
  await sleep(POLL_MS);
}
process.exit(0);
