// A TCP relay in front of a daemon. A test can cut its connections, or freeze them as a network does that loses every packet.
import { once } from 'node:events';
import net from 'node:net';
import type { Daemon } from './daemon.ts';

export type Relay = {
  /** The daemon as clients reach it through the relay. */
  readonly daemon: Daemon;
  /** Resets every connection, without a word to either side. New ones pass. */
  cut(): void;
  /** Forwards nothing more on the connections that are open. */
  freeze(): void;
  stop(): void;
};

export async function startRelay(daemon: Daemon): Promise<Relay> {
  const { host, hostname, port } = new URL(daemon.address);
  const pairs = new Set<readonly [net.Socket, net.Socket]>();
  const server = net.createServer((down) => {
    const up = net.connect(Number(port), hostname);
    const pair = [down, up] as const;
    pairs.add(pair);
    // The daemon accepts requests for its own address only.
    down.once('data', (head) => {
      up.write(head.toString('latin1').replace(/^host: .*$/im, `host: ${host}`), 'latin1');
      down.pipe(up);
    });
    up.pipe(down);
    for (const socket of pair) {
      socket.on('error', () => {});
      socket.on('close', () => {
        pairs.delete(pair);
        for (const other of pair) other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`;
  const cut = () => {
    for (const [down, up] of pairs) {
      down.resetAndDestroy();
      up.resetAndDestroy();
    }
  };
  return {
    daemon: { ...daemon, address, socketUrl: `${address.replace(/^http/, 'ws')}/acp` },
    cut,
    freeze() {
      for (const [down, up] of pairs)
        for (const socket of [down, up]) {
          socket.unpipe();
          socket.pause();
        }
    },
    stop() {
      cut();
      server.close();
    },
  };
}
