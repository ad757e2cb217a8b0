/** `npm run bench:http`: measures the routes that are not long-polls, one after the other, against its own relay or a given one. */
import { type Contender, start } from '../../tools/bench/contender.ts';
import { machine, table } from '../../tools/bench/table.ts';
import {
  type Command,
  duration,
  EXIT,
  form,
  Misused,
  oneOf,
  runCommand,
  type Values,
  whole,
} from '../../tools/command.ts';
import { bytes, count, time } from '../report/units.ts';
import { benchRoute, type RouteFigures, routesOf } from './http_routes.ts';

const CONNECTIONS_MAX = 10_000; // of one process, with some thousand files to spare under common limits

const url = (meaning: string) =>
  form('URL', meaning, 'http://HOST:PORT', (given) =>
    /^http:\/\/[^/]+\/*$/.test(given) && URL.canParse(given) ? given.replace(/\/+$/, '') : undefined,
  );

const OPTIONS = {
  url: url("a relay's API; without it the bench starts its own relay"),
  adminUrl: url("that relay's admin port, for the health route"),
  front: oneOf('KIND', 'front of its own relay', ['auto', 'native', 'portable'], 'auto'),
  workers: whole('N', 'worker processes of its own relay; 0: everything in one process', [0, 64], 1),
  connections: whole('N', 'connections at once', [1, CONNECTIONS_MAX], 50),
  duration: duration('T', 'how long each route is measured', [1, 3600], 5),
};

export const COMMAND: Command<typeof OPTIONS> = {
  usage: ['npm run bench:http -- [options]'],
  about: 'Measures join, site, sprite file and health with autocannon, one after the other, and prints a table.',
  options: OPTIONS,
  failed: 'also when an answer was not a 2xx',
};

async function bench(given: Values<typeof OPTIONS>): Promise<number> {
  if (given.adminUrl !== undefined && given.url === undefined) throw new Misused('--admin-url: goes with --url.');
  const relay = given.url === undefined ? await own(given) : undefined;
  try {
    const bases = relay
      ? { api: `http://127.0.0.1:${relay.api}`, admin: `http://127.0.0.1:${relay.admin}` }
      : { api: given.url as string, admin: given.adminUrl };
    const load = { connections: given.connections, seconds: given.duration };
    const figures: RouteFigures[] = [];
    for (const route of routesOf(bases)) {
      console.error(`${route.name}: ${route.method} ${route.url}`);
      figures.push(await benchRoute(route, load));
    }
    console.log(`\n${machine()}, autocannon, ${load.connections} connections, ${load.seconds} s each\n`);
    console.log(table(['', 'answers/s', 'p50', 'p99', 'max', 'bytes/s', 'no 2xx', 'errors'], figures.map(rowOf)));
    const isGood = figures.every(({ answers, errors, refused }) => answers > 0 && errors + refused === 0);
    return isGood ? EXIT.done : EXIT.failed;
  } finally {
    await relay?.stop();
  }
}

function own({ front, workers }: Pick<Values<typeof OPTIONS>, 'front' | 'workers'>): Promise<Contender> {
  return start({ name: 'relay', front, workers });
}

function rowOf({ name, perSecond, ms, bytesPerSecond, refused, errors }: RouteFigures): string[] {
  const latencies = [ms.p50, ms.p99, ms.max].map((one) => time(one * 1000));
  return [name, count(perSecond), ...latencies, bytes(bytesPerSecond), count(refused), count(errors)];
}

if (import.meta.main) process.exitCode = await runCommand(COMMAND, ({ values }) => bench(values));
