/**
 * A whole Shimeji pack as they are published, for tests: in English as Shimeji-ee has it, or in Japanese as the first program had it, with
 * pictures of a mascot of our own, which looks to the left.
 */
import { crc32, deflateRawSync } from 'node:zlib';
import { PNG } from 'pngjs';

export type PackLanguage = 'english' | 'japanese';

/** A picture, how many ticks it is shown, and how high its spot is, if that is not its bottom. */
type Pose = readonly [picture: number, ticks: number, down?: number];

/** One with two animations has conditions. The class is that of an action which the program itself carries out. */
interface Action {
  english: string;
  japanese: string;
  animations: readonly (readonly Pose[])[];
  carriedOutBy?: string;
}

const SIDE = 128; // px of a picture
export const MASCOT = [222, 120, 60] as const; // its colour
const EYE = [30, 30, 60];

const walk = (ticks: number): Pose[] => [1, 2, 1, 3].map((picture) => [picture, ticks]);
const carry = (ticks: number): Pose[] => [34, 35, 34, 36].map((picture) => [picture, ticks]);
const climb = (ticks: readonly number[]): Pose[] =>
  [14, 14, 12, 13, 13, 13, 12, 14].map((picture, i) => [picture, ticks[i]]);
const alike = (ticks: number, ...pictures: number[]): Pose[] => pictures.map((picture) => [picture, ticks]);

const ACTIONS: readonly Action[] = [
  { english: 'Look', japanese: '振り向く', animations: [], carriedOutBy: 'Look' },
  { english: 'Offset', japanese: '変位', animations: [], carriedOutBy: 'Offset' },
  { english: 'Stand', japanese: '立つ', animations: [[[1, 250]]] },
  { english: 'Walk', japanese: '歩く', animations: [walk(6)] },
  { english: 'Run', japanese: '走る', animations: [walk(2)] },
  { english: 'Dash', japanese: '猛ダッシュ', animations: [walk(2)] },
  { english: 'Sit', japanese: '座る', animations: [[[11, 250]]] },
  { english: 'SitAndLookUp', japanese: '座って見上げる', animations: [[[26, 250]]] },
  { english: 'SitAndLookAtMouse', japanese: '座ってマウスを見上げる', animations: [[[26, 250]], [[11, 250]]] },
  {
    english: 'SitAndSpinHeadAction',
    japanese: '座って首が回る',
    animations: [alike(5, 26, 15, 27, 16, 28, 17, 29, 11)],
  },
  { english: 'SitWithLegsUp', japanese: '楽に座る', animations: [[[30, 250, 112]]] },
  { english: 'SitWithLegsDown', japanese: '足を下ろして座る', animations: [[[31, 250, 112]]] },
  { english: 'SitAndDangleLegs', japanese: '足をぶらぶらさせる', animations: [alike(5, 31, 32, 31, 33)] },
  { english: 'Sprawl', japanese: '寝そべる', animations: [[[21, 250]]] },
  { english: 'Creep', japanese: 'ずりずり', animations: [alike(4, 20, 20, 21, 21, 21)] },
  { english: 'GrabCeiling', japanese: '天井に掴まる', animations: [[[23, 250, 48]]] },
  { english: 'ClimbCeiling', japanese: '天井を伝う', animations: [[25, 23, 24, 23].map((one) => [one, 4, 48])] },
  { english: 'GrabWall', japanese: '壁に掴まる', animations: [[[13, 250]]] },
  {
    english: 'ClimbWall',
    japanese: '壁を登る',
    animations: [climb([16, 4, 4, 4, 16, 4, 4, 4]), climb([16, 4, 4, 4, 16, 4, 4, 4])],
  },
  { english: 'FallWithIe', japanese: 'IEを持って落ちる', animations: [[[36, 250]]], carriedOutBy: 'FallWithIE' },
  { english: 'WalkWithIe', japanese: 'IEを持って歩く', animations: [carry(6)], carriedOutBy: 'WalkWithIE' },
  { english: 'RunWithIe', japanese: 'IEを持って走る', animations: [carry(2)], carriedOutBy: 'WalkWithIE' },
  { english: 'ThrowIe', japanese: 'IEを投げる', animations: [[[37, 40]]], carriedOutBy: 'ThrowIE' },
  { english: 'Jumping', japanese: 'ジャンプ', animations: [[[22, 250]]], carriedOutBy: 'Jump' },
  { english: 'Falling', japanese: '落ちる', animations: [[[4, 250]]], carriedOutBy: 'Fall' },
  { english: 'Bouncing', japanese: '跳ねる', animations: [alike(4, 18, 19)] },
  {
    english: 'Tripping',
    japanese: '転ぶ',
    animations: [[...alike(8, 19), ...alike(4, 18, 20), ...alike(10, 20), [19, 4, 104]]],
  },
  {
    english: 'Pinched',
    japanese: 'つままれる',
    animations: [9, 7, 1, 8, 10].map((one) => [[one, 5]]),
    carriedOutBy: 'Dragged',
  },
  {
    english: 'Resisting',
    japanese: '抵抗する',
    animations: [[...alike(5, 5, 6, 5, 6), ...alike(50, 1)]],
    carriedOutBy: 'Regist',
  },
];

