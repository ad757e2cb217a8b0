/**
 * The rules that a relay shares with its desktops: edges, members of a crossing, a saying and a stage, sizes, rates, times.
 *
 * Relay and pages import this file. `npx node server/tools/rules.ts` writes the same rules into rules.h, for the native front, the clients
 * in C++ and the swarm's engine, into openapi.yaml, and into the library for Python. A test compares these, PROTOCOL.md and SECURITY.md with
 * this file. Each number has its unit in its name and its reason beside it, and relations between numbers are asserted here. The codes of
 * problems are in problem.ts. Browser-safe.
 */

/** Throws when two rules contradict each other. */
function ok(holds: boolean): void {
  if (!holds) throw new RangeError('Two rules contradict each other.');
}

/** The edges of a desktop. Their numbers are their places in this list: 0 left, 1 right, 2 top, 3 bottom. */
export const EDGES = ['left', 'right', 'top', 'bottom'] as const;
export type Edge = (typeof EDGES)[number];
export type EdgeNumber = 0 | 1 | 2 | 3;

/** The opposite edge: its number differs in the last bit. */
export function opposite(edge: EdgeNumber): EdgeNumber {
  return (edge ^ 1) as EdgeNumber;
}

/** The largest number of a crossing or a saying: the largest whole number that JSON carries exactly. */
export const RISING_NUMBER_MAX = 2 ** 53 - 1;

/** A name in bytes of UTF-8: two lines of a name tag; 16 characters of the scripts that need the most bytes. */
export const NAME_BYTES_MAX = 64;

/** Characters of an animation's name. */
export const ANIMATION_LENGTH_MAX = 32;

/** Lowercase hexadecimal digits of a .spr file's SHA-256. */
export const FILE_DIGITS = 64;

/** Lowercase hexadecimal digits of the secret in a token, and of that in an invitation: 128 random bits. */
export const SECRET_DIGITS = 32;

/** Characters of a program's version: `1.10.3-rc.1+5` has 13. */
export const VERSION_LENGTH_MAX = 24;

/** A side of a screen in device-independent px: several monitors side by side; a larger value is an error. */
export const SCREEN_MAX = 65_535;

/** Speed along one axis in device-independent px/s: a 4K screen crossed in a fifth of a second. */
export const SPEED_MAX = 20_000;

/** Scale of a sprite's pixels: from a quarter up to 16, at which 64 px become 1024 px. */
export const SCALE_MIN = 0.25;
export const SCALE_MAX = 16;

/** What a member must be. One with a default may be left out, or be null. */
export type Member =
  | { readonly is: 'number' | 'whole'; readonly min: number; readonly max: number; readonly default?: number }
  | { readonly is: 'rising' | 'edge' | 'file' | 'object' | 'person' }
  | { readonly is: 'persons'; readonly max: number; readonly default: string }
  | { readonly is: 'name' | 'animation'; readonly default: string }
  | { readonly is: 'facing'; readonly default: 'left' | 'right' };

const SPEED = { is: 'number', min: -SPEED_MAX, max: SPEED_MAX } as const;

/** The members of a crossing, in the order of a passage. Those between `edge` and `sprite` are its motion. */
export const CROSSING_MEMBERS = {
  crossing: { is: 'rising' },
  edge: { is: 'edge' },
  at: { is: 'number', min: 0, max: 1 },
  vx: SPEED,
  vy: SPEED,
  sprite: { is: 'object' },
} as const satisfies Record<string, Member>;

/** The members of a crossing's sprite, in the order of a passage. */
export const SPRITE_MEMBERS = {
  file: { is: 'file' },
  name: { is: 'name', default: '' },
  animation: { is: 'animation', default: 'fall' },
  facing: { is: 'facing', default: 'right' },
  scale: { is: 'number', min: SCALE_MIN, max: SCALE_MAX, default: 1 },
} as const satisfies Record<string, Member>;

/** Desktops of a private world that are told who is there: a party. Their names fit on a page and in one small answer. */
export const COMPANY_MAX = 64;

/** Columns, and rows, to a goal: in a world of COMPANY_MAX desktops nobody is farther away, whatever its width (a test tries all). */
export const GOAL_STEPS_MAX = 16;

/**
 * The members of a crossing's goal: a person to whom the sprite goes on, and how far that is from the receiver, to the right and down. A
 * crossing without a goal has none of them, and so has its passage.
 */
export const GOAL_MEMBERS = {
  name: { is: 'person' },
  column: { is: 'whole', min: -GOAL_STEPS_MAX, max: GOAL_STEPS_MAX },
  row: { is: 'whole', min: -GOAL_STEPS_MAX, max: GOAL_STEPS_MAX },
} as const satisfies Record<string, Member>;

