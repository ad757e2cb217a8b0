/**
 * The editor: makes a sprite of a picture, which walks about in a preview while the person changes it.
 *
 * A change of the picture's settings draws the frames again; every change packs the .spr again and shows it in the preview. The last
 * .spr that could be made stays in the preview while the draft has an error. Files and draft are saved in this browser after each
 * change, so a reload loses nothing.
 */
import type { Behaviour } from '../../wire/files/description.ts';
import type { Pixels } from '../../wire/files/pixels.ts';
import { SCALE_MAX } from '../../wire/rules.ts';
import { element } from '../desktop/elements.ts';
import { KeptText } from '../desktop/kept_text.ts';
import { notice, onFilesDropped, showPauseButton } from '../desktop/panel.ts';
import { askToPublish, publishedText } from '../desktop/publishing.ts';
import { NAME } from '../desktop/session.ts';
import { readStored, removeStored, writeStored } from '../pictures/browser_store.ts';
import { PICKS_MAX } from '../pictures/cutout.ts';
import { handOver, keepPicture } from '../pictures/kept_pictures.ts';
import { animatePortraits, portrait } from '../pictures/portraits.ts';
import { natureOf, Sheets } from '../pictures/sheets.ts';
import { offer } from '../pictures/taking.ts';
import { join, leave, privateWorldName, publish, upload } from '../relay/api_client.ts';
import { wordsOf } from '../relay/problem_words.ts';
import { number, type Plain, phrase, reasonOf } from '../texts/language.ts';
import { part } from '../texts/part.ts';
import { AnimationPanel } from './animation_panel.ts';
import { Body } from './body.ts';
import { type Draft, dropFrame, hitboxOf, keptAnimations, keptFrames, moveFrame, newDraft } from './draft.ts';
import { type Drawing, draw, HEIGHT_MAX, HEIGHT_MIN, packed, usualPicturing } from './drawing.ts';
import { Easel } from './easel.ts';
import { createFrameRow } from './frame_row.ts';
import { Preview } from './preview.ts';
import { readSource, type Source } from './source.ts';

/** What is saved for a reload. */
interface Saved {
  /** Tells these files from others. */
  id: string;
  files: File[];
  draft: Draft;
}

/** What is being made. */
interface Work {
  id: string;
  files: File[];
  source: Source;
  draft: Draft;
  drawing: Drawing;
  /** The frame that the row, the easel and the body show. */
  selected: number;
}