/** The cells that each animation of the sprite shows, in steps. */
export const PACK_ANIMATIONS = {
  idle: [0],
  walk: [0, 1, 0, 2],
  sit: [3],
  sleep: [4],
  climb: [5, 5, 5, 5, 5, 6, 7, 7, 7, 7, 7, 7, 6, 5],
  hang: [8],
  land: [9, 10],
  squash: [10, 10, 9, 11, 11, 11, 11, 12],
  fall: [13],
  throw: [14],
  drag: [15, 16, 0, 17, 18, 17, 0, 16],
};
/** The px of its longer side on the screen, as of other pictures. */
export const PACK_SIDE = 96;

/** The names of the actions that have no counterpart. */
export function leftOutOf(language: PackLanguage): string[] {
  const USED = [
    'Stand',
    'Walk',
    'Sit',
    'Sprawl',
    'ClimbWall',
    'GrabCeiling',
    'Bouncing',
    'Tripping',
    'Falling',
    'Jumping',
    'Pinched',
  ];
  const rest = ACTIONS.filter(({ english, animations }) => animations.length > 0 && !USED.includes(english));
  return rest.map((action) => action[language]);
}

const WORDS: Record<PackLanguage, Record<string, string>> = {
  english: {
    ...{ mascot: 'Mascot', list: 'ActionList', action: 'Action', animation: 'Animation', pose: 'Pose' },
    ...{ name: 'Name', type: 'Type', class: 'Class', condition: 'Condition', reference: 'ActionReference' },
    ...{ image: 'Image', anchor: 'ImageAnchor', velocity: 'Velocity', duration: 'Duration' },
    ...{ stay: 'Stay', embedded: 'Embedded', sequence: 'Sequence' },
  },
  japanese: {
    ...{ mascot: 'マスコット', list: '動作リスト', action: '動作', animation: 'アニメーション', pose: 'ポーズ' },
    ...{ name: '名前', type: '種類', class: 'クラス', condition: '条件', reference: '動作参照' },
    ...{ image: '画像', anchor: '基準座標', velocity: '移動速度', duration: '長さ' },
    ...{ stay: '静止', embedded: '組み込み', sequence: '複合' },
  },
};

function actionsXml(language: PackLanguage): string {
  const words = WORDS[language];
  const tag = (kind: string, attributes: Record<string, string>, inner = '') => {
    const written = Object.entries(attributes).map(([name, value]) => ` ${words[name]}="${value}"`);
    return `<${words[kind]}${written.join('')}${inner === '' ? ' />' : `>\n${inner}</${words[kind]}>`}\n`;
  };
  const pose = ([picture, ticks, down = SIDE]: Pose) =>
    tag('pose', {
      ...{ image: `/shime${picture}.png`, anchor: `${SIDE / 2},${down}` },
      ...{ velocity: '-2,0', duration: String(ticks) },
    });
  const actions = ACTIONS.map(({ animations, carriedOutBy, ...names }) => {
    const type = carriedOutBy === undefined ? words.stay : words.embedded;
    const its: Record<string, string> =
      carriedOutBy === undefined ? {} : { class: `com.group_finity.mascot.action.${carriedOutBy}` };
    const condition: Record<string, string> = animations.length > 1 ? { condition: '#{mascot.anchor.x &lt; 50}' } : {};
    const shown = animations.map((poses) => tag('animation', condition, poses.map(pose).join('')));
    return tag('action', { name: names[language], type, ...its }, shown.join(''));
  });
  const fall = tag('action', { name: 'Fall', type: words.sequence }, tag('reference', { name: ACTIONS[2][language] }));
  const [open, close] = [`<${words.mascot} xmlns="http://www.group-finity.com/Mascot">\n`, `</${words.mascot}>\n`];
  const lists = `<!-- Standing -->\n${tag('list', {}, actions.join(''))}${tag('list', {}, fall)}`;
  return `<?xml version="1.0" encoding="UTF-8" ?>\n${open}${lists}${close}`;
}

