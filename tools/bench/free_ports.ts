/** Free ports of the loopback, for programs whose ports must be known before they start. */
import { once } from 'node:events';
import net from 'node:net';

/** Linux gives ports from 32768 up to connections and to programs that ask for any: one of those may be taken again at once. */
const PORT_MIN = 16_384;
export const PORT_MAX = 32_767;

/** The names that reserve the ports which this process was given. */
const reservations: net.Server[] = [];

/** Returns ports on which no program listens, and which no other process is given before this one ends. */
export async function freePorts(count: number, host = '127.0.0.1'): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = PORT_MIN + Math.floor(Math.random() * (PORT_MAX + 1 - PORT_MIN));
    if ((await isReserved(port)) && (await isFree(port, host))) ports.add(port);
  }
  return [...ports];
}

/** Reserves a port for this process. The name is an abstract socket of Linux, which the kernel frees when the process ends; elsewhere there is none. */
async function isReserved(port: number): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  const server = net.createServer().unref();
  if (!(await listens(server.listen(`\0sprites-port-${port}`)))) return false;
  reservations.push(server);
  return true;
}

async function isFree(port: number, host: string): Promise<boolean> {
  const server = net.createServer().listen(port, host);
  if (!(await listens(server))) return false;
  server.close();
  await once(server, 'close');
  return true;
}

/** Resolves to false when another one listens there. */
async function listens(server: net.Server): Promise<boolean> {
  try {
    await once(server, 'listening');
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
}
