/**
 * Operator requests: what the operator of one relay asks of all others of its cluster. They send their reports, dismiss a report, or end a
 * desktop. The operator also sees pictures that only another relay has.
 *
 * Each is a request to every other relay and its answer, so nothing is stored twice. Question: JSON, `{"version":1,"ask":…}`. Answer: JSON,
 * what the methods of Moderator return. A relay that does not answer within ANSWER_MS, or is away, is named to the operator.
 * Limits: QUESTION_BYTES_MAX; REPORTS_ANSWERED_MAX reports in an answer, each within the limits of moderation_list.ts.
 */
import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import type { Membership } from '../domain/peers/membership.ts';
import { isReport, mergeReports } from '../moderation/moderation_list.ts';
import type { Moderator, Saved } from '../moderation/moderator.ts';
import { checkObject, isFileHash, readJson } from '../wire/fields.ts';
import { ProblemError } from '../wire/problem.ts';
import type { Report } from '../wire/report.ts';
import type { PeerFiles } from './peer_files.ts';
import type { PeerNetwork } from './peer_network.ts';

const VERSION = 1;

/** How long to wait for the answers, in ms: an operator waits for them. */
export const ANSWER_MS = 2_000;

/** Bytes of a question: a hash or an id. */
export const QUESTION_BYTES_MAX = 256;

/** Reports in one answer, the most reported pictures: some 750 KB at most, less than the largest message of NATS. */
export const REPORTS_ANSWERED_MAX = 500;

const subjectOf = (name: string) => `sprites.operator.${name}`;

type Question = { ask: 'reports' } | { ask: 'dismiss'; picture: string } | { ask: 'kick'; desktop: string };

interface OperatorRequestsOptions {
  /** The name of this relay. */
  name: string;
  network: PeerNetwork;
  membership: Membership;
  files: Pick<PeerFiles, 'fetch'>;
  moderator: Moderator;
  log: Logger;
}

/** The answers of the relays that have answered, and the names of the others. */
interface Answers {
  answers: Record<string, unknown>[];
  unanswered: string[];
}

export class OperatorRequests {
  readonly #options: OperatorRequestsOptions;

  constructor(options: OperatorRequestsOptions) {
    this.#options = options;
    options.network.subscribe(subjectOf(options.name), (bytes, answer) => {
      if (answer) void this.#answer(bytes).then((found) => answer(Buffer.from(JSON.stringify(found))));
    });
  }

  /** The reports of all relays, and the relays that have not answered. */
  async reports(): Promise<{ reports: Report[]; unanswered: string[] }> {
    const { answers, unanswered } = await this.#ask({ ask: 'reports' });
    const lists = answers.map(({ reports }) => (Array.isArray(reports) ? reports.slice(0, REPORTS_ANSWERED_MAX) : []));
    return { reports: mergeReports([this.#options.moderator.list.reports, ...lists.map(readReports)]), unanswered };
  }

  /** Removes the reports of a picture at every relay. Throws malformed, not-found, relay-busy. */
  async dismiss(picture: string): Promise<Saved> {
    const { moderator } = this.#options;
    let saved: Saved = {};
    const dismissHere = async () => {
      saved = await moderator.dismiss(picture);
    };
    await this.#everywhere(dismissHere, { ask: 'dismiss', picture });
    return saved;
  }

  /** Ends a desktop, at whichever relay it is. Throws malformed, not-found, relay-busy. */
  async kick(desktop: string): Promise<void> {
    const { moderator } = this.#options;
    await this.#everywhere(async () => moderator.kick(desktop), { ask: 'kick', desktop });
  }

  /** The file of a picture that another relay has; undefined when there is none, or no answer. */
  async picture(file: string): Promise<Buffer | undefined> {
    const fetched = await this.#options.files.fetch(file, undefined);
    if (!Buffer.isBuffer(fetched) || createHash('sha256').update(fetched).digest('hex') !== file) return undefined;
    return fetched;
  }

  /** Does something here and at every other relay. Throws what `act` throws if no relay could do it. */
  async #everywhere(act: () => Promise<void>, question: Question): Promise<void> {
    let refused: unknown;
    try {
      await act();
      // An id is that of one desktop.
      if (question.ask === 'kick') return;
    } catch (error) {
      refused = error;
      if (!(error instanceof ProblemError) || error.document.code !== 'not-found') throw error;
    }
    const { answers, unanswered } = await this.#ask(question);
    if (refused === undefined || answers.some(({ done }) => done === true)) return;
    if (unanswered.length === 0) throw refused;
    const relays = unanswered.join(', ');
    throw new ProblemError('relay-busy', `${(refused as Error).message} These relays have not answered: ${relays}.`);
  }

  /** Asks every other relay of the cluster. */
  async #ask(question: Question): Promise<Answers> {
    const { network, membership, name } = this.#options;
    const bytes = Buffer.from(JSON.stringify({ version: VERSION, ...question }));
    const found: Answers = { answers: [], unanswered: [] };
    const ask = async (peer: string) => {
      try {
        const answer = await network.request(subjectOf(peer), bytes, ANSWER_MS);
        found.answers.push(checkObject(readJson(answer), 'answer'));
      } catch {
        found.unanswered.push(peer);
      }
    };
    const others = [...membership.relays()].filter(({ name: peer }) => peer !== name);
    const here = others.filter(({ state }) => state === 'here' || state === 'suspected');
    await Promise.all(here.map((relay) => ask(relay.name)));
    for (const { name: peer, state } of others) if (state === 'gone') found.unanswered.push(peer);
    found.unanswered.sort();
    return found;
  }

  async #answer(bytes: Uint8Array): Promise<object> {
    const { moderator, log } = this.#options;
    try {
      if (bytes.length > QUESTION_BYTES_MAX) throw new Error('the question is too long');
      const { version, ask, picture, desktop } = checkObject(readJson(bytes), 'question');
      if (version !== VERSION) throw new Error('the question is of another version');
      if (ask === 'reports') return { reports: moderator.list.reports.slice(0, REPORTS_ANSWERED_MAX) };
      if (ask === 'dismiss' && isFileHash(picture)) await moderator.dismiss(picture);
      else if (ask === 'kick' && typeof desktop === 'string') moderator.kick(desktop);
      else throw new Error('the question is not understood');
      return { done: true };
    } catch (error) {
      if (!(error instanceof ProblemError)) {
        log.warn({ why: (error as Error).message }, 'a request of the operator of another relay is refused');
      }
      return { done: false };
    }
  }
}

/** The reports of a list that are well-formed. */
function readReports(list: unknown[]): Report[] {
  return list.filter(
    (report): report is Report => typeof report === 'object' && report !== null && isReport(report as Report),
  );
}
