/**
 * Which pictures a relay or a world carries, and how a worker marks the picture of a crossing for the master.
 *
 * A relay has one policy for all; the desktop that opens a private world may choose a stricter one for it. Only workers know the
 * sprite files and only the master knows the worlds, so a crossing brings the standing of its picture along.
 */

/** `shipped`: the characters that come with the relay. `known`: also the files of its store. `any`: also new uploads. */
export const PICTURES = ['any', 'known', 'shipped'] as const;
export type Pictures = (typeof PICTURES)[number];

/** The standing of a crossing's picture. A worker checks it only while a world here is stricter than the relay. */
export const Standing = { unchecked: 0, unknown: 1, known: 2, shipped: 3 } as const;
export type Standing = (typeof Standing)[keyof typeof Standing];

/** The lowest standing that each policy carries. */
export const STANDING_MIN = { any: Standing.unchecked, known: Standing.known, shipped: Standing.shipped } as const;

/** Returns whether a world of this policy carries a picture; one that was not checked passes. */
export function isCarried(policy: Pictures, standing: Standing): boolean {
  return standing === Standing.unchecked || standing >= STANDING_MIN[policy];
}
