/**
 * The known word that somebody has probably meant. Plain JavaScript, because the launcher uses it under any Node.
 */

/** The one of `words` that differs from `word` by a letter, or by two if it is long; undefined if there is none. */
export function nearest(word, words) {
  return [...words]
    .map((known) => ({ known, by: distance(word, known) }))
    .filter(({ by }) => by <= (word.length > 5 ? 2 : 1))
    .sort((a, b) => a.by - b.by)[0]?.known;
}

/** ` Did you mean swarm?`, or an empty text. */
export function didYouMean(word, words, prefix = '') {
  const near = nearest(word, words);
  return near === undefined ? '' : ` Did you mean ${prefix}${near}?`;
}

/** Letters to insert, delete, replace or swap with their neighbour until `a` is `b`. */
function distance(a, b) {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    rows[i] = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = rows[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? rows[i - 2][j - 2] + 1 : replaced;
      rows[i][j] = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, replaced, swapped);
    }
  }
  return rows[a.length][b.length];
}
