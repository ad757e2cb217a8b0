/** Attacks of desktops: they join, throw and poll, more and otherwise than a person's desktop would. */

import { EDGES } from '../../wire/rules.ts';
import { type Assault, type Attack, WAITING } from './assault.ts';
import type { Connection } from './connection.ts';
import { textFrame, upgradeHead } from './socket_bytes.ts';
import {
  bearer,
  crossingOf,
  FILE,
  headOf,
  type Joined,
  joinBytes,
  pollHead,
  postBytes,
  requestOf,
  switchBytes,
} from './target.ts';

/** The finding of a join or a crossing that the relay received whole and closed without a response. */
export const UNANSWERED = 'half-closed without a response';

/** The burst that one desktop may throw. */
const BURST = 200;

/** The longest text of a saying. */
const LINE_BYTES = 280;

/** Polls that one write to a socket carries. */
const POLLS_AT_ONCE = 1000;

let worlds = 0;
const ownWorld = (): string => `hostile ${process.pid}-${worlds++}`;

/** Throws `count` sprites in one write. */
function throwMany(
  connection: Connection,
  joined: Joined,
  count: number,
  edge?: string,
  name?: string,
  from = 1,
): void {
  const crossings = Array.from({ length: count }, (_, i) =>
    postBytes(joined, 'crossings', crossingOf(from + i, edge, name)),
  );
  connection.send(Buffer.concat(crossings));
}

/** Opens a socket for the desktop with its token and a flood of polls behind it; reads nothing. */
async function floodSocket(assault: Assault, joined: Joined): Promise<void> {
  const connection = await assault.open(assault.target.api, 'never');
  if (!connection) return;
  const token = textFrame(JSON.stringify({ token: joined.token }));
  connection.send(Buffer.concat([Buffer.from(upgradeHead(joined)), token]));
  const polls = Buffer.concat(Array.from({ length: POLLS_AT_ONCE }, () => textFrame('{"cursor":null}')));
  while (!assault.over && (await connection.write(polls, assault.untilMs))) assault.count('polls', POLLS_AT_ONCE);
  connection.destroy();
}

const socketFlood: Attack = {
  about: 'four desktops alone in their worlds throw 64 sprites to themselves and flood {"cursor":null} without reading',
  keeps: WAITING,
  run: async (assault) => {
    await assault.repeat(4, async () => {
      const joined = await assault.joinAtLast({ world: ownWorld() });
      const connection = joined && (await assault.open(assault.target.api));
      if (!joined || !connection) return;
      throwMany(connection, joined, 64);
      await assault.rest(100);
      connection.destroy();
      while (!assault.over) {
        await floodSocket(assault, joined);
        await assault.rest();
      }
    });
  },
};

/** Sends joins without waiting for their responses, 32 in each write. */
function pipelineJoins(assault: Assault, connections: number, wish: () => object): Promise<void> {
  return assault.repeatOn(connections, assault.target.api, async (connection) => {
    const joins = Array.from({ length: 31 }, () => joinBytes(wish()));
    connection.send(Buffer.concat(joins));
    return (await connection.ask(joinBytes(wish()), assault.patience())) !== undefined;
  });
}

const worldsTaken: Attack = {
  byAddress: true,
  about: 'four connections join a new world with each request, to take all worlds; nobody polls',
  keeps: WAITING,
  run: (assault) => pipelineJoins(assault, 4, () => ({ world: ownWorld() })),
};

const ghosts: Attack = {
  byAddress: true,
  about: 'sixteen connections join as fast as possible; nobody polls',
  run: (assault) => pipelineJoins(assault, 16, () => ({})),
};

/** Ids near one that the relay gave: the same generation and the ones around it, in the first slots. */
function guessId(assault: Assault, own: string): string {
  const [, generation = '1'] = own.split('-');
  const near = Number.parseInt(generation, 16) + assault.random.below(9) - 4;
  return `${assault.random.below(64).toString(16)}-${near.toString(16)}`;
}

