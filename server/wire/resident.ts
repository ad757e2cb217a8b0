/**
 * Residents: programs that keep people company. A desktop is one if its name says so: every client sees the name wherever a desktop is named.
 *
 * A desktop that takes such a name is counted as a resident, and has no advantage from that. Browser-safe.
 */

/** The end of a resident's name. */
export const RESIDENT_SUFFIX = ' (resident)';

export function isResident(name: string): boolean {
  return name.endsWith(RESIDENT_SUFFIX);
}
