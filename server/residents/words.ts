/**
 * What residents say: a few friendly words, in the language of the saying that they answer, or in both if it does not tell. They say that they
 * are programs.
 */
import { REACTIONS } from '../wire/rules.ts';

type Topic = 'greeting' | 'who' | 'thanks' | 'bye' | 'other';

/** What a saying is about, in the order in which that is looked for. */
const TOPICS: readonly (readonly [topic: Topic, words: RegExp])[] = [
  ['who', /\b(who|bots?|robots?|humans?|person|real|wer|mensch|roboter|echt)\b|\bare you\b|\bbist du\b|\bsind sie\b/i],
  ['thanks', /\b(thanks?|thx|danke|merci)\b/i],
  ['bye', /\b(bye|goodbye|see you|good night|tschüss|tschüs|ciao|gute nacht|bis bald)\b/i],
  ['greeting', /\b(hello|hi|hey|good (?:morning|evening|day)|hallo|moin|servus|guten (?:tag|morgen|abend)|grüß)/i],
];

/** Words that are of one of the languages only. */
const WORDS = {
  en: /\b(i|you|your|the|is|are|it|this|that|what|who|how|where|why|my|me|we|and|of|to|for|from|with|not|no|yes|hello|good|nice|great|thanks?|goodbye|please|can|do|does|have|has|here|there)\b/gi,
  de: /[äöüß]|\b(ich|du|dir|dich|mir|mich|wir|ihr|und|der|die|das|ist|sind|bin|bist|hallo|moin|servus|guten|gute|wie|wer|wo|nicht|danke|hier|mal|ein|eine|ja|nein|mit|von|kann|kannst|auch|wirf|komm|toll|tschau)\b/gi,
};

const ANSWERS: Readonly<Record<'en' | 'de', Readonly<Record<Topic, readonly string[]>>>> = {
  en: {
    greeting: ['Hello! Throw me something, and I throw it back.', 'Hi there! Nice that you came.'],
    who: [
      'I am a resident: a small program of this relay that keeps you company.',
      'A program, not a person. But I catch rather well!',
    ],
    thanks: ['You are welcome!', 'Any time.'],
    bye: ['See you! I will be here.', 'Bye! Come back soon.'],
    other: [
      'I only know a few words, but I catch well. Throw me one!',
      'That is beyond a small program like me. Shall we throw?',
      'Good to hear you! Your turn to throw.',
    ],
  },
  de: {
    greeting: ['Hallo! Wirf mir etwas zu, ich werfe es zurück.', 'Hallo! Schön, dass du da bist.'],
    who: [
      'Ich bin ein Bewohner: ein kleines Programm dieses Relays, das dir Gesellschaft leistet.',
      'Ein Programm, kein Mensch. Aber fangen kann ich!',
    ],
    thanks: ['Gern geschehen!', 'Jederzeit.'],
    bye: ['Bis bald! Ich bin hier.', 'Tschüss! Komm bald wieder.'],
    other: [
      'Ich kenne nur wenige Wörter, aber fangen kann ich. Wirf mir etwas zu!',
      'Das ist zu hoch für ein kleines Programm. Werfen wir weiter?',
      'Schön, dich zu hören! Du bist dran mit Werfen.',
    ],
  },
};

/** Returns the answer to a saying; to a reaction, the same one. `random` is 0 … 1, and chooses between those that fit. */
export function answerTo(text: string, random: number): string {
  if ((REACTIONS as readonly string[]).includes(text)) return text;
  const topic = TOPICS.find(([, words]) => words.test(text))?.[0] ?? 'other';
  const answers = languagesOf(text).map((language) => {
    const fitting = ANSWERS[language][topic];
    return fitting[Math.min(fitting.length - 1, Math.floor(random * fitting.length))];
  });
  return answers.join(' ');
}

/** The languages that a saying may be in: "Hi" is a word of both. */
function languagesOf(text: string): readonly (keyof typeof ANSWERS)[] {
  const [english, german] = [WORDS.en, WORDS.de].map((words) => text.match(words)?.length ?? 0);
  if (english === german) return ['en', 'de'];
  return [english > german ? 'en' : 'de'];
}