/** How long a desktop that is asked to change places may answer, in ms: to see the question, read it and think. Silence is a no. */
export const SWAP_LEASE_MS = 30_000;

/** Names of a journey: those who threw the sprite last. */
export const JOURNEY_NAMES_MAX = 4;

/** Desktops of a journey: a sprite that is thrown once a minute has been on as many after two years. */
export const JOURNEY_HOPS_MAX = 1_000_000;

/**
 * The members of a sprite's journey: on how many desktops it has been, since when (in s since 1970), who drew it, and who threw it, the newest
 * last. Clients write it, and a person may leave the own name out, so it is a story and no proof. Like a goal it may be missing.
 */
export const JOURNEY_MEMBERS = {
  hops: { is: 'whole', min: 1, max: JOURNEY_HOPS_MAX },
  since: { is: 'whole', min: 0, max: 2 ** 32 - 1 },
  by: { is: 'name', default: '' },
  from: { is: 'persons', max: JOURNEY_NAMES_MAX, default: '' },
} as const satisfies Record<string, Member>;

/** A journey as JSON, in bytes: five names of 30. A client leaves out those who threw the sprite first, until it fits. */
export const JOURNEY_BYTES_MAX = 200;

/** A goal as JSON, in bytes: the longest name with nearly half of it escaped. */
export const GOAL_BYTES_MAX = 128;

/** Body of a crossing in bytes: five times what a browser sends, and small enough to buffer without further checks. */
export const CROSSING_BYTES_MAX = 1024;

/** A passage in bytes: more than all its members at their longest (each of the 64 bytes of a sprite's name may need an escape). */
export const PASSAGE_BYTES_MAX = 776;
ok(PASSAGE_BYTES_MAX <= CROSSING_BYTES_MAX);

/**
 * How many numbers below the newest crossing are remembered, one bit each, so that crossings may arrive out of order. A client sends no number
 * that is as far above its oldest one without an answer, so that the repeat of that one is remembered, with one number to spare.
 */
export const CROSSINGS_REMEMBERED = 32;

/** Text of a saying in bytes of UTF-8: three or four lines of a speech bubble. */
export const SAYING_TEXT_BYTES_MAX = 280;

/** Body of a saying in bytes, as of a crossing: its text with half of it escaped. */
export const SAYING_BODY_BYTES_MAX = CROSSING_BYTES_MAX;
ok(SAYING_BODY_BYTES_MAX >= 3 * SAYING_TEXT_BYTES_MAX);

/**
 * The sayings that clients show as reactions: a wave, a heart, a laugh. To the relay, and to a client that does not know them, they are texts.
 */
export const REACTIONS = ['👋', '💜', '😂'] as const;
export type Reaction = (typeof REACTIONS)[number];

/** Between two reactions of a desktop, in ms: a relay accepts two sayings a second, so no reaction comes too fast. */
export const REACTION_GAP_MS = 500;

/** Bytes of an announcement in UTF-8: two lines on a page. As JSON it has at most twice as many, which fit into a notice. */
export const ANNOUNCEMENT_BYTES_MAX = 400;

/** Body of a stage in bytes, and its JSON as it is sent on: 32 sprites that stand, or twenty that walk. */
export const STAGE_BYTES_MAX = 2048;

/** Sprites of a stage, and its pictures: more than fit side by side near an edge. */
export const STAGE_SPRITES_MAX = 32;

/** The largest id of a stage's sprite: what fits in 32 bits. */
export const SPRITE_ID_MAX = 2 ** 32 - 1;

const PLACE = { is: 'number', min: -SCREEN_MAX, max: SCREEN_MAX } as const;

/** The members of a stage's sprite. In an event they are left out where they have their default. */
export const STAGE_SPRITE_MEMBERS = {
  id: { is: 'whole', min: 0, max: SPRITE_ID_MAX },
  file: { is: 'whole', min: 0, max: STAGE_SPRITES_MAX - 1, default: 0 },
  x: PLACE,
  y: PLACE,
  vx: { ...SPEED, default: 0 },
  vy: { ...SPEED, default: 0 },
  animation: { is: 'animation', default: 'idle' },
  facing: SPRITE_MEMBERS.facing,
  scale: SPRITE_MEMBERS.scale,
} as const satisfies Record<string, Member>;

/** The body of a peek, and that of the switch, in bytes: ten times what they need. */
export const PEEK_BYTES_MAX = 256;

/** Body of a join in bytes. */
export const JOIN_BYTES_MAX = 2048;

/** The URL to which a `bye` sends desktops, in bytes of ASCII that JSON does not escape: far longer than a host and a port. */
export const JOIN_URL_BYTES_MAX = 512;

/** Bytes of a report's reason in UTF-8: a sentence or two. */
export const REASON_BYTES_MAX = 200;

