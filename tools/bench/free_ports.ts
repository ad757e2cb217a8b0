/** Free ports of the loopback, for programs whose ports must be known before they start. */
import { once } from 'node:events';
import net from 'node:net';

/** Linux gives ports from 32768 up to connections and to programs that ask for any: one of those may be taken again at once. */
const PORT_MIN = 16_384;
export const PORT_MAX = 32_767;

/** Returns ports on which no program listens, chosen at random, so that suites beside each other choose others. */
export async function freePorts(count: number, host = '127.0.0.1'): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = PORT_MIN + Math.floor(Math.random() * (PORT_MAX + 1 - PORT_MIN));
    if (await isFree(port, host)) ports.add(port);
  }
  return [...ports];
}

async function isFree(port: number, host: string): Promise<boolean> {
  const server = net.createServer().listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}
