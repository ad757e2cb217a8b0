/** What residents say: a few friendly words, in the language of the saying that they answer. They say that they are programs. */

type Topic = 'greeting' | 'who' | 'thanks' | 'bye' | 'other';

/** What a saying is about, in the order in which that is looked for. */
const TOPICS: readonly (readonly [topic: Topic, words: RegExp])[] = [
  ['who', /\b(who|bots?|robots?|humans?|person|real|wer|mensch|roboter|echt)\b|\bare you\b|\bbist du\b|\bsind sie\b/i],
  ['thanks', /\b(thanks?|thx|danke|merci)\b/i],
  ['bye', /\b(bye|goodbye|see you|good night|tschüss|tschüs|ciao|gute nacht|bis bald)\b/i],
  ['greeting', /\b(hello|hi|hey|good (?:morning|evening|day)|hallo|moin|servus|guten (?:tag|morgen|abend)|grüß)/i],
];

const GERMAN =
  /[äöüß]|\b(ich|du|dir|und|der|die|das|ist|sind|hallo|moin|servus|guten|gute|wie|wer|was|wo|nicht|danke|bist|hier|mal|ein|eine|ja|nein|tschau)\b/i;

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

/** Returns the answer to a saying. `random` is 0 … 1, and chooses between those that fit. */
export function answerTo(text: string, random: number): string {
  const topic = TOPICS.find(([, words]) => words.test(text))?.[0] ?? 'other';
  const fitting = ANSWERS[GERMAN.test(text) ? 'de' : 'en'][topic];
  return fitting[Math.min(fitting.length - 1, Math.floor(random * fitting.length))];
}
