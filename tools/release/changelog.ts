/**
 * CHANGELOG.md: one section for each version, `## 0.2.0 (unreleased)` until it is released, then `## 0.2.0 (2026-11-27)`.
 */

const HEADING = /^## (\d+\.\d+\.\d+) \((unreleased|\d{4}-\d\d-\d\d)\)$/;

/** The text of a version's section without its heading. Throws Error, a sentence, when there is none or it is empty. */
export function sectionOf(changelog: string, version: string): string {
  const lines = changelog.split('\n');
  const start = lines.findIndex((line) => HEADING.exec(line)?.[1] === version);
  if (start < 0) throw new Error(`CHANGELOG.md has no section "## ${version} (unreleased)"`);
  const next = lines.findIndex((line, at) => at > start && line.startsWith('## '));
  const text = lines.slice(start + 1, next < 0 ? undefined : next).join('\n');
  if (text.trim() === '') throw new Error(`the section of ${version} in CHANGELOG.md is empty`);
  return `${text.trim()}\n`;
}

/** The changelog in which a version has the date of its release, `2026-11-27`. One that has a date keeps it. */
export function dated(changelog: string, version: string, date: string): string {
  return changelog.replace(`## ${version} (unreleased)\n`, `## ${version} (${date})\n`);
}
