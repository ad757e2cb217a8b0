/** Whether a program listens somewhere. */
import { once } from 'node:events';
import { connect, type NetConnectOpts } from 'node:net';

/** Resolves to whether a program accepts connections at a port, or at the path of a socket. */
export async function isListening(at: NetConnectOpts): Promise<boolean> {
  const socket = connect(at);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
