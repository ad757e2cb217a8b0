/** The address a request comes from. The one place that knows how to find it out. */
import type { IncomingMessage } from 'node:http';

/** The address of the peer, as text without the interface of a link-local one; empty when the connection has closed. */
export function clientAddress(request: IncomingMessage): string {
  return request.socket.remoteAddress?.replace(/%.*/, '') ?? '';
}
