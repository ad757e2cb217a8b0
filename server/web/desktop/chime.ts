/**
 * Two short notes when something of somebody else comes: a sprite, or a saying. They are off until the person turns them on.
 *
 * A browser lets a page sound only after the person has touched it. Before that, and without a sound device, nothing is heard.
 */
import { element } from './elements.ts';
import { KeptChoice } from './kept_text.ts';

/** The two notes, in Hz. */
const NOTES = { sprite: [523, 784], saying: [784, 659] } as const;

const NOTE_S = 0.09; // a note: a click is shorter, a melody longer
const LOUDNESS = 0.06; // of 1: beside music, not above it

const SOUND = new KeptChoice('sprites.sound');
let audio: AudioContext | null = null;

/** Lets the person turn sounds on and off. */
export function watchSoundSwitch(): void {
  const button = element('sound');
  const show = () => button.setAttribute('aria-pressed', String(SOUND.isMade));
  button.addEventListener('click', () => {
    SOUND.make(!SOUND.isMade);
    show();
    chime('sprite');
  });
  show();
}

/** Sounds, if sounds are on. */
export function chime(what: keyof typeof NOTES): void {
  if (!SOUND.isMade) return;
  audio ??= new AudioContext();
  void audio.resume();
  const gain = new GainNode(audio, { gain: LOUDNESS });
  const tone = new OscillatorNode(audio, { type: 'triangle' });
  const { currentTime } = audio;
  for (const [i, hz] of NOTES[what].entries()) tone.frequency.setValueAtTime(hz, currentTime + i * NOTE_S);
  gain.gain.setTargetAtTime(0, currentTime + NOTE_S, NOTE_S / 2);
  tone.connect(gain).connect(audio.destination);
  tone.start();
  tone.stop(currentTime + 4 * NOTE_S);
}