/** A .spr that could be made. */
interface Made {
  file: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Few people drop a folder. */
const packFolder = part(() => import('./pack_folder.ts'));

const PACK_MS = 120; // ms after the last change until the .spr is packed: a slider changes many times a second
const SAVE_MS = 400; // ms after the last change until the draft is saved
const DRAFT_KEY = 'draft';
const TAB_DRAFT = new KeptText('sessionStorage', 'sprites.making');

const LICENCES: Record<string, Plain> = {
  'CC0-1.0': 'licence.about-cc0',
  'CC-BY-4.0': 'licence.about-by',
  'CC-BY-SA-4.0': 'licence.about-by-sa',
};

/** How the number beside each slider of a sprite's nature is written. */
const NATURE: Record<keyof Behaviour, (value: number) => string> = {
  walkSpeed: speedWords,
  jumpSpeed: speedWords,
  gravity: (value) => phrase(value < 900 ? 'nature.feather' : value > 2600 ? 'nature.stone' : 'nature.usual'),
  bounce: (value) =>
    value === 0 ? phrase('nature.none') : phrase('nature.keeps', { percent: Math.round(value * 100) }),
  hopChance: (value) => phrase('nature.hops', { percent: Math.round(value * 100) }),
};

const calm = matchMedia('(prefers-reduced-motion: reduce)');
const field = (id: string) => element<HTMLInputElement>(id);

let work: Work | null = null;
let made: Made | null = null;
let packTimer: ReturnType<typeof setTimeout> | undefined;
let saveTimer: ReturnType<typeof setTimeout> | undefined;
/** Rises with each change; a .spr of an older number is thrown away. */
let version = 0;
/** Rises with each choice of files. */
let choices = 0;
/** The number of the choice that is shown: an older one that took longer to read is thrown away. */
let shownChoice = 0;

const sheets = new Sheets({ changed: () => {}, inUse: (file) => file === made?.file });
const preview = new Preview(element<HTMLCanvasElement>('preview'), element('ledge'), sheets, calm, togglePause);
const easel = new Easel(element<HTMLCanvasElement>('easel'), (pick) => {
  if (work === null) return;
  const { cut } = work.draft.picturing;
  if (cut.picks.length >= PICKS_MAX) notice(phrase('make.areas', { count: PICKS_MAX }));
  else picture({ cut: { ...cut, picks: [...cut.picks, pick] } });
});
const body = new Body(element<HTMLCanvasElement>('body'), (hitbox) => change({ hitbox }));
const row = createFrameRow(element('frames'), select, dropOrRestore);
const animationPanel = new AnimationPanel({
  selectedFrame: () => work?.selected ?? 0,
  changed: (animations) => change({ animations }),
  chosen: showAnimation,
});

listen();
preview.fit();
requestAnimationFrame(function frame(nowMs) {
  requestAnimationFrame(frame);
  preview.draw(nowMs);
  animatePortraits(calm.matches ? 0 : nowMs);
});
await restore();
exposeToTests();

/** Continues with what was here before a reload. This tab may have changed the draft after the browser stored it. */
async function restore(): Promise<void> {
  const number = ++choices;
  const saved = await readStored<Saved>('draft', DRAFT_KEY);
  if (saved === undefined) return;
  const newest = TAB_DRAFT.readJson<Pick<Saved, 'id' | 'draft'>>();
  await open(saved.files, number, newest?.id === saved.id ? { ...saved, draft: newest.draft } : saved);
}

/** Begins with other files. What cannot be read changes nothing. */
async function open(given: File[] | Promise<File[]>, number = ++choices, saved?: Saved): Promise<void> {
  const wrong = element('source-wrong');
  try {
    const files = await given;
    if (files.length === 0 || number < shownChoice) return;
    wrong.hidden = true;
    element('chooser').classList.add('busy');
    const source = await readSource(files);
    if (number < shownChoice) return;
    const draft = saved?.draft ?? begin(source);
    const id = saved?.id ?? String(Math.random());
    work = { id, files, source, draft, drawing: draw(source, draft.picturing), selected: 0 };
    shownChoice = number;
    showPicture();
    changed();
    save();
  } catch (error) {
    if (number < shownChoice) return;
    wrong.textContent = reasonOf(error);
    wrong.hidden = false;
  } finally {
    element('chooser').classList.remove('busy');
  }
}

function speedWords(value: number): string {
  return value === 0 ? phrase('nature.none') : phrase('nature.speed', { count: number(value) });
}

function begin(source: Source): Draft {
  const { author = NAME.read() ?? '', licence, behaviour } = source;
  const draft = newDraft(usualPicturing(source), source.name);
  return { ...draft, author, licence: licence ?? draft.licence, behaviour: behaviour ?? draft.behaviour };
}

/** Changes how the frames are made of the picture, and makes them again. */
function picture(settings: Partial<Draft['picturing']>): void {
  if (work === null) return;
  const picturing = { ...work.draft.picturing, ...settings };
  const wrong = element('source-wrong');
  try {
    const drawing = draw(work.source, picturing);
    const isOther = drawing.count !== work.drawing.count;
    const isResized =
      drawing.frame.width !== work.drawing.frame.width || drawing.frame.height !== work.drawing.frame.height;
    work.draft.picturing = picturing;
    // Other frames have other numbers, and a hitbox is in pixels of the frame.
    if (isOther) Object.assign(work.draft, { order: null, animations: null });
    if (isOther || isResized) Object.assign(work.draft, { hitbox: null, scale: null });
    work = { ...work, drawing, selected: Math.min(work.selected, drawing.count - 1) };
    wrong.hidden = true;
    showPicture();
    changed();
  } catch (error) {
    wrong.textContent = reasonOf(error);
    wrong.hidden = false;
  }
}

/** Changes the draft. */
function change(members: Partial<Draft>): void {
  if (work === null) return;
  Object.assign(work.draft, members);
  changed();
}

/** Shows the draft, packs it and saves it, both a little later. */
function changed(): void {
  version++;
  element('finished').textContent = ''; // it was about another version
  showDraft();
  clearTimeout(packTimer);
  packTimer = setTimeout(pack, PACK_MS);
  clearTimeout(saveTimer);
  saveTimer = setTimeout(save, SAVE_MS);
  if (work !== null) TAB_DRAFT.write(JSON.stringify({ id: work.id, draft: work.draft }));
}

/** Stores files and draft. A page that closes may end before the browser has stored them, so the tab keeps the draft, too. */
function save(): void {
  clearTimeout(saveTimer);
  if (work === null) return;
  const { id, files, draft } = work;
  writeStored('draft', DRAFT_KEY, { id, files, draft } satisfies Saved).catch(() => {}); // a reload then finds no draft
}

/** Packs the draft, and shows it in the preview. Returns what was made of it, or null when it has an error. */
async function pack(): Promise<Made | null> {
  clearTimeout(packTimer);
  if (work === null) return null;
  const began = version;
  const before = made;
  let result: Made | null = null;
  let wrong: string | null = null;
  try {
    const bytes = await packed(work.drawing, work.draft);
    result = { file: await sheets.add(bytes), bytes };
    if (began !== version) return null;
  } catch (error) {
    if (began !== version) return null;
    wrong = reasonOf(error);
  }
  if (wrong === null && work.draft.licence === '') showWrong(phrase('make.unlicensed'), 'licence');
  else showWrong(wrong);
  if (result === null) return null;
  made = result;
  if (before?.file !== made.file) {
    preview.show(made.file);
    if (before !== null) sheets.remove(before.file);
  }
  showMade(made);
  return made;
}

/** Shows why the sprite can be seen here only, and leads to the field to mend; null when it can be used. */
function showWrong(sentence: string | null, mendedIn = ''): void {
  const label = document.createElement('label');
  if (mendedIn !== '') label.htmlFor = mendedIn;
  label.textContent = sentence;
  element('made-wrong').replaceChildren(label);
  element('made-wrong').hidden = sentence === null;
  for (const id of ['throw', 'keep', 'publish-open', 'save']) field(id).disabled = sentence !== null;
}

/** Shows what depends on the picture's settings. */
function showPicture(): void {
  if (work === null) return;
  const { source, draft, drawing } = work;
  const { frame, cut, height, isPixelArt, colours, isAlive } = draft.picturing;
  for (const part of document.querySelectorAll<HTMLElement>('.with-picture')) part.hidden = false;
  element('stage-empty').hidden = true;
  element('choose-text').textContent = phrase('make.choose-other');
  element('choose-hint').hidden = true;
  element('restart').hidden = false;
  const { leftOut = [] } = source;
  element('left-out').hidden = leftOut.length === 0;
  element('left-out').textContent = phrase('make.left-out', { names: leftOut.join(', ') });
  element('strip').hidden = !source.isWhole || source.isPhoto;
  const [whole] = source.frames;
  field('frame-width').value = String(frame?.width ?? whole.width);
  field('frame-height').value = String(frame?.height ?? whole.height);
  element('strip-count').textContent =
    drawing.uncut.length === 1
      ? phrase('make.pixels-one', { width: whole.width, height: whole.height })
      : phrase('make.pixels-many', { width: whole.width, height: whole.height, count: drawing.uncut.length });
  field('from-edges').checked = cut.fromEdges;
  field('tolerance').value = String(cut.tolerance);
  field('rim').value = String(cut.rim);
  field('undo-pick').disabled = cut.picks.length === 0;
  const highest = Math.min(HEIGHT_MAX, drawing.cut[0].height);
  field('height').max = String(Math.max(HEIGHT_MIN, highest));
  field('height').value = String(height);
  element('height-shown').textContent = phrase('make.height-pixels', { count: Math.min(height, highest) });
  field('pixel-art').checked = isPixelArt;
  element('colours-field').hidden = !isPixelArt;
  field('colours').value = String(colours);
  element('colours-shown').textContent = String(colours);
  element('alive-field').hidden = !source.isWhole || drawing.uncut.length > 1;
  field('alive').checked = isAlive;
}

/** Shows the draft in all panels below the picture. */
function showDraft(): void {
  if (work === null) return;
  const { draft, drawing, selected } = work;
  const kept = keptFrames(draft, drawing);
  // With a life of its own, a still picture has more frames than the source.
  const uncut = Math.min(selected, drawing.uncut.length - 1);
  easel.show(drawing.uncut[uncut], drawing.cut[uncut]);
  row.show(drawing.frames, kept, selected);
  const place = kept.indexOf(selected);
  field('frame-left').disabled = place <= 0;
  field('frame-right').disabled = place < 0 || place === kept.length - 1;
  field('frame-drop').disabled = place >= 0 && kept.length === 1;
  element('frame-drop').textContent = phrase(place < 0 ? 'make.bring-back' : 'make.drop');
  animationPanel.show(keptAnimations(draft, drawing), kept);
  body.show(drawing.frames[selected], hitboxOf(draft, drawing));
  const scale = draft.scale ?? drawing.scale;
  field('scale').value = String(scale);
  element('scale-shown').textContent = phrase('make.px-high', { count: Math.round(drawing.frame.height * scale) });
  for (const name of Object.keys(NATURE) as (keyof Behaviour)[]) {
    field(name).value = String(draft.behaviour[name]);
    element(`${name}-shown`).textContent = NATURE[name](draft.behaviour[name]);
  }
  for (const name of ['name', 'author'] as const) {
    if (document.activeElement !== field(name)) field(name).value = draft[name];
  }
  field('licence').value = draft.licence;
  element('licence-about').textContent =
    draft.licence === ''
      ? phrase('make.unlicensed')
      : Object.hasOwn(LICENCES, draft.licence)
        ? phrase(LICENCES[draft.licence])
        : phrase('licence.other', { licence: draft.licence });
}

function showMade({ bytes }: Made): void {
  document.body.dataset.made = String(Number(document.body.dataset.made) + 1);
  element('made-size').textContent = phrase('make.kilobytes', { count: Math.max(1, Math.round(bytes.length / 1024)) });
  showAnimation();
}

/** Shows the chosen animation beside its frames. */
function showAnimation(): void {
  if (made === null) return;
  const { description, image } = sheets.get(made.file);
  if (image === null) return;
  const canvas = portrait({ file: made.file, name: description.name, description, image });
  canvas.dataset.animation = animationPanel.chosen;
  element('animation-preview').replaceChildren(canvas);
}

function select(frame: number): void {
  if (work === null) return;
  work.selected = frame;
  showDraft();
}

function move(by: -1 | 1): void {
  if (work !== null) change({ order: moveFrame(keptFrames(work.draft, work.drawing), work.selected, by) });
}

function dropOrRestore(): void {
  if (work === null) return;
  const { draft, drawing, selected } = work;
  const kept = keptFrames(draft, drawing);
  // The animations are kept with all their frames, so that those of a frame that comes back are there again.
  change({ order: kept.includes(selected) ? dropFrame(kept, selected) : [...kept, selected] });
}

function togglePause(): void {
  showPauseButton(preview.togglePause());
}

function listen(): void {
  listenForFiles();
  const on = (id: string, type: string, handle: (control: HTMLInputElement) => void) =>
    field(id).addEventListener(type, () => handle(field(id)));
  const cut = () => work!.draft.picturing.cut;
  for (const id of ['frame-width', 'frame-height']) {
    on(id, 'change', () => {
      const [width, height] = [Number(field('frame-width').value), Number(field('frame-height').value)];
      // A place in a frame of another size means something else.
      picture({ frame: { width: Math.round(width), height: Math.round(height) }, cut: { ...cut(), picks: [] } });
    });
  }
  on('from-edges', 'change', ({ checked }) => picture({ cut: { ...cut(), fromEdges: checked } }));
  on('tolerance', 'input', ({ value }) => picture({ cut: { ...cut(), tolerance: Number(value) } }));
  on('rim', 'input', ({ value }) => picture({ cut: { ...cut(), rim: Number(value) } }));
  on('undo-pick', 'click', () => picture({ cut: { ...cut(), picks: cut().picks.slice(0, -1) } }));
  on('height', 'input', ({ value }) => picture({ height: Number(value) }));
  on('pixel-art', 'change', ({ checked }) => picture({ isPixelArt: checked }));
  on('colours', 'input', ({ value }) => picture({ colours: Number(value) }));
  on('alive', 'change', ({ checked }) => picture({ isAlive: checked }));
  on('frame-left', 'click', () => move(-1));
  on('frame-right', 'click', () => move(1));
  on('frame-drop', 'click', dropOrRestore);
  on('body-fit', 'click', () => change({ hitbox: null }));
  on('scale', 'input', ({ value }) => change({ scale: Math.min(SCALE_MAX, Number(value)) }));
  for (const name of Object.keys(NATURE) as (keyof Behaviour)[]) {
    on(name, 'input', ({ value }) => change({ behaviour: { ...work!.draft.behaviour, [name]: Number(value) } }));
  }
  on('name', 'input', ({ value }) => change({ name: value }));
  on('author', 'input', ({ value }) => change({ author: value }));
  on('licence', 'change', ({ value }) => change({ licence: value }));
  on('pause', 'click', togglePause);
  on('drop-in', 'click', () => preview.dropIn());
  for (const button of document.querySelectorAll<HTMLElement>('[data-zoom]')) {
    button.addEventListener('click', () => {
      preview.zoom(Number(button.dataset.zoom));
      for (const one of document.querySelectorAll('[data-zoom]'))
        one.setAttribute('aria-pressed', String(one === button));
    });
  }
  on('restart', 'click', restart);
  on('save', 'click', () => void finish(saveFile));
  on('keep', 'click', () => void finish(keep));
  on('throw', 'click', () => void finish(throwIt));
  on('publish-open', 'click', () => void finish(openPublishing));
  addEventListener('pagehide', save);
  const fit = () => preview.fit();
  addEventListener('resize', fit);
  calm.addEventListener('change', fit);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', fit);
}

/** Files come from the button, by drag and drop, and from the clipboard. */
function listenForFiles(): void {
  const input = field('files');
  input.addEventListener('change', async () => {
    await open([...(input.files ?? [])]);
    input.value = '';
  });
  addEventListener('paste', (event) => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    void open(files);
  });
  onFilesDropped((files, _x, items) => {
    const folder = items.map((item) => item.webkitGetAsEntry()).find((entry) => entry?.isDirectory);
    void open(folder == null ? files : readFolder(folder as FileSystemDirectoryEntry));
  });
}

