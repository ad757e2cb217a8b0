/**
 * Evaluates a policy of IAM for a request, by the rules that AWS publishes: an explicit deny wins, then an allow, else it is
 * denied. Tests use it because no simulator here enforces policies.
 *
 * Only what is written down is evaluated: an operator or an element that is not implemented throws, so that a policy never
 * passes because a part of it was ignored.
 * Source: IAM User Guide, "Policy evaluation logic", "JSON policy elements: Condition operators", "… : Resource".
 */

export interface Policy {
  Statement: readonly Statement[];
}

type Some = string | readonly string[];

interface Statement {
  Sid?: string;
  Effect: string;
  Action?: Some;
  NotAction?: Some;
  Resource?: Some;
  NotResource?: Some;
  Condition?: Readonly<Record<string, Readonly<Record<string, Some>>>>;
}

/** One thing that AWS asks the policy about; a call of an API is often several. */
export interface AccessRequest {
  action: string;
  resource: string;
  /** Condition keys that the call has. A key with several values has a list. */
  context: Readonly<Record<string, Some>>;
}

export type Decision = 'allowed' | 'explicitly denied' | 'implicitly denied';

export function evaluate({ Statement }: Policy, request: AccessRequest): Decision {
  const applying = Statement.filter((statement) => applies(statement, request));
  if (applying.some(({ Effect }) => Effect === 'Deny')) return 'explicitly denied';
  return applying.some(({ Effect }) => Effect === 'Allow') ? 'allowed' : 'implicitly denied';
}

const ELEMENTS = ['Sid', 'Effect', 'Action', 'NotAction', 'Resource', 'NotResource', 'Condition'];

function applies(statement: Statement, { action, resource, context }: AccessRequest): boolean {
  const unknown = Object.keys(statement).find((element) => !ELEMENTS.includes(element));
  if (unknown) throw new Error(`the element ${unknown} is not implemented`);
  const { Action, NotAction, Resource, NotResource, Condition = {} } = statement;
  const isAction = (patterns: Some) => list(patterns).some((one) => isLike(action.toLowerCase(), one.toLowerCase()));
  const isResource = (patterns: Some) => list(patterns).some((one) => one === '*' || isArnLike(resource, one));
  if (Action !== undefined ? !isAction(Action) : NotAction === undefined || isAction(NotAction)) return false;
  if (Resource !== undefined ? !isResource(Resource) : NotResource === undefined || isResource(NotResource))
    return false;
  return Object.entries(Condition).every(([operator, keys]) =>
    Object.entries(keys).every(([key, wanted]) => holds(operator, key, list(wanted), context)),
  );
}

/** Each compares one value of the request with one of the policy. */
const COMPARISONS: Readonly<Record<string, (found: string, wanted: string) => boolean>> = {
  StringEquals: (found, wanted) => found === wanted,
  StringEqualsIgnoreCase: (found, wanted) => found.toLowerCase() === wanted.toLowerCase(),
  StringLike: isLike,
  ArnEquals: isArnLike,
  ArnLike: isArnLike,
  Bool: (found, wanted) => found === wanted,
};

const NEGATED: Readonly<Record<string, string>> = {
  StringNotEquals: 'StringEquals',
  StringNotEqualsIgnoreCase: 'StringEqualsIgnoreCase',
  StringNotLike: 'StringLike',
  ArnNotEquals: 'ArnEquals',
  ArnNotLike: 'ArnLike',
};

/** The values of a key are alternatives. A negated operator holds when none of them matches, and when the key is absent. */
function holds(written: string, key: string, wanted: readonly string[], context: AccessRequest['context']): boolean {
  const [, quantifier = '', operator, ifExists = ''] =
    /^(ForAnyValue:|ForAllValues:)?(\w+?)(IfExists)?$/.exec(written) ?? [];
  const entry = Object.entries(context).find(([name]) => name.toLowerCase() === key.toLowerCase());
  const found = entry && list(entry[1]);
  if (operator === 'Null') return wanted.includes(String(found === undefined));
  const isNegated = operator in NEGATED;
  const compare = COMPARISONS[isNegated ? NEGATED[operator] : operator];
  if (compare === undefined) throw new Error(`the operator ${written} is not implemented`);
  if (found === undefined) return ifExists !== '' || isNegated || quantifier === 'ForAllValues:';
  const matches = (value: string) => wanted.some((one) => compare(value, one)) !== isNegated;
  return quantifier === 'ForAnyValue:' ? found.some(matches) : found.every(matches);
}

function list(values: Some): readonly string[] {
  return typeof values === 'string' ? [values] : values;
}

/** `*` stands for any characters, `?` for one. */
function isLike(text: string, pattern: string): boolean {
  const expression = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${expression}$`, 's').test(text);
}

/** The six parts of an ARN are compared one by one, so a wildcard does not match a colon before the last part. */
function isArnLike(arn: string, pattern: string): boolean {
  const parts = (text: string) => {
    const [partition, ...rest] = text.split(':');
    return [partition, ...rest.slice(0, 4), rest.slice(4).join(':')];
  };
  const wanted = parts(pattern);
  return parts(arn).every((part, i) => isLike(part, wanted[i]));
}
