/**
 * A stub below the real SDK clients: it responds to chosen calls as AWS would, and forwards all others.
 *
 * It is a `requestHandler`, so tests exercise the SDK's own serialising, signing, retries and error classes.
 * Invariant: a call that is not chosen goes to `endpoint`, or fails; no request leaves the machine.
 */
import http from 'node:http';
import { Readable } from 'node:stream';

export interface Call {
  /** `ec2 RunInstances`, `servicequotas GetServiceQuota`, `s3 PUT /bucket/key`. */
  name: string;
  body: string;
  /** The body of the response to it. */
  response?: string;
}

export interface StubResponse {
  status: number;
  body: string;
  headers?: Record<string, string>;
}

/** Returns the response to a call; undefined: the call is forwarded. `before` is the number of earlier calls with this name. */
export type Responder = (call: Call, before: number) => StubResponse | undefined;

interface Request {
  method: string;
  hostname: string;
  port?: number;
  path: string;
  query?: Record<string, string | string[] | null>;
  headers: Record<string, string>;
  body?: unknown;
}

export interface Stub {
  /** Every call so far, forwarded ones too. */
  calls: Call[];
  handler: never;
}

export function stub(responder: Responder): Stub {
  const calls: Call[] = [];
  const handle = async (request: Request) => {
    const body = await textOf(request.body);
    const call: Call = { name: nameOf(request, body), body };
    const response = responder(call, calls.filter(({ name }) => name === call.name).length);
    calls.push(call);
    if (response === undefined) {
      const { text, ...forwarded } = await forward(request);
      call.response = text.toString('utf8');
      return { response: { ...forwarded, body: Readable.from([text]) } };
    }
    call.response = response.body;
    return {
      response: {
        statusCode: response.status,
        headers: response.headers ?? {},
        body: Readable.from([Buffer.from(response.body)]),
      },
    };
  };
  return {
    calls,
    handler: {
      handle,
      metadata: { handlerProtocol: 'http/1.1' },
      destroy: () => {},
      httpHandlerConfigs: () => ({}),
      updateHttpClientConfig: () => {},
    } as never,
  };
}

/** An error in EC2's format. */
export function ec2Error(status: number, code: string, message = code): StubResponse {
  return {
    status,
    body: `<?xml version="1.0"?><Response><Errors><Error><Code>${code}</Code><Message>${message}</Message></Error></Errors><RequestID>0</RequestID></Response>`,
    headers: { 'content-type': 'text/xml' },
  };
}

/** A response of the services that use JSON. */
export function json(body: object, status = 200): StubResponse {
  return { status, body: JSON.stringify(body), headers: { 'content-type': 'application/x-amz-json-1.1' } };
}

/** One product of the price list. */
export function product(usagetype: string, usd: string): string {
  const priceDimensions = { a: { unit: 'Hrs', pricePerUnit: { USD: usd } } };
  return JSON.stringify({ product: { attributes: { usagetype } }, terms: { OnDemand: { a: { priceDimensions } } } });
}

function nameOf({ method, path, headers }: Request, body: string): string {
  const target = headers['x-amz-target'];
  if (target)
    return `${/PriceList/.test(target) ? 'pricing' : /Quotas/.test(target) ? 'servicequotas' : 'ssm'} ${target.split('.')[1]}`;
  const action = /(?:^|&)Action=(\w+)/.exec(body)?.[1];
  return action ? `ec2 ${action}` : `s3 ${method} ${path}`;
}

async function textOf(body: unknown): Promise<string> {
  if (body === undefined) return '';
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array) return new TextDecoder().decode(body);
  return '';
}

async function forward({ method, hostname, port, path, query = {}, headers, body }: Request) {
  if (!['127.0.0.1', 'localhost'].includes(hostname)) throw new Error(`${hostname} is not on the loopback`);
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]) => [name, String(value ?? '')]),
  ).toString();
  return new Promise<{ statusCode?: number; headers: http.IncomingHttpHeaders; text: Buffer }>((resolve, reject) => {
    const request = http.request(
      { method, hostname, port, path: search === '' ? path : `${path}?${search}`, headers },
      async (response) => {
        const parts: Buffer[] = [];
        for await (const part of response) parts.push(part);
        resolve({ statusCode: response.statusCode, headers: response.headers, text: Buffer.concat(parts) });
      },
    );
    request.on('error', reject);
    request.end(body as string | Buffer | undefined);
  });
}
