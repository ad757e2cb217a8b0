/**
 * What an instance is told: the job it fetches at boot, and the word to go.
 *
 * The job is lines of name=value, so that the boot script reads it before it has any program of ours; `go.json` is read by
 * slice.ts. Invariant: what `writeJob` wrote, `readJob` reads as it was; nothing in it needs quoting.
 */

export interface Job {
  /** Address of the bundle, and the hash it must have. */
  bundle: string;
  sha256: string;
  /** Ports of the relay, for rules about connections. */
  ports: readonly number[];
  /** Address of go.json; none: the slice runs at once. */
  go?: string;
  /** Seconds to wait for go.json. */
  waitSeconds: number;
  /** Of the engine, or of the relay. */
  arguments: readonly string[];
}

/** The word to go: when, and what each instance that was ready is to do. */
export interface Go {
  startAtMs: number;
  slices: Readonly<Record<string, readonly string[]>>;
}

/** Keys in the bucket. Everything of a fleet lies under one prefix, so one policy and one listing cover it. */
export const keys = {
  prefix: (fleet: string) => `runs/${fleet}/`,
  job: (fleet: string) => `runs/${fleet}/job`,
  go: (fleet: string) => `runs/${fleet}/go.json`,
  fleet: (fleet: string) => `runs/${fleet}/fleet.json`,
  bundle: (sha256: string) => `bundles/${sha256}.tar.gz`,
} as const;

/** What an instance posts, by the end of its key. */
export const POSTED = { ready: '.ready.json', result: '.result.json', log: '.log' } as const;

/** Throws Error when a value would not survive. */
export function writeJob(job: Job): string {
  const lines: Record<string, string> = {
    bundle: job.bundle,
    sha256: job.sha256,
    ports: job.ports.join(', '),
    ...(job.go !== undefined && { go: job.go }),
    wait: String(job.waitSeconds),
    arguments: writeArguments(job.arguments),
  };
  for (const [name, value] of Object.entries(lines)) {
    if (/[\r\n]/.test(value)) throw new Error(`${name} of the job has more than one line`);
  }
  return Object.entries(lines)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

/** Throws Error, a sentence, when it is no job. */
export function readJob(text: string): Job {
  const lines = new Map(
    text.split('\n').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
  const want = (name: string) => {
    const value = lines.get(name);
    if (value === undefined) throw new Error(`the job has no ${name}`);
    return value;
  };
  const go = lines.get('go');
  return {
    bundle: want('bundle'),
    sha256: want('sha256'),
    ports: want('ports').split(', ').map(Number),
    ...(go !== undefined && { go }),
    waitSeconds: Number(want('wait')),
    arguments: want('arguments')
      .split(' ')
      .filter((part) => part !== ''),
  };
}

/** Flags of the engine are plain words; a word with anything else in it is a mistake or worse. */
export function writeArguments(words: readonly string[]): string {
  const odd = words.find((word) => !/^[\w.,:/=%+@-]+$/.test(word));
  if (odd !== undefined) throw new Error(`${JSON.stringify(odd)} can't be passed to the engine`);
  return words.join(' ');
}

export interface Load {
  /** The relay, as its site is opened. */
  relay: URL;
  /** Of each instance. */
  desktops: number;
  /** Throws a second of each instance; 0: nobody throws. */
  rate: number;
  seconds: number;
  warmUpSeconds: number;
  /** Desktops a second that each instance connects. */
  connectRate: number;
  /** Further flags of the engine, as they are. */
  more: readonly string[];
}

/**
 * Flags of the engine for one instance. Each swarms a world of its own: a sprite's ledger lies in the memory of the machine
 * that threw it, so what is lost, doubled or misrouted is counted exactly where it was thrown.
 */
export function engineArguments(load: Load, fleet: string, instance: string): string[] {
  const { hostname, port } = load.relay;
  return [
    ...['--api', `${hostname}:${port || '80'}`, '--world', `${fleet}-${instance}`, '--name', instance],
    ...['--desktops', `${load.desktops}`, '--connect-rate', `${load.connectRate}`],
    ...(load.rate > 0 ? ['--rate', `${load.rate}`] : ['--sitting']),
    ...['--warm-up', `${load.warmUpSeconds}`, '--duration', `${load.seconds}`, '--leave'],
    ...load.more,
  ];
}
