/**
 * The residents of a relay: how many of them are here, and who of them answers.
 *
 * They make room: with more than PEOPLE_MAX people in the world of everybody they leave, and come back when it gets lonely again.
 */
import type { FetchEnvironment } from '../web/relay/posts.ts';
import type { Neighbour } from '../web/relay/transport.ts';
import { type Home, Resident } from './resident.ts';
import type { SavedFile, SavedResident } from './saved.ts';
import { TEMPERS } from './tempers.ts';
import { answerTo } from './words.ts';

/** People at once with whom residents stay. They come back below PEOPLE_BACK, so that one visitor does not make them come and go. */
export const PEOPLE_MAX = 8;
export const PEOPLE_BACK = 7;

/** ms between two looks at how many people are here. */
export const COUNT_MS = 5_000;

/** ms within which all residents hear a saying, however busy the machine is. */
const HEARD_MS = 10_000;

export interface HouseOptions {
  readonly api: string;
  readonly events: string;
  readonly count: number;
  readonly file: SavedFile;
  readonly environment: FetchEnvironment;
  now(): number;
}

export class House {
  readonly #options: HouseOptions;
  readonly #residents = new Map<string, Resident>();
  readonly #files = new Map<string, string>();
  /** The saying that was answered last. */
  #answered = { saying: '', untilMs: 0 };
  readonly #home: Home;

  constructor(options: HouseOptions) {
    this.#options = options;
    const { api, events, environment, now } = options;
    this.#home = {
      api,
      events,
      environment,
      now,
      save: () => this.#save(),
      answer: (...heard) => this.#answer(...heard),
      fileOf: (character) => this.#files.get(character),
      left: (resident) => {
        this.#residents.delete(resident.temper.name);
        this.#save();
      },
    };
  }

  /** Takes up what an earlier process has left. Residents that are too many now give away what they have, and leave. */
  async open(): Promise<void> {
    await this.#readCharacters();
    const saved = this.#options.file.read();
    for (const one of saved) this.#add(one.name, one);
    for (const { temper } of [...this.#residents.values()].slice(this.#options.count)) this.#leave(temper.name);
  }

  /** Lets residents come or go. Resolves to whether any is here, or may come. */
  async look(): Promise<boolean> {
    const { count } = this.#options;
    const people = await this.#countPeople();
    if (people !== undefined && people > PEOPLE_MAX) for (const name of this.#residents.keys()) this.#leave(name);
    if (people !== undefined && people <= PEOPLE_BACK) {
      for (const { name } of TEMPERS.slice(0, count)) if (!this.#residents.has(name)) this.#add(name);
    }
    return count > 0 || this.#residents.size > 0;
  }

  #add(name: string, saved?: SavedResident): void {
    const temper = TEMPERS.find((one) => one.name === name) ?? TEMPERS[0];
    this.#residents.set(name, new Resident(temper, this.#home, saved));
  }

  #leave(name: string): void {
    this.#residents.get(name)?.leave();
  }

  #save(): void {
    this.#options.file.write(
      [...this.#residents.values()].map((one) => one.saved()).filter((one) => one !== undefined),
    );
  }

  /** One resident answers: the one whose name is in the saying, or the first that hears it. People who talk to each other get no answer. */
  #answer({ temper }: Resident, from: Neighbour, text: string, isAlone: boolean): string | undefined {
    const called = [...this.#residents.keys()].find((name) => isCalled(name, text));
    if (called === undefined ? !isAlone : called !== temper.name) return undefined;
    const nowMs = this.#options.now();
    const saying = `${from.desktop} ${text}`;
    if (saying === this.#answered.saying && nowMs < this.#answered.untilMs) return undefined;
    this.#answered = { saying, untilMs: nowMs + HEARD_MS };
    return answerTo(text, this.#options.environment.random());
  }

  /** Undefined when the relay does not answer. */
  async #countPeople(): Promise<number | undefined> {
    const counts = await this.#read<{ residents: number; worlds: { desktops: number }[] }>('/v1/worlds');
    return counts === undefined ? undefined : counts.worlds[0].desktops - counts.residents;
  }

  async #readCharacters(): Promise<void> {
    const characters = (await this.#read<{ name: string; file: string }[]>('/sprites/index.json')) ?? [];
    for (const { name, file } of characters) this.#files.set(name, file);
  }

  async #read<Answer>(path: string): Promise<Answer | undefined> {
    try {
      const response = await this.#options.environment.fetch(this.#options.api + path);
      return response.ok ? await response.json() : undefined;
    } catch {
      return undefined;
    }
  }
}

/** Whether the first word of a name is a word of the text. */
function isCalled(name: string, text: string): boolean {
  return new RegExp(`\\b${name.split(' ')[0]}\\b`, 'i').test(text);
}