/** The mascot: a round body, wide when it lies and small when it sits, on feet that step; its eye is at the left. */
function picture(number: number): Buffer {
  const png = new PNG({ width: SIDE, height: SIDE });
  const lies = number === 20 || number === 21;
  const sits = number === 11 || (number >= 26 && number <= 33);
  const [across, tall] = lies ? [58, 24] : sits ? [36, 36] : [34, 50];
  const hangs = number >= 23 && number <= 25;
  const middle = hangs ? SIDE / 2 + 10 : SIDE - 10 - tall;
  const within = (x: number, y: number, [left, top]: number[], [a, b]: number[]) =>
    ((x - left) / a) ** 2 + ((y - top) / b) ** 2 <= 1;
  const step = (number % 3) * 8;
  for (let y = 0; y < SIDE; y++) {
    for (let x = 0; x < SIDE; x++) {
      const isEye = within(x, y, [SIDE / 2 - across / 2, middle - tall / 3], [6, 8]);
      const isBody = within(x, y, [SIDE / 2, middle], [across, tall]);
      const isFoot = !hangs && [step, -step].some((by) => within(x, y, [SIDE / 2 + by, SIDE - 8], [14, 8]));
      if (isBody || isFoot) png.data.set([...(isEye ? EYE : MASCOT), 255], 4 * (SIDE * y + x));
    }
  }
  return PNG.sync.write(png);
}

/** The archive. The Japanese one has its names in Shift JIS, as Windows writes them there. */
export function shimejiPack(language: PackLanguage): Buffer {
  const [actions, folder] = language === 'english' ? ['actions.xml', 'img/Shimeji/'] : ['\x93\xae\x8d\xec.xml', 'img/'];
  const files: [name: string, bytes: Buffer][] = [
    ['readme.txt', Buffer.from('Dear Grace,')],
    [`conf/${actions}`, Buffer.from(actionsXml(language))],
    [`conf/${language === 'english' ? 'behaviors.xml' : '\x8d\x73\x93\xae.xml'}`, Buffer.from('<Mascot/>')],
    ...Array.from({ length: 46 }, (_, i): [string, Buffer] => [`${folder}shime${i + 1}.png`, picture(i + 1)]),
  ];
  return zipOf(files);
}

/** An archive (PKWARE's APPNOTE.TXT, 4.3) of files that are packed. A letter of a name is a byte. */
function zipOf(files: readonly (readonly [name: string, bytes: Buffer])[]): Buffer {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let at = 0;
  for (const [name, bytes] of files) {
    const packed = deflateRawSync(bytes);
    const head = Buffer.alloc(26); // from the version that is needed to the length of the name
    head.writeUInt16LE(20, 0);
    head.writeUInt16LE(8, 4);
    head.writeUInt32LE(crc32(bytes), 10);
    head.writeUInt32LE(packed.length, 14);
    head.writeUInt32LE(bytes.length, 18);
    head.writeUInt16LE(name.length, 22);
    const rest = Buffer.alloc(14); // the comment, the disk and the attributes, then where the file is
    rest.writeUInt32LE(at, 10);
    local.push(Buffer.from('PK\x03\x04'), head, Buffer.from(name, 'latin1'), packed);
    central.push(Buffer.from('PK\x01\x02\x14\0', 'latin1'), head, rest, Buffer.from(name, 'latin1'));
    at += 30 + name.length + packed.length;
  }
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(
    central.reduce((sum, { length }) => sum + length, 0),
    8,
  );
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...local, ...central, Buffer.from('PK\x05\x06'), end]);
}