const guesses: Attack = {
  about: 'eight connections guess ids for `near`, and tokens, to enter private worlds and take over desktops',
  run: async (assault) => {
    const own = await assault.joinAtLast();
    if (!own) return;
    const own128 = () => Array.from({ length: 32 }, () => assault.random.below(16).toString(16)).join('');
    await assault.repeatOn(8, assault.target.api, async (connection, worker) => {
      const id = guessId(assault, own.desktop);
      if (worker % 2 === 0) {
        const response = await connection.ask(joinBytes({ near: id }));
        const joined = response?.status === 201 ? (JSON.parse(response.body.toString()) as Joined) : undefined;
        if (joined && joined.world !== own.world) assault.count('private worlds entered');
        if (joined) connection.send(headOf(`DELETE /v1/desktops/${joined.desktop}`, bearer(joined)));
      } else {
        const look = headOf(`GET /v1/desktops/${id}`, bearer({ token: `${id}.${own128()}` }));
        if ((await connection.ask(look))?.status === 200) assault.count('desktops taken over');
      }
      return true;
    });
  },
};

const mailboxFlood: Attack = {
  about:
    'eight desktops of one world throw as fast as they can at neighbours that never acknowledge, and ask again at once',
  keeps: WAITING,
  run: async (assault) => {
    const world = ownWorld();
    await assault.repeat(8, async () => {
      const joined = await assault.joinAtLast({ world });
      const thrower = joined && (await assault.open(assault.target.api));
      const poller = joined && (await assault.open(assault.target.events));
      if (!joined || !thrower || !poller) return;
      let number = 1;
      const throwing = async () => {
        while (!assault.over && !thrower.over) {
          throwMany(thrower, joined, 31, assault.random.of(EDGES), 'x'.repeat(60), number);
          number += 31;
          if (!(await thrower.ask(postBytes(joined, 'crossings', crossingOf(number++))))) break;
        }
      };
      const polling = async () => {
        while (!assault.over && (await poller.ask(pollHead(joined), assault.patience()))) assault.count('polls');
      };
      await Promise.all([throwing(), polling()]);
      thrower.destroy();
      poller.destroy();
    });
  },
};

/** Polls as fast as the relay answers; where responses are not read, ten times a second until the relay takes no more. */
async function pollAlways(assault: Assault, poller: Connection, joined: Joined, isReading: boolean): Promise<void> {
  const poll = pollHead(joined);
  while (!assault.over && !poller.over) {
    const isHeard = isReading
      ? await poller.ask(poll, assault.patience())
      : await poller.write(Buffer.from(poll), assault.untilMs);
    if (!isHeard) break;
    assault.count('polls');
    if (!isReading) await assault.rest(100);
  }
}

const shouting: Attack = {
  about: '64 desktops of one world say the longest lines as fast as they can; half of them poll and do not read',
  run: async (assault) => {
    const world = ownWorld();
    const line = '"'.repeat(LINE_BYTES);
    await assault.repeat(assault.scaled(64), async (worker) => {
      const isReading = worker % 2 === 0;
      const joined = await assault.joinAtLast({ world });
      const speaker = joined && (await assault.open(assault.target.api));
      const poller = joined && (await assault.open(assault.target.events, isReading ? 'parse' : 'never'));
      if (!joined || !speaker || !poller) return;
      let saying = 1;
      const speaking = async () => {
        while (!assault.over && !speaker.over) {
          const lines = Array.from({ length: 31 }, () =>
            postBytes(joined, 'sayings', { saying: saying++, text: line }),
          );
          speaker.send(Buffer.concat(lines));
          if (!(await speaker.ask(postBytes(joined, 'sayings', { saying: saying++, text: line }), assault.patience())))
            break;
          assault.count('sayings', 32);
        }
      };
      await Promise.all([speaking(), pollAlways(assault, poller, joined, isReading)]);
      speaker.destroy();
      poller.destroy();
    });
  },
};

