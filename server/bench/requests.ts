/** The requests of well-behaved desktops: a body there, JSON back, and a time after which the connection is given up. */
import http from 'node:http';

export interface Request {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  token?: string;
  /** Bytes or text as they are; anything else as JSON. */
  body?: object | string;
  /** It may take for ever when left out. */
  timeoutMs?: number;
  signal?: AbortSignal;
}

export interface Reply {
  status: number;
  json: unknown;
}

/** Resolves to undefined when the connection broke, or the time was over: then nobody knows whether the request has arrived. */
export type Send = (url: string, request: Request) => Promise<Reply | undefined>;

/** Connections that desktops share, as many as they need. */
export class Connections {
  readonly #agent: http.Agent;

  /** `localAddress`: where they come from; any when undefined. */
  constructor(localAddress?: string) {
    this.#agent = new http.Agent({ keepAlive: true, localAddress } as http.AgentOptions);
  }

  readonly send: Send = (url, { method, token, body, timeoutMs, signal }) => {
    const bytes = body === undefined ? undefined : bytesOf(body);
    const headers: http.OutgoingHttpHeaders = {};
    if (token !== undefined) headers.authorization = `Bearer ${token}`;
    if (bytes) headers['content-length'] = bytes.length;
    if (bytes !== body) headers['content-type'] = 'application/json';
    return new Promise((resolve) => {
      const request = http.request(url, { method, headers, agent: this.#agent, signal }, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part) => parts.push(part));
        response.on('error', () => resolve(undefined));
        response.on('close', () => resolve(undefined));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, json: jsonOf(Buffer.concat(parts)) }));
      });
      const late = timeoutMs && setTimeout(() => request.destroy(), timeoutMs);
      request.on('error', () => resolve(undefined));
      request.on('close', () => {
        clearTimeout(late);
        resolve(undefined);
      });
      request.end(bytes);
    });
  };

  close(): void {
    this.#agent.destroy();
  }
}

function bytesOf(body: object | string): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
