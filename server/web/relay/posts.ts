/**
 * The short requests of one seat: its crossings and sayings, each repeated until the relay has decided, and its stages and peeks, each
 * sent once.
 *
 * Invariant: a crossing is repeated under its number, with the id and the token that sent it first, so the relay accepts it once.
 */
import { ANSWER_MS_MAX } from '../../wire/rules.ts';
import {
  backoffMs,
  type Crossing,
  type Environment,
  isVerdict,
  type Neighbour,
  readProblem,
  relayOf,
  type Saying,
  type Sender,
  sleep,
  type Transport,
  type VerdictOf,
} from './transport.ts';

export interface FetchEnvironment extends Environment {
  fetch: typeof fetch;
}

/** What the browser offers. */
export function browserEnvironment(): FetchEnvironment {
  return { fetch: globalThis.fetch.bind(globalThis), random: Math.random, sleep };
}

export type Posts = Omit<Transport, 'close'>;

interface PostOptions {
  /** Ends all requests: what has no verdict is `unknown`. */
  signal: AbortSignal;
  /** Requests without a verdict until a message is `unknown`; without a limit by default. */
  triesMax?: number;
}

export function createPosts(
  sender: Sender,
  { signal, triesMax = Number.POSITIVE_INFINITY }: PostOptions,
  { fetch, random, sleep: wait }: FetchEnvironment = browserEnvironment(),
): Posts {
  const headers = { authorization: `Bearer ${sender.token}`, 'content-type': 'application/json' };
  const own = `${relayOf(sender)}/v1/desktops/${sender.desktop}`;
  return {
    send: (crossing, isRepeat) => post(sender.crossings, crossing, isRepeat, ({ to }) => to !== undefined && { to }),
    say: (saying) => post(`${own}/sayings`, saying, false, ({ heard }) => heard !== undefined && { heard }),
    show: (stage) => once(`${own}/stage`, stage),
    peek: (edge) => once(`${own}/peeks`, { edge, problem: true }), // a browser logs a refusal as an error of the page
  };

  async function once<T>(url: string, body: object): Promise<VerdictOf<T>> {
    try {
      const response = await postOnce(url, body);
      if (!response.ok) return { refused: await readProblem(response) };
      const { problem, ...accepted } = await response.json();
      return problem === undefined ? accepted : { refused: problem };
    } catch {
      return 'unknown';
    }
  }

  function postOnce(url: string, body: object): Promise<Response> {
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS_MAX)]);
    return fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal: inTime });
  }

  /** Posts until the relay decides. `accepted` reads the response of a relay that has accepted; false when it is not a relay's. */
  async function post<T>(
    url: string,
    body: Crossing | Saying,
    isRepeat: boolean,
    accepted: (response: { to?: Neighbour | null; heard?: number | null }) => T | false,
  ): Promise<VerdictOf<T>> {
    for (let failures = 0; !signal.aborted && failures < triesMax; failures++) {
      try {
        const response = await postOnce(url, body);
        const acceptance = response.status === 202 && accepted(await response.json());
        if (acceptance) return acceptance;
        const problem = await readProblem(response);
        if (isVerdict(problem, isRepeat || failures > 0)) return { refused: problem };
      } catch {
        // Without a response there is no verdict: send the same number again.
      }
      await wait(backoffMs(failures, random), signal);
    }
    return 'unknown';
  }
}