async function readFolder(folder: FileSystemDirectoryEntry): Promise<File[]> {
  const { filesIn } = await packFolder();
  return filesIn(folder);
}

async function restart(): Promise<void> {
  if (!confirm(phrase('make.restart-sure'))) return;
  clearTimeout(saveTimer);
  work = null;
  await removeStored('draft', DRAFT_KEY);
  location.reload();
}

/** Does something with the sprite as it is now, and shows the result in words. */
async function finish(act: (made: Made, draft: Draft) => Promise<string>): Promise<void> {
  const finished = element('finished');
  const ready = await pack();
  if (ready === null || work === null || work.draft.licence === '') return;
  try {
    finished.textContent = await act(ready, work.draft);
  } catch (error) {
    finished.textContent = reasonOf(error);
  }
}

async function saveFile({ bytes }: Made, { name }: Draft): Promise<string> {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([bytes], { type: 'image/png' }));
  link.download = `${name.trim().replace(/[^\p{L}\p{N} _-]/gu, '') || 'sprite'}.spr`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // the browser reads it after this
  return phrase('make.saved', { file: link.download });
}

async function keep({ file, bytes }: Made, { name }: Draft): Promise<string> {
  await keepPicture(file, bytes);
  if (await offer(file)) return phrase('make.kept-dropped', { name: name.trim() });
  return phrase('make.kept', { name: name.trim() });
}

