/**
 * Whether a port can be listened on, tried before a front does it: the error of a front names no option, and workers open their port
 * with SO_REUSEPORT, so that without a try they would share it with another relay.
 */
import { once } from 'node:events';
import net from 'node:net';

/** Throws the system's error when this process can't listen there. `makeServer`: tests pass a system without IPv6. */
export async function throwIfTaken(host: string, port: number, makeServer = () => net.createServer()): Promise<void> {
  const probe = makeServer();
  try {
    await once(probe.listen({ host, port, exclusive: true }), 'listening');
  } catch (error) {
    // A system without IPv6 has no `::`. The fronts listen on 0.0.0.0 then.
    if ((error as NodeJS.ErrnoException).code !== 'EAFNOSUPPORT' || host !== '::') throw error;
    return throwIfTaken('0.0.0.0', port, makeServer);
  }
  probe.close();
  await once(probe, 'close');
}