/** Bytes of a .spr file: a hundred times what a character of 32 × 32 px needs. */
export const SPR_BYTES_MAX = 1_048_576;

/** The request line and headers together, in bytes: four times what a browser sends. */
export const HEAD_BYTES_MAX = 8192;

/** Headers of one request: four times what a browser sends. A head of one-letter headers costs more to parse than a long one. */
export const HEADERS_MAX = 100;

/** Sprites in one answer: as many as a desktop can show in one frame of animation. The next poll gets more at once. */
export const EVENTS_PER_POLL_MAX = 64;

/** Bytes of sprites in one answer: one socket buffer, so that one send() transmits all of it. */
export const POLL_BYTES_MAX = 64 << 10;

/** Sayings in one answer: more than twice what a full world says between two answers when everybody speaks every second. */
export const SAYINGS_PER_POLL_MAX = 256;

/** Bytes of sayings in one answer; the next one has the rest. */
export const SAYINGS_BYTES_PER_POLL_MAX = 48 << 10;

/** Notices (pictures that were removed, announcements) in one answer; the next answer has more. */
export const NOTICES_PER_POLL_MAX = 8;

/** Bytes of one answer with all that it may have, and of the longest that clients read. */
export const RESPONSE_BYTES_MAX = 2 * POLL_BYTES_MAX;
ok(POLL_BYTES_MAX + SAYINGS_BYTES_PER_POLL_MAX < RESPONSE_BYTES_MAX);

/** What a member of a plain event is. */
export type EventMember =
  | { readonly is: 'file' | 'edges' }
  | { readonly is: 'text'; readonly max: number }
  | { readonly is: 'whole'; readonly min: number; readonly max: number };

export interface EventRule {
  /** How many of it the fullest answer has. */
  readonly most: number;
  /** Those of a plain event, beside its type. All are there. The types of other events are in web/relay/transport.ts. */
  readonly members?: Readonly<Record<string, EventMember>>;
}

/**
 * The types of events. An announcement is one of the notices that `removed` counts. A `bye` is sent without sprites, so it makes no answer
 * longer.
 */
export const EVENTS = {
  sprite: { most: EVENTS_PER_POLL_MAX },
  neighbours: { most: 1 },
  company: { most: 1, members: {} },
  swap: { most: 1 },
  ping: { most: 1, members: {} },
  bye: { most: 0 },
  removed: { most: NOTICES_PER_POLL_MAX, members: { file: { is: 'file' } } },
  announcement: { most: 0, members: { text: { is: 'text', max: ANNOUNCEMENT_BYTES_MAX } } },
  saying: { most: SAYINGS_PER_POLL_MAX },
  watched: { most: 1, members: { edges: { is: 'edges' } } },
  stage: { most: 1 },
  missed: { most: 1, members: { sayings: { is: 'whole', min: 1, max: 2 ** 32 - 1 } } },
} as const satisfies Record<string, EventRule>;

type ValueOf<Rule extends EventMember> = Rule extends { is: 'whole' }
  ? number
  : Rule extends { is: 'edges' }
    ? Edge[]
    : string;

/** An event whose members EVENTS has. */
export type PlainEvent = {
  [Type in keyof typeof EVENTS]: (typeof EVENTS)[Type] extends {
    members: infer Members extends Record<string, EventMember>;
  }
    ? { type: Type } & { -readonly [Name in keyof Members]: ValueOf<Members[Name]> }
    : never;
}[keyof typeof EVENTS];

/** Events of all types in one answer. */
export const ANSWER_EVENTS_MAX = Object.values(EVENTS).reduce((sum, { most }) => sum + most, 0);

/**
 * The sustained rate of messages of one socket: 100 throws and a poll after each sprite of four busy neighbours. A burst of
 * MESSAGES_BURST_MAX may come at once.
 */
export const MESSAGES_PER_SECOND_MAX = 500;
export const MESSAGES_BURST_MAX = 500;

/** The sustained rate of peeks of one desktop: a pointer that wanders along its edges. */
export const PEEKS_PER_SECOND_MAX = 2;

/**
 * How long a watcher that does not renew its peek still watches, in ms. After that the watched desktop stops posting for a watcher that has
 * gone.
 */
export const PEEK_LEASE_MS = 10_000;

/** Peeks that a client sends in such a lease: it renews the lease when half of it is over. */
export const PEEKS_PER_LEASE = 2;
ok(PEEK_LEASE_MS / PEEKS_PER_LEASE >= 1000 / PEEKS_PER_SECOND_MAX);

/** The sustained rate of stages of one desktop: what lies between is drawn by prediction, as clients do between any two stages. */
export const STAGES_PER_SECOND_MAX = 10;

