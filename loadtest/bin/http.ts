/** `npm run bench:http`: the routes that are no long-poll, one after the other, against a relay of its own or a given one. */
import { parseArgs } from 'node:util';
import { type Contender, start } from '../../tools/bench/contender.ts';
import { machine, table } from '../../tools/bench/table.ts';
import { bytes, count, readSeconds, time } from '../report/units.ts';
import { benchRoute, type RouteFigures, routesOf } from '../run/http_bench.ts';

const USAGE = `Usage: npm run bench:http -- [options]

Measures join, site, sprite file and health with autocannon, each alone, and prints a table.

  --url URL              http://HOST:PORT of a relay's API; one is started when it is left out
  --admin-url URL        of its admin port, for the health route
  --front KIND           of the relay that is started: auto, native or portable [auto]
  --workers N            of it; 0: everything in one process [1]
  --connections N        at once [50]
  --duration T           for each route [5s]
  --help                 this text

Exit code: 0 every answer was the right one, 1 one was not, 2 misused.`;

const CONNECTIONS_MAX = 10_000; // of one process, with some thousand files to spare under common limits

class Misused extends Error {}

async function main(argv: readonly string[]): Promise<number> {
  const given = read(argv);
  if (given.help) {
    console.log(USAGE);
    return 0;
  }
  const relay = given.url === undefined ? await own(given) : undefined;
  try {
    const bases = relay
      ? { api: `http://127.0.0.1:${relay.api}`, admin: `http://127.0.0.1:${relay.admin}` }
      : { api: trimmed(given.url as string), admin: given.adminUrl && trimmed(given.adminUrl) };
    const figures: RouteFigures[] = [];
    for (const route of routesOf(bases)) {
      console.error(`${route.name}: ${route.method} ${route.url}`);
      figures.push(await benchRoute(route, given));
    }
    console.log(`\n${machine()}, autocannon, ${given.connections} connections, ${given.seconds} s each\n`);
    console.log(table(['', 'answers/s', 'p50', 'p99', 'max', 'bytes/s', 'no 2xx', 'errors'], figures.map(rowOf)));
    return figures.every(({ answers, errors, refused }) => answers > 0 && errors + refused === 0) ? 0 : 1;
  } finally {
    await relay?.stop();
  }
}

function own({ front, workers }: { front: string; workers: number }): Promise<Contender> {
  return start({ name: 'relay', front: front as 'auto', workers });
}

function rowOf({ name, perSecond, ms, bytesPerSecond, refused, errors }: RouteFigures): string[] {
  const latencies = [ms.p50, ms.p99, ms.max].map((one) => time(one * 1000));
  return [name, count(perSecond), ...latencies, bytes(bytesPerSecond), count(refused), count(errors)];
}

function read(argv: readonly string[]) {
  const options = {
    url: { type: 'string' },
    'admin-url': { type: 'string' },
    front: { type: 'string', default: 'auto' },
    workers: { type: 'string', default: '1' },
    connections: { type: 'string', default: '50' },
    duration: { type: 'string', default: '5s' },
    help: { type: 'boolean', default: false },
  } as const;
  try {
    const { values } = parseArgs({ args: [...argv], options });
    const [workers, connections] = [values.workers, values.connections].map(Number);
    const seconds = readSeconds(values.duration);
    if (seconds === undefined || seconds < 1) throw new Error('--duration must be a time of at least 1s');
    if (!(connections >= 1 && connections <= CONNECTIONS_MAX)) {
      throw new Error(`--connections must be from 1 to ${CONNECTIONS_MAX}`);
    }
    if (!Number.isInteger(workers) || workers < 0) throw new Error('--workers must be a whole number');
    if (!['auto', 'native', 'portable'].includes(values.front)) {
      throw new Error('--front must be auto, native or portable');
    }
    for (const url of [values.url, values['admin-url']]) {
      if (url !== undefined && !URL.canParse(url)) throw new Error(`"${url}" is no URL`);
    }
    return { ...values, adminUrl: values['admin-url'], workers, connections, seconds };
  } catch (error) {
    throw new Misused((error as Error).message);
  }
}

const trimmed = (url: string): string => url.replace(/\/+$/, '');

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const misused = error instanceof Misused;
  console.error(`bench:http: ${(error as Error).message}${misused ? ' (--help lists the options)' : ''}`);
  process.exitCode = misused ? 2 : 1;
}