/** A stage of the most sprites that fit, somewhere else each time. */
function fullStage(x: number): string {
  const sprites = Array.from({ length: 32 }, (_, id) => ({ id, x: x + id, y: 1040, vx: 60, animation: 'walk' }));
  return JSON.stringify({ width: 1920, height: 1080, files: [FILE], sprites });
}

/** Bodies that are not stages: cut off, too deep, not numbers, too many, too long; and a stage with members that a prototype has. */
const NO_STAGES: readonly string[] = [
  '',
  '{"width":1920,"height":1080,"files":[],"sprites":[{"id":0,',
  '['.repeat(2000),
  '{"width":1e400,"height":1080,"files":[],"sprites":[]}',
  JSON.stringify({ width: 1, height: 1, files: Array(33).fill(FILE.slice(0, 40)), sprites: [] }),
  JSON.stringify({ width: 1, height: 1, files: [FILE], sprites: Array(33).fill({ id: 1, x: 0, y: 0 }) }),
  JSON.stringify({ width: 1, height: 1, files: [FILE], sprites: [{ id: 1, x: 0, y: 0, animation: 'a'.repeat(1800) }] }),
  '{"width":1,"height":1,"files":[],"sprites":[],"__proto__":1,"constructor":{}}',
];

const peeping: Attack = {
  about:
    '64 desktops of one world peek through any edge and show full and malformed stages as fast as they can, and hide again; half of them poll and do not read',
  run: async (assault) => {
    const world = ownWorld();
    const { random } = assault;
    await assault.repeat(assault.scaled(64), async (worker) => {
      const isReading = worker % 2 === 0;
      const joined = await assault.joinAtLast({ world });
      const peeper = joined && (await assault.open(assault.target.api));
      const actor = joined && (await assault.open(assault.target.api));
      const poller = joined && (await assault.open(assault.target.events, isReading ? 'parse' : 'never'));
      if (!joined || !peeper || !actor || !poller) return;
      const peeking = async () => {
        const edges = [...EDGES, 'left', 'right', null, 'up', 7];
        while (!assault.over && !peeper.over) {
          const isSwitch = random.below(8) === 0;
          const bytes = isSwitch
            ? switchBytes(joined, random.below(3) > 0)
            : postBytes(joined, 'peeks', { edge: random.of(edges) });
          if (!(await peeper.ask(bytes, assault.patience()))) break;
          assault.count('peeks and switches');
        }
      };
      const acting = async () => {
        while (!assault.over && !actor.over) {
          const stages = Array.from({ length: 15 }, () =>
            postBytes(joined, 'stage', random.below(4) > 0 ? fullStage(random.below(1800)) : random.of(NO_STAGES)),
          );
          actor.send(Buffer.concat(stages));
          if (!(await actor.ask(postBytes(joined, 'stage', fullStage(random.below(1800))), assault.patience()))) break;
          assault.count('stages', 16);
        }
      };
      await Promise.all([peeking(), acting(), pollAlways(assault, poller, joined, isReading)]);
      for (const connection of [peeper, actor, poller]) connection.destroy();
    });
  },
};

const forwarding: Attack = {
  about:
    'desktops of one world throw 200 sprites to the next and leave, so that leaving fills the mailbox of the one that stays',
  keeps: WAITING,
  run: async (assault) => {
    await assault.repeat(2, async () => {
      const world = ownWorld();
      const stays = await assault.joinAtLast({ world });
      const held = stays && (await assault.open(assault.target.events, 'never'));
      const connection = stays && (await assault.open(assault.target.api));
      if (!stays || !held || !connection) return;
      held.send(pollHead(stays));
      while (!assault.over && !connection.over) {
        const [first, second] = [
          await assault.joinOn(connection, { world }),
          await assault.joinOn(connection, { world }),
        ];
        if (!first || !second) continue;
        throwMany(connection, first, BURST, 'right');
        for (const { desktop, token } of [second, first]) {
          connection.send(headOf(`DELETE /v1/desktops/${desktop}`, bearer({ token })));
        }
        assault.count('sprites', BURST);
      }
      held.destroy();
      connection.destroy();
    });
  },
};