/**
 * A stage is forwarded when the previous one is this old, in ms, even if watchers could have predicted it: it is the sign that the
 * desktop is still there. Clients post one as often.
 */
export const STAGE_REFRESH_MS = 2_000;
ok(STAGE_REFRESH_MS > 1000 / STAGES_PER_SECOND_MAX);

/** How long clients show silhouettes without a new stage, in ms: two of three may be lost. */
export const STAGE_SILENCE_MS = 3 * STAGE_REFRESH_MS;
ok(STAGE_SILENCE_MS < PEEK_LEASE_MS);

/**
 * How far a sprite may be from where a watcher expects it, in px along each axis, before its stage is forwarded. A walking sprite makes 6 px
 * between two stages, so a silhouette never jumps by a step; 50 ms of jitter on the way move it by 3 px.
 */
export const STAGE_TOLERANCE_PX = 4;

/** Mutes of one desktop: a desktop has four neighbours at a time; these are four changes of all of them. */
export const MUTES_MAX = 4 * EDGES.length;

/** Reports that the desktops of one IPv4 address, or of one IPv6 /64, may send in a minute: a class behind one address. */
export const REPORTS_PER_WINDOW_MAX = 10;

/** The lease: how long a desktop without a parked poll stays, in ms. The answer to a join has it, and clients obey that. */
export const LEASE_MS = 30_000;

/** A desktop without a poll for longer than this, in ms, is away: far more than one that has read an answer needs to poll again. */
export const AWAY_MS = 5_000;
ok(AWAY_MS < LEASE_MS);

/**
 * Pauses between polls that a lease has room for, the longest ones: one lost poll must not end a desktop, and it must find a relay that was
 * started again before its lease ends.
 */
export const PAUSES_PER_LEASE = 2;

/** Leases without an answer after which a relay counts as gone: the desktop has ended by then, and a relay that is only restarted is back. */
export const LOST_LEASES = 2;
ok(LOST_LEASES > 1);

/**
 * The leases that a desktop believes a relay, in s. At the minimum it asks every second or two, whatever a relay says, and at the maximum after
 * BYE_MS_MAX.
 */
export const LEASE_SECONDS_MIN = 4;
export const LEASE_SECONDS_MAX = 600;
ok(LEASE_SECONDS_MIN * 1000 <= LEASE_MS && LEASE_MS <= LEASE_SECONDS_MAX * 1000);

/** The longest time after which a client polls again after an answer or a broken connection. */
export const RECONNECT_MS_MAX = LEASE_MS / PAUSES_PER_LEASE;

/** How long a client waits for the answer to a request that the relay does not hold, in ms. After that it sends it again. */
export const ANSWER_MS_MAX = 10_000;

/**
 * The lease of a newcomer that has never polled. A client polls at once when it has joined, with two round trips to spare; one that
 * does not is a ghost, and the sprites thrown to it wait for nobody.
 */
export const FIRST_POLL_MS = 10_000;
ok(FIRST_POLL_MS <= LEASE_MS);

/**
 * How long the accepted crossings of a desktop that has ended are remembered: longer than a client that lost its connection
 * throws the same number again.
 */
export const ENDED_REMEMBERED_MS = 600_000;
ok(ENDED_REMEMBERED_MS >= 10 * LEASE_MS && ENDED_REMEMBERED_MS % ANSWER_MS_MAX === 0);

/** The longest wait that `bye` asks for. Clients wait for no longer. From 3.3 million desktops on, it is reached. */
export const BYE_MS_MAX = 300_000;
ok(BYE_MS_MAX > RECONNECT_MS_MAX && BYE_MS_MAX >= (LEASE_SECONDS_MAX / PAUSES_PER_LEASE) * 1000);

/**
 * A parked poll is answered with a ping after this by default, ± the jitter. Common proxies cut idle connections after 150 s. A ping
 * costs one answer and one poll: with two million desktops they cost more than 5,000 sprites a second.
 */
export const PING_MS = 120_000;

/** The jitter, as a share of the time until a ping, in each direction: it spreads the pings of desktops that joined together. */
export const PING_JITTER = 0.1;
ok(PING_MS * (1 + PING_JITTER) < 150_000);

/**
 * The bounds of --ping-seconds. At the minimum, the pings of 100,000 desktops cost less than a tenth of a core; beyond the maximum, most
 * routers cut connections.
 */
export const PING_SECONDS_MIN = 30;
export const PING_SECONDS_MAX = 600;
ok(PING_SECONDS_MIN * 1000 <= PING_MS && PING_MS <= PING_SECONDS_MAX * 1000);

/** After so many times `pingSeconds` without an answer, a client takes its connection to be dead: the ping was lost. */
export const SILENCE_FACTOR = 1.5;
ok(SILENCE_FACTOR > 1 + PING_JITTER);
