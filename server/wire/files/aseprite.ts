/**
 * Aseprite's export (File › Export Sprite Sheet, JSON as hash or array), read as frames, animations and a hitbox.
 *
 * Pure: text in, numbers out. Frames may be trimmed and packed in any order; a tag is an animation, a slice called
 * `hitbox` the hitbox. Cost: O(frames).
 */
import { ANIMATIONS_MAX, type Animation, FPS_MAX, FRAMES_MAX } from './description.ts';
import { SprRefused } from './png.ts';

/** The rectangle of a frame on the exported sheet, and its offset on the canvas of the frame. Pixels. */
interface ExportedFrame {
  x: number;
  y: number;
  width: number;
  height: number;
  offsetX: number;
  offsetY: number;
}

export interface AsepriteExport {
  /** The PNG's file name, as Aseprite wrote it; undefined when it did not write one. */
  image: string | undefined;
  /** The canvas all frames share, in pixels. */
  frame: { width: number; height: number };
  frames: ExportedFrame[];
  animations: Record<string, Animation>;
  hitbox: [number, number, number, number] | undefined;
}

interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}

interface Tag {
  name: string;
  from: number;
  to: number;
  direction?: string;
}

interface AsepriteJson {
  frames?: unknown;
  meta?: { image?: unknown; frameTags?: unknown; slices?: unknown };
}

interface AsepriteFrame {
  frame: Box;
  rotated?: boolean;
  spriteSourceSize?: Box;
  sourceSize?: { w: number; h: number };
  duration?: number;
}

const DURATION_MS = 100; // of a frame without a duration: Aseprite's own default

/** Reads an export. Throws SprRefused (part `aseprite`) when it is not one that can be packed. */
export function readAseprite(json: string): AsepriteExport {
  let root: AsepriteJson;
  try {
    root = JSON.parse(json);
  } catch {
    throw refusal('it is not valid JSON');
  }
  const given = (Array.isArray(root?.frames) ? root.frames : Object.values(root?.frames ?? {})) as AsepriteFrame[];
  if (given.length === 0 || !given.every((one) => isBox(one?.frame))) throw refusal('it lists no frames');
  if (given.length > FRAMES_MAX) throw refusal(`it has ${given.length} frames; at most ${FRAMES_MAX} are allowed`);
  if (!given.every(isWhole)) throw refusal('a frame has a size, a place or a duration that is not one');
  if (given.some((one) => one.rotated)) throw refusal('frames are rotated; export without rotation');
  const size = given[0].sourceSize ?? { w: given[0].frame.w, h: given[0].frame.h };
  if (given.some(({ sourceSize }) => sourceSize && (sourceSize.w !== size.w || sourceSize.h !== size.h))) {
    throw refusal('its frames are not all of one size');
  }
  const slices = listOf<{ name?: unknown; keys?: { bounds?: unknown }[] }>(root.meta?.slices);
  const bounds = slices.find((slice) => slice?.name === 'hitbox')?.keys?.[0]?.bounds;
  return {
    image: typeof root.meta?.image === 'string' ? root.meta.image : undefined,
    frame: { width: size.w, height: size.h },
    frames: given.map(({ frame, spriteSourceSize }) => ({
      x: frame.x,
      y: frame.y,
      width: frame.w,
      height: frame.h,
      offsetX: spriteSourceSize?.x ?? 0,
      offsetY: spriteSourceSize?.y ?? 0,
    })),
    animations: readTags(listOf<Tag>(root.meta?.frameTags), given),
    hitbox: isBox(bounds) ? [bounds.x, bounds.y, bounds.w, bounds.h] : undefined,
  };
}

function readTags(tags: readonly Tag[], frames: readonly AsepriteFrame[]): Record<string, Animation> {
  if (tags.length > ANIMATIONS_MAX) throw refusal(`it has ${tags.length} tags; at most ${ANIMATIONS_MAX} are allowed`);
  const animations: Record<string, Animation> = {};
  for (const tag of tags) {
    if (typeof tag?.name !== 'string') throw refusal('a tag has no name');
    const { name, from, to, direction } = tag;
    if (!(Number.isInteger(from) && Number.isInteger(to) && from >= 0 && to >= from && to < frames.length))
      throw refusal(`tag ${name} is outside the frames`);
    animations[name.toLowerCase().replace(/[^a-z0-9]+/g, '-')] = animationOf(order(from, to, direction), frames);
  }
  const all = order(0, frames.length - 1, 'forward');
  const first = Object.values(animations)[0];
  animations.idle ??= first === undefined ? animationOf(all, frames) : { frames: [first.frames[0]], fps: 1 };
  return animations;
}

function animationOf(cells: number[], frames: readonly AsepriteFrame[]): Animation {
  const totalMs = cells.reduce((sum, cell) => sum + (frames[cell].duration ?? DURATION_MS), 0);
  const fps = Math.min(FPS_MAX, (1000 * cells.length) / Math.max(1, totalMs));
  return { frames: cells, fps: Math.max(0.01, Math.round(fps * 100) / 100) };
}

function order(from: number, to: number, direction = 'forward'): number[] {
  const forward = Array.from({ length: to - from + 1 }, (_, i) => from + i);
  const back = forward.toReversed();
  switch (direction) {
    case 'reverse':
      return back;
    case 'pingpong':
      return [...forward, ...back.slice(1, -1)];
    case 'pingpong_reverse':
      return [...back, ...forward.slice(1, -1)];
    default:
      return forward;
  }
}

/** Whether everything in a frame that may be left out is what it should be. */
function isWhole({ spriteSourceSize, sourceSize, duration }: AsepriteFrame): boolean {
  const isSize = sourceSize === undefined || isBox({ x: 0, y: 0, ...sourceSize });
  const isPlace = spriteSourceSize === undefined || isBox(spriteSourceSize);
  return isSize && isPlace && (duration === undefined || (typeof duration === 'number' && duration >= 0));
}

function listOf<T>(value: unknown): readonly T[] {
  return Array.isArray(value) ? value : [];
}

function isBox(value: unknown): value is Box {
  const box = value as Box | undefined;
  return [box?.x, box?.y, box?.w, box?.h].every((side) => Number.isInteger(side) && (side as number) >= 0);
}

function refusal(reason: string): SprRefused {
  return new SprRefused('aseprite', `This Aseprite export can't be packed: ${reason}.`);
}
