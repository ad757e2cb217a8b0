/** Requests over TLS to names of this machine, as to `r1.localhost`. */
import { once } from 'node:events';
import https from 'node:https';
import type { LookupFunction } from 'node:net';

const toLoopback: LookupFunction = (_, { all }, found) =>
  all ? found(null, [{ address: '127.0.0.1', family: 4 }]) : found(null, '127.0.0.1', 4);

/** One request; `certificate` is that of the authority which it trusts. */
export async function askOverTls(
  certificate: Buffer,
  to: string,
  asking: { method?: string; token?: string; body?: object | Buffer } = {},
): Promise<{ status: number; body: Buffer }> {
  const { method = 'GET', token, body } = asking;
  const bytes = body === undefined || Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  const headers = {
    ...(token && { authorization: `Bearer ${token}` }),
    ...(bytes && { 'content-length': bytes.length }),
  };
  const how = { method, headers, ca: certificate, agent: false, lookup: toLoopback };
  const request = https.request(to, how).end(bytes);
  const [response] = await once(request, 'response');
  const chunks: Buffer[] = await response.toArray();
  return { status: response.statusCode as number, body: Buffer.concat(chunks) };
}
