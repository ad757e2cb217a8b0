/**
 * Two ports in front of a relay, whose connections a test can cut: before a throw reaches the relay, or before its response
 * reaches the client.
 *
 * Invariant: while it is dark, no byte passes. Nothing of what the relay does is changed.
 */
import { once } from 'node:events';
import net from 'node:net';

export interface DarkProxy {
  /** Where clients reach the relay's API and its events. */
  readonly url: string;
  readonly eventsUrl: string;
  /** Where the relay is. */
  lead(ports: { api: number; events: number }): void;
  /** It gets dark at the next throw: `request` stops it on its way to the relay, `response` swallows the relay's answer. */
  darkenAtThrow(what: 'request' | 'response'): void;
  /** Resolves when it has got dark. */
  darkened(): Promise<void>;
  lighten(): void;
  close(): void;
}

export async function startDarkProxy(): Promise<DarkProxy> {
  const sockets = new Set<net.Socket>();
  const ports = { api: 0, events: 0 };
  let isDark = false;
  let awaited: 'request' | 'response' | undefined;
  let darkened = Promise.withResolvers<void>();

  const darken = () => {
    isDark = true;
    awaited = undefined;
    for (const socket of sockets) socket.destroy();
    darkened.resolve();
  };

  const serve = (lane: keyof typeof ports) =>
    net.createServer((client) => {
      if (isDark) {
        client.destroy();
        return;
      }
      const relay = net.connect(ports[lane], '127.0.0.1');
      let isThrow = false;
      client.on('data', (bytes) => {
        if (awaited !== undefined && /^POST \S+\/crossings /.test(bytes.toString('latin1'))) {
          if (awaited === 'request') {
            darken();
            return;
          }
          isThrow = true;
        }
        relay.write(bytes);
      });
      relay.on('data', (bytes) => {
        if (isThrow) darken();
        else client.write(bytes);
      });
      for (const socket of [client, relay]) {
        sockets.add(socket);
        socket.on('error', () => {});
        socket.once('close', () => {
          sockets.delete(socket);
          client.destroy();
          relay.destroy();
        });
      }
    });

  const [api, events] = await Promise.all(
    (['api', 'events'] as const).map(async (lane) => {
      const server = serve(lane).listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
  const urlOf = (server: net.Server) => `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`;
  return {
    url: urlOf(api),
    eventsUrl: urlOf(events),
    lead: (there) => void Object.assign(ports, there),
    darkenAtThrow: (what) => {
      awaited = what;
      darkened = Promise.withResolvers();
    },
    darkened: () => darkened.promise,
    lighten: () => {
      isDark = false;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      api.close();
      events.close();
    },
  };
}