const slabFlood: Attack = {
  byAddress: true,
  about: 'eight connections join new worlds, throw 200 sprites of one size to themselves, and go on to the next world',
  keeps: WAITING,
  run: async (assault) => {
    await assault.repeatOn(8, assault.target.api, async (connection, worker) => {
      const name = 'x'.repeat(8 * worker);
      const joined = await assault.joinOn(connection, { world: ownWorld() });
      if (!joined) return true;
      throwMany(connection, joined, BURST - 1, 'right', name);
      await connection.ask(postBytes(joined, 'crossings', crossingOf(BURST, 'right', name)));
      assault.count('worlds');
      return true;
    });
  },
};

const twinPolls: Attack = {
  about: 'two obedient clients hold one token: each polls again as soon as the poll of the other ends its own',
  run: async (assault) => {
    const joined = await assault.joinAtLast();
    if (!joined) return;
    await assault.repeatOn(2, assault.target.events, async (connection) => {
      if (!(await connection.ask(pollHead(joined, joined.cursor), assault.patience()))) return false;
      assault.count('polls');
      return true;
    });
  },
};

const forgedSockets: Attack = {
  about: 'a thousand sockets with well-formed tokens that the relay never gave; they answer pings and stay',
  run: async (assault) => {
    const joined = await assault.joinAtLast();
    if (!joined) return;
    const forged = `${joined.desktop}.${'0'.repeat(32)}`;
    const sockets = await assault.openMany(assault.scaled(1000), assault.target.api, 'never');
    for (const socket of sockets) {
      socket.send(Buffer.concat([Buffer.from(upgradeHead(joined)), textFrame(JSON.stringify({ token: forged }))]));
    }
    await assault.hold(sockets);
  },
};

const halfClosed: Attack = {
  about: 'joins, crossings and polls whose sender closes its direction with the last byte, 32 at a time',
  run: async (assault) => {
    const joined = await assault.joinAtLast({ world: ownWorld() });
    if (!joined) return;
    let number = 1;
    const requests: (() => readonly [number, string | Uint8Array])[] = [
      () => [assault.target.api, joinBytes()],
      () => [assault.target.api, postBytes(joined, 'crossings', crossingOf(number++))],
      () => [assault.target.events, pollHead(joined)],
      () => [assault.target.api, requestOf(`PUT /v1/sprites/${'0'.repeat(64)}`, 'no picture', bearer(joined))],
    ];
    await assault.repeat(32, async () => {
      const [port, bytes] = assault.random.of(requests)();
      const connection = await assault.open(port);
      if (!connection) return;
      let isAnswered = false;
      connection.onResponse = (response) => {
        isAnswered = true;
        assault.answered(response);
      };
      const closed = new Promise((resolve) => connection.socket.once('close', () => resolve(true)));
      connection.end(bytes);
      const isClosed = (await Promise.race([closed, assault.rest(1000)])) === true;
      // A poll has nothing to answer yet, and an upload needs no answer to be harmless.
      if (isClosed && !isAnswered && Buffer.isBuffer(bytes) && bytes.includes('POST ')) assault.count(UNANSWERED);
      connection.destroy();
    });
  },
  keeps: WAITING,
};

export const DESKTOP_ATTACKS: Record<string, Attack> = {
  'socket-flood': socketFlood,
  worlds: worldsTaken,
  ghosts,
  guesses,
  'mailbox-flood': mailboxFlood,
  shouting,
  peeping,
  forwarding,
  'slab-flood': slabFlood,
  'twin-polls': twinPolls,
  'forged-sockets': forgedSockets,
  'half-closed': halfClosed,
};
