/**
 * Whether a port can be listened on, tried before a front does it: the error of a front names no option, and workers open their port
 * with SO_REUSEPORT, so that without a try they would share it with another relay.
 */
import { once } from 'node:events';
import net from 'node:net';
import { lacksIpv6 } from '../front/front.ts';

/** Throws the system's error when this process can't listen there. `makeServer`: tests pass a system without IPv6. */
export async function throwIfTaken(host: string, port: number, makeServer = () => net.createServer()): Promise<void> {
  const probe = makeServer();
  try {
    await once(probe.listen({ host, port, exclusive: true }), 'listening');
  } catch (error) {
    if (!lacksIpv6(error, host)) throw error;
    // The fronts listen there then.
    return throwIfTaken('0.0.0.0', port, makeServer);
  }
  probe.close();
  await once(probe, 'close');
}
