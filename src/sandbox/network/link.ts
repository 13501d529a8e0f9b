// The outside of a sandbox's network: takes the connections that the bridge carries out, and sends each where its port leads.
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { createForwardProxy, type DecideHost } from './forward-proxy.ts';

/** The port of the proxy inside. Nothing else listens in there. */
export const PROXY_PORT = 3128;

export type NetworkLink = {
  /** Makes a port of this machine's loopback reachable inside at the same number; calls back when it is. */
  reach(port: number, done: () => void): void;
  close(): void;
};

/** `ports` are reachable from the beginning. `decide` is undefined for a network without hosts. */
export function openLink(socket: Socket, ports: readonly number[], decide: DecideHost | undefined): NetworkLink {
  const reachable = new Set(ports);
  const proxy = decide && createForwardProxy(decide);
  const server: Http2Server = createServer({ settings: { initialWindowSize: 1 << 20 } });
  let control: ServerHttp2Stream | undefined;
  const waiting = new Map<number, (() => void)[]>();
  let isClosed = false;
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => {});
    stream.respond({ ':status': 200 });
    const to = String(headers[':path']).slice(1);
    if (to === 'control' && control === undefined) return void controlledBy(stream);
    if (Number(to) === PROXY_PORT && proxy) return proxy.serve(stream);
    // The bridge runs inside, so it is not trusted.
    if (!reachable.has(Number(to))) return stream.close();
    const local = connect({ host: '127.0.0.1', port: Number(to), allowHalfOpen: true });
    local.on('error', () => stream.close());
    stream.on('close', () => local.destroy());
    stream.pipe(local).pipe(stream);
  });
  server.on('sessionError', () => {});
  socket.on('error', () => {});
  socket.on('close', close);
  server.emit('connection', socket);

  function controlledBy(stream: ServerHttp2Stream): void {
    control = stream;
    let rest = '';
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = (lines.pop() ?? '').slice(0, 100);
      for (const line of lines) answered(Number(line));
    });
    for (const port of waiting.keys()) stream.write(`${port}\n`);
  }
  function answered(port: number): void {
    const callbacks = waiting.get(port) ?? [];
    waiting.delete(port);
    for (const done of callbacks) done();
  }
  function close(): void {
    if (isClosed) return;
    isClosed = true;
    proxy?.close();
    socket.destroy();
    for (const port of [...waiting.keys()]) answered(port);
  }
  return {
    reach(port, done) {
      if (isClosed || (reachable.has(port) && !waiting.has(port))) return done();
      reachable.add(port);
      const others = waiting.get(port);
      if (others) return void others.push(done);
      waiting.set(port, [done]);
      control?.write(`${port}\n`);
    },
    close,
  };
}
