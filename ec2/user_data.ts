/**
 * User data: the boot script of an instance, with its settings.
 *
 * Pure. The scripts in boot/ are complete programs; settings are variable assignments inserted after the first line.
 * Invariant: every value is quoted for the shell, and no credential is included. There are only two signed things: an address
 * for reading one object, and a form for writing results under one prefix. Both expire shortly after the fleet ends.
 */

/** EC2's limit, before base64. */
export const USER_DATA_BYTES_MAX = 16_384;

export interface Settings {
  /** Minutes after which the instance powers itself off. */
  minutes: number;
  /** Address of the job: http(s), without further authorisation. */
  jobUrl: string;
  /** How results are posted; undefined: they stay on the instance. */
  results?: { url: string; fields: Readonly<Record<string, string>>; prefix: string };
}

/** Joins the scripts to one, with the settings. Throws Error when a value can't be quoted. */
export function userData(parts: readonly string[], settings: Settings): string {
  const assignments = Object.entries(variables(settings)).map(([name, value]) => `${name}=${quote(name, value)}`);
  const [first, ...rest] = parts;
  const [shebang, ...lines] = first.split('\n');
  return [shebang, ...assignments, ...lines].join('\n') + rest.map((part) => withoutShebang(part)).join('');
}

/** Why EC2 does not accept a script of this size; undefined when it does. */
export function tooLarge(sizeBytes: number): string | undefined {
  if (sizeBytes <= USER_DATA_BYTES_MAX) return undefined;
  return `The boot script has ${sizeBytes} bytes, and EC2 accepts ${USER_DATA_BYTES_MAX}. Long session tokens make signed addresses long: use the keys of an IAM user.`;
}

function variables({ minutes, jobUrl, results }: Settings): Record<string, string> {
  const fields = Object.entries(results?.fields ?? {}).map(([name, value]) => `${name}=${value}`);
  return {
    SPRITES_MINUTES: String(minutes),
    SPRITES_JOB: jobUrl,
    ...(results && {
      SPRITES_RESULTS: results.url,
      SPRITES_PREFIX: results.prefix,
      SPRITES_FIELDS: fields.join('\n'),
    }),
  };
}

/** Between single quotes the shell takes every character literally, except the closing quote. */
function quote(name: string, value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for them.
  if (/['\x00-\x09\x0b-\x1f\x7f]/.test(value)) throw new Error(`${name} contains a quote or a control character.`);
  return `'${value}'`;
}

function withoutShebang(script: string): string {
  return script.startsWith('#!') ? script.slice(script.indexOf('\n') + 1) : script;
}
