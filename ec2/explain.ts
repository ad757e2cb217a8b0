/**
 * Turns errors of AWS into messages that say what to do.
 *
 * Pure. Invariant: a message contains what was being done, AWS's own code, and a remedy if there is one. It never contains an
 * address or a key. Codes must match exactly, so the order of the table does not matter.
 */

/** An error of AWS, of the network on the way to it, or of a check before it. */
export class Refused extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** What to do, by the codes that say the same. */
const REMEDIES: Readonly<Record<string, string>> = {
  'ExpiredToken ExpiredTokenException RequestExpired TokenRefreshRequired':
    'the credentials have expired: renew them (aws sso login, or new keys) and try again',
  CredentialsProviderError: 'there are no credentials: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  'AuthFailure InvalidClientTokenId InvalidAccessKeyId UnrecognizedClientException SignatureDoesNotMatch':
    'AWS does not know these credentials: check AWS_PROFILE, AWS_ACCESS_KEY_ID and the clock of this machine',
  'UnauthorizedOperation AccessDenied AccessDeniedException Forbidden':
    'these credentials are not allowed to do it: attach ec2/policy.json to their user or role',
  OptInRequired: 'this account is not signed up for EC2 in that region',
  PendingVerification: 'AWS is still verifying this account for that region: try again in a few hours',
  VcpuLimitExceeded: 'the quota of vCPUs is too small: take fewer instances, or ask for more under Service Quotas',
  InstanceLimitExceeded: 'the quota of instances is too small: take fewer, or ask for more under Service Quotas',
  MaxSpotInstanceCountExceeded:
    'the quota of spot vCPUs is too small: take fewer instances, or ask for more under Service Quotas',
  SpotMaxPriceTooLow: 'the spot price has risen above what was planned: plan again',
  'InsufficientInstanceCapacity InsufficientHostCapacity InsufficientCapacityOnOutpost UnfulfillableCapacity':
    'AWS has no such machines free there now: try --buy fleet with several --type, another region, or a later time',
  Unsupported: 'that zone or image does not support this type: try another --type or --subnet',
  'RequestLimitExceeded Throttling ThrottlingException TooManyRequestsException SlowDown ServiceUnavailable':
    'AWS asks for fewer requests, even after every retry: try again in a minute',
  'InternalError InternalFailure': 'AWS failed: try again',
  BucketAlreadyExists: 'another account has a bucket of this name: choose another --bucket',
  PermanentRedirect: 'the bucket is in another region: use its region, or another --bucket',
  NoSuchBucket: 'there is no such bucket',
  InvalidInstanceType: 'there is no such instance type in this region',
  'InvalidAMIID.NotFound': 'there is no such image in this region',
  ParameterNotFound: 'there is no such image parameter in this region',
  'ENOTFOUND ECONNREFUSED ECONNRESET ETIMEDOUT EAI_AGAIN TimeoutError':
    'AWS does not answer: check the network and --region',
};

const REMEDY_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(REMEDIES).flatMap(([codes, remedy]) => codes.split(' ').map((code) => [code, remedy])),
);

/** The error as a message for people. For a code that is not in the table, the message has the first sentence of AWS's own. */
export function explain(error: unknown, doing: string): Refused {
  if (error instanceof Refused) return error;
  const { name = 'Error', code, message = '' } = error as { name?: string; code?: string; message?: string };
  const known = [code, name].find((one) => one !== undefined && REMEDY_OF.has(one));
  if (known !== undefined) return new Refused(known, `${doing}: ${REMEDY_OF.get(known)} (${known})`);
  return new Refused(name, `${doing}: ${firstSentence(message) || 'no reason given'} (${name})`);
}

/** AWS appends encoded policies and request ids that fill pages. */
function firstSentence(message: string): string {
  const [line] = message.split(/\.\s|\n/);
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
}
