/**
 * What only the instance knows of the engine's flags: how many processes its vCPUs serve, and its source addresses.
 *
 * Pure. Invariant: a flag that the load has already is never changed, and the engine accepts what is added.
 */

export interface EngineMachine {
  vcpus: number;
  /** Open files that a process may have. */
  files: number;
  /** IPv4 addresses that connections can come from, the first one first. */
  addresses: readonly string[];
}

/** Descriptors of a process besides those of its connections: SpareDescriptors of engine/plan/options.h, and some more. */
const FILES_SPARE = 64;

/** Unless --senders or --mix says otherwise, this many desktops throw (engine/plan/options.cc). */
const SENDERS_DEFAULT = 1000;

/** The flags with `--processes` and, when the machine has several addresses, `--sources`. */
export function withMachine(flags: readonly string[], { vcpus, files, addresses }: EngineMachine): string[] {
  const given = flagsOf(flags);
  const processes = processesFor(given, vcpus, files);
  return [
    ...flags,
    ...(given.has('--processes') || processes === undefined ? [] : ['--processes', `${processes}`]),
    ...(given.has('--sources') || addresses.length < 2 ? [] : ['--sources', addresses.join(',')]),
  ];
}

/**
 * One process for each vCPU; fewer when there are fewer desktops, connections that throw, or throws in flight. Undefined when
 * so many could not open all connections: then the engine takes as many as it needs.
 */
function processesFor(given: ReadonlyMap<string, string>, vcpus: number, files: number): number | undefined {
  const number = (flag: string, fallback: number) => Number(given.get(flag) ?? fallback);
  const desktops = number('--desktops', SENDERS_DEFAULT);
  const senders = given.has('--sitting') ? desktops : sendersOf(given, desktops);
  const throwing = Math.min(senders, number('--throw-connections', senders));
  const processes = Math.max(1, Math.min(vcpus, desktops, throwing, number('--in-flight', Number.POSITIVE_INFINITY)));
  const connections = given.get('--transport') === 'socket' ? desktops : desktops + throwing;
  return connections / processes + processes + FILES_SPARE > files ? undefined : processes;
}

function sendersOf(given: ReadonlyMap<string, string>, desktops: number): number {
  const mix = given.get('--mix');
  if (mix === undefined) return Math.min(desktops, Number(given.get('--senders') ?? SENDERS_DEFAULT));
  const shares = new Map(mix.split(',').map((part) => [part.split('=')[0], Number(part.split('=')[1])]));
  const total = [...shares.values()].reduce((sum, share) => sum + share, 0);
  return Math.floor((desktops * (shares.get('throwing') ?? 0)) / total);
}

/** Flags by name, as `--name value` or `--name=value`; the last one counts. A switch has the value ''. */
function flagsOf(words: readonly string[]): Map<string, string> {
  const flags = new Map<string, string>();
  words.forEach((word, i) => {
    if (!word.startsWith('--')) return;
    const [name, value] = word.includes('=') ? word.split(/=(.*)/s) : [word, words[i + 1] ?? ''];
    flags.set(name, value.startsWith('--') ? '' : value);
  });
  return flags;
}
