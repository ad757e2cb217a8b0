/**
 * Friendly names: two words for a desktop whose user has chosen no name.
 *
 * The relay derives one in English from the id of a desktop, so it costs no memory and survives a restart. A page picks one in
 * the language of its visitor and keeps it. Browser-safe: relay and browser use the same words.
 * Invariant: each list is made of words that agree with each other (one gender in each language), so every pair is correct.
 */

interface Words {
  adjectives: readonly string[];
  nouns: readonly string[];
  /** The noun comes first, as in French. */
  nounFirst?: true;
}

const list = (words: string) => words.trim().split(/\s+/);

/** By language, as BCP 47 calls it. */
export const WORDS: Readonly<Record<string, Words>> = {
  en: {
    adjectives:
      list(`Amber Brave Bright Calm Clever Cosy Curious Daring Dreamy Eager Early Fluffy Gentle Golden Happy Humble
      Jolly Keen Kind Lively Lucky Merry Mild Misty Nimble Plucky Quick Quiet Silver Snowy Sunny Swift`),
    nouns:
      list(`Badger Beaver Bee Bison Bunny Cloud Comet Crane Deer Dolphin Dove Duck Elk Falcon Fern Finch Firefly Fox Frog
      Gecko Hare Hedgehog Heron Ibis Kiwi Koala Lark Leaf Lemur Llama Lynx Magpie Maple Marten Meadow Moon Moose Moth Newt Otter
      Owl Panda Pebble Penguin Pine Plover Pony Puffin Quail Rabbit Raven River Robin Seal Sparrow Star Stork Swan Tern Tiger
      Toad Turtle Walrus Wren`),
  },
  de: {
    adjectives:
      list(`Bunter Flinker Froher Goldener Heiterer Kecker Kluger Kühner Lustiger Milder Munterer Mutiger Neugieriger
      Ruhiger Sanfter Schlauer Schneller Silberner Sonniger Stiller Stolzer Tapferer Treuer Wacher`),
    nouns:
      list(`Adler Biber Dachs Delfin Elch Falke Fink Frosch Fuchs Hase Igel Käfer Kiebitz Komet Luchs Marder Mond Otter Pinguin
      Rabe Reiher Schwan Spatz Specht Star Stern Storch Tiger Wal Wolf Zaunkönig Zeisig`),
  },
  fr: {
    nounFirst: true,
    adjectives:
      list(`Adroit Agile Aimable Bleu Calme Content Curieux Doré Doux Fidèle Gai Habile Hardi Joyeux Léger Malin Paisible
      Patient Poli Rapide Rieur Rusé Tranquille Vif`),
    nouns:
      list(`Blaireau Canard Castor Cerf Chamois Colibri Corbeau Cygne Dauphin Écureuil Élan Faucon Geai Hérisson Héron Hibou
      Lapin Lézard Lièvre Loriot Lutin Lynx Moineau Nuage Panda Papillon Phoque Pingouin Pinson Renard Rossignol Soleil`),
  },
  es: {
    nounFirst: true,
    adjectives:
      list(`Ágil Alegre Amable Atento Azul Bueno Calmo Curioso Dorado Dulce Feliz Fiel Gentil Lindo Listo Manso Noble
      Rápido Risueño Sereno Tierno Tranquilo Valiente Veloz`),
    nouns:
      list(`Búho Castor Ciervo Cisne Cometa Conejo Cuervo Delfín Duende Erizo Faisán Gato Gorrión Halcón Jilguero Koala Lince
      Lobo Lucero Mirlo Oso Panda Pato Pingüino Puma Roble Ruiseñor Sol Tejón Tigre Topo Zorro`),
  },
  it: {
    nounFirst: true,
    adjectives:
      list(`Agile Allegro Amabile Arguto Azzurro Buono Calmo Curioso Dolce Dorato Fedele Felice Fiero Gentile Lesto
      Lieto Mite Paziente Quieto Rapido Sereno Svelto Tranquillo Vivace`),
    nouns:
      list(`Airone Alce Bisonte Castoro Cerbiatto Cervo Cigno Colibrì Corvo Coniglio Delfino Falco Fringuello Gabbiano Gatto
      Ghiro Gufo Koala Lupo Merlo Orso Panda Passero Picchio Pinguino Pony Puma Riccio Sole Tasso Tordo Usignolo`),
  },
  nl: {
    adjectives:
      list(`Blauwe Blije Dappere Dromerige Eerlijke Flinke Gouden Guitige Handige Kalme Kleine Lieve Moedige Olijke Rustige
      Slimme Snelle Stille Trotse Trouwe Vlugge Vrolijke Wakkere Zachte`),
    nouns:
      list(`Adelaar Bever Bij Das Dolfijn Duif Eekhoorn Egel Eland Ekster Fazant Gans Haas Hommel Kikker Kraai Lynx Maan Mees
      Merel Mus Otter Panda Pinguïn Raaf Reiger Specht Ster Tijger Uil Vos Zwaan`),
  },
  pt: {
    nounFirst: true,
    adjectives:
      list(`Ágil Alegre Amável Atento Azul Bondoso Calmo Curioso Doce Dourado Esperto Feliz Fiel Gentil Leve Lindo Manso
      Nobre Rápido Risonho Sereno Terno Tranquilo Veloz`),
    nouns:
      list(`Alce Bisonte Castor Cavalo Cisne Coelho Colibri Cometa Corvo Cuco Duende Esquilo Falcão Galo Gato Golfinho Koala
      Lince Lobo Melro Mocho Ouriço Panda Pardal Pato Pinguim Pónei Rouxinol Sol Texugo Tigre Urso`),
  },
};

/** All pairs of each language, made once, so that a name costs no allocation. */
const NAMES: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(WORDS).map(([language, { adjectives, nouns, nounFirst }]) => [
    language,
    adjectives.flatMap((adjective) =>
      nouns.map((noun) => (nounFirst ? `${noun} ${adjective}` : `${adjective} ${noun}`)),
    ),
  ]),
);

/** The two words of a number, 0 … 2^32 − 1: the same for the same number. An unknown language is English. */
export function friendlyName(number: number, language = 'en'): string {
  const names = NAMES[language] ?? NAMES.en;
  return names[mix(number) % names.length];
}

/** The first of these languages, such as `de-AT`, that has words here; otherwise English. */
export function languageOf(preferred: readonly string[]): string {
  for (const tag of preferred) {
    const language = tag.split('-', 1)[0].toLowerCase();
    if (Object.hasOwn(WORDS, language)) return language;
  }
  return 'en';
}

/** Spreads the bits of a number over 32 (the finalizer of MurmurHash3), so that numbers in a row get different words. */
function mix(number: number): number {
  let mixed = number >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
