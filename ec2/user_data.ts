/**
 * User-data: the boot script an instance gets, with its settings written into it.
 *
 * Pure. The scripts in boot/ are whole programs; the settings are assignments that stand before their first line.
 * Invariant: every value is quoted for the shell, and it holds no credential: what it has is
 * an address signed for reading one object until the fleet's end, and a policy signed for writing results under one prefix.
 */

/** EC2's limit, before base64. */
export const USER_DATA_BYTES_MAX = 16_384;

export interface Settings {
  /** The instance powers itself off after these. */
  minutes: number;
  /** Where the job lies: an http(s) address that needs no further authorisation. */
  jobUrl: string;
  /** How results are posted; none: they stay in the log. */
  results?: { url: string; fields: Readonly<Record<string, string>>; prefix: string };
}

/**
 * The boot script with its settings.
 *
 * Throws Error when a value can't be a setting.
 */
export function userData(parts: readonly string[], settings: Settings): string {
  const assignments = Object.entries(variables(settings)).map(([name, value]) => `${name}=${quote(name, value)}`);
  const [first, ...rest] = parts;
  const [shebang, ...lines] = first.split('\n');
  return [shebang, ...assignments, ...lines].join('\n') + rest.map((part) => withoutShebang(part)).join('');
}

/** Why EC2 would not take a script of this size; undefined when it would. */
export function tooLarge(sizeBytes: number): string | undefined {
  if (sizeBytes <= USER_DATA_BYTES_MAX) return undefined;
  return `The boot script has ${sizeBytes} bytes, and EC2 takes ${USER_DATA_BYTES_MAX}. Long session tokens make signed addresses long: use the keys of an IAM user.`;
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

/** In single quotes nothing means anything to a shell, except what ends them. */
function quote(name: string, value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  if (/['\x00-\x09\x0b-\x1f\x7f]/.test(value)) throw new Error(`${name} has a quote or a control character in it.`);
  return `'${value}'`;
}

function withoutShebang(script: string): string {
  return script.startsWith('#!') ? script.slice(script.indexOf('\n') + 1) : script;
}