async function throwIt({ file, bytes }: Made, { name }: Draft): Promise<string> {
  await handOver(file, bytes);
  if (await offer(file)) return phrase('make.thrown', { name: name.trim() });
  save();
  location.href = `/#take=${file}`;
  return phrase('make.going');
}

async function openPublishing({ file, bytes }: Made, { name, author, licence }: Draft): Promise<string> {
  const known = { title: name.trim(), author: author.trim(), ...(Object.hasOwn(LICENCES, licence) && { licence }) };
  askToPublish(known, async (publication) => {
    // Only a desktop may publish. This one is alone in a world that nobody knows, and ends when it has.
    const screen = { width: 1, height: 1 };
    const seat = await join({ name: publication.author, world: privateWorldName(), near: '', screen });
    try {
      const problem = await upload(seat, file, bytes);
      if (problem !== null) throw new Error(wordsOf(problem));
      const state = await publish(seat, { file, ...publication });
      element('finished').textContent = publishedText(state, publication.title);
    } finally {
      leave(seat);
    }
  });
  return '';
}

/** Gives end-to-end tests `globalThis.making`: it reads the editor. */
function exposeToTests(): void {
  const handle = Object.freeze({
    draft: () => work?.draft ?? null,
    frames: (): readonly Pixels[] => work?.drawing.frames ?? [],
    made: () => made?.file ?? null,
    sprite: () => {
      const { sprite } = preview;
      if (sprite === null) return null;
      const { x, y, mode, file } = sprite;
      return { x, y, mode, height: natureOf(sheets.get(file).description, sprite.scale).height };
    },
  });
  Object.defineProperty(globalThis, 'making', { value: handle });
}
