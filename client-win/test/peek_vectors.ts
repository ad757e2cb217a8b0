/**
 * Plays the cases of peek.vectors.json with the browser's stages and silhouettes. As a command it writes their results to the file:
 *
 *   node client-win/test/peek_vectors.ts        after a change of the rules; the diff shows what changes for users
 *
 * Each case of `stages` is a desktop and the edges through which somebody watches it; each of `news` is a stage that was posted and
 * stages some time later; each of `silhouettes` is a script of stages and looks. A picture is two hexadecimal digits, of which its
 * hash is made by repeating them. BEHAVIOUR.md has the rules.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as gesture from '../../server/web/desktop/peek_gesture.ts';
import * as silhouettes from '../../server/web/desktop/silhouettes.ts';
import { addSprite, createSimulation, type Facing, type Mode, type Size } from '../../server/web/motion/simulation.ts';
import * as peek from '../../server/web/relay/peek.ts';
import * as stages from '../../server/web/relay/stage.ts';
import * as posts from '../../server/web/relay/stage_posts.ts';
import type { Edge } from '../../server/wire/rules.ts';

type Stage = ReturnType<typeof stages.stageOf>;
type StageEvent = Parameters<silhouettes.Silhouettes['receive']>[0];

export const PEEK_VECTORS = fileURLToPath(new URL('../peek.vectors.json', import.meta.url));

interface StandingSprite {
  id: number;
  picture: string;
  x: number;
  y: number;
  vx: number;
  vy: number;
  mode: Mode;
  facing: Facing;
  scale: number;
}

export interface StageCase extends Size {
  name: string;
  edges: Edge[];
  sprites: StandingSprite[];
  expect?: Stage;
}

export interface NewsCase {
  name: string;
  posted: Stage;
  later: { ms: number; stage: Stage; isNews?: boolean }[];
}

export interface SilhouettesCase {
  name: string;
  here: Size;
  script: ({ ms: number; stage: StageEvent } | { ms: number; look: true })[];
  /** For each look what is drawn; places are rounded to a millionth of a pixel. */
  expect?: object[][];
}

export interface PeekVectors {
  constants: Record<string, number>;
  stages: StageCase[];
  news: NewsCase[];
  silhouettes: SilhouettesCase[];
}

const WALK_SPEED = 60; // px/s of every sprite here
const nature = {
  width: 40,
  height: 40,
  walkSpeed: WALK_SPEED,
  jumpSpeed: 420,
  gravity: 1800,
  bounce: 0.3,
  hopChance: 0.12,
};
const hashOf = (picture: string) => picture.repeat(32);
const pictureOf = (hash: string) => hash.slice(0, 2);
const rounded = (value: number) => Math.round(value * 1e6) / 1e6;

export const readPeekVectors = (): PeekVectors => JSON.parse(readFileSync(PEEK_VECTORS, 'utf8'));

export function peekConstants(): Record<string, number> {
  const all = Object.entries({ ...peek, ...gesture, ...silhouettes, ...stages, ...posts });
  const numbers = all.filter(([, value]) => typeof value === 'number');
  return Object.fromEntries(numbers.sort(([a], [b]) => (a < b ? -1 : 1))) as Record<string, number>;
}

export function playStage({ width, height, edges, sprites }: StageCase): Stage {
  const simulation = createSimulation(width, height);
  for (const { picture, ...rest } of sprites) {
    const added = addSprite(simulation, {
      file: hashOf(picture),
      name: '',
      fromShelf: true,
      nature,
      scale: rest.scale,
      facing: rest.facing,
      x: rest.x,
      y: rest.y,
    });
    Object.assign(added, rest);
  }
  const stage = stages.stageOf(simulation, edges, () => true);
  return { ...stage, files: stage.files.map(pictureOf) };
}

export function playNews({ posted, later }: NewsCase): boolean[] {
  return later.map(({ ms, stage }) => stages.isNews(posted, ms, stage));
}

export function playSilhouettes({ here, script }: SilhouettesCase): object[][] {
  const shown = new silhouettes.Silhouettes();
  const looks: object[][] = [];
  for (const act of script) {
    if ('stage' in act) shown.receive(act.stage, act.ms);
    else looks.push(shown.at(act.ms, here).map((one) => ({ ...one, x: rounded(one.x), y: rounded(one.y) })));
  }
  return looks;
}

/** Returns the content of the file with the present results. */
function updated(vectors: PeekVectors): string {
  return JSON.stringify({
    constants: peekConstants(),
    stages: vectors.stages.map((one) => ({ ...one, expect: playStage(one) })),
    news: vectors.news.map((one) => {
      const isNews = playNews(one);
      return { ...one, later: one.later.map((look, i) => ({ ...look, isNews: isNews[i] })) };
    }),
    silhouettes: vectors.silhouettes.map((one) => ({ ...one, expect: playSilhouettes(one) })),
  });
}

if (import.meta.main) {
  writeFileSync(PEEK_VECTORS, updated(readPeekVectors()));
  const biome = fileURLToPath(new URL('../../node_modules/@biomejs/biome/bin/biome', import.meta.url));
  spawnSync(process.execPath, [biome, 'format', '--write', PEEK_VECTORS], { stdio: 'inherit' });
}
