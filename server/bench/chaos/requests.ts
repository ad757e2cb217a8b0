/** The requests of a desktop: JSON there and back, each with a time after which its connection is given up. */
import http from 'node:http';

export interface Request {
  method: 'GET' | 'POST' | 'DELETE';
  token?: string;
  body?: object;
  timeoutMs: number;
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
  readonly #agent = new http.Agent({ keepAlive: true });

  readonly send: Send = (url, { method, token, body, timeoutMs, signal }) => {
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const headers: http.OutgoingHttpHeaders = {};
    if (token !== undefined) headers.authorization = `Bearer ${token}`;
    if (bytes) Object.assign(headers, { 'content-length': bytes.length, 'content-type': 'application/json' });
    return new Promise((resolve) => {
      const request = http.request(url, { method, headers, agent: this.#agent, signal }, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part) => parts.push(part));
        response.on('error', () => resolve(undefined));
        response.on('close', () => resolve(undefined));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, json: jsonOf(Buffer.concat(parts)) }));
      });
      const late = setTimeout(() => request.destroy(), timeoutMs);
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

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
