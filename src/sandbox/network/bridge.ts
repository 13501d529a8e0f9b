// Runs inside a sandbox with a network of its own: listens on its loopback, carries every connection to the outside over one inherited
// descriptor, and starts the program. Needs only built-ins. Arguments: descriptor, ports, program and its arguments.
import { spawn } from 'node:child_process';
import { connect } from 'node:http2';
import { createServer, type Server, Socket } from 'node:net';

const [descriptor = '', ports = '', command = '', ...args] = process.argv.slice(2);

const link = new Socket({ fd: Number(descriptor), readable: true, writable: true });
const session = connect('http://sandbox', { createConnection: () => link, settings: { initialWindowSize: 1 << 20 } });
session.on('error', () => {});
link.on('error', () => {});

const servers = new Map<number, Server>();

/** Whatever connects to this port inside reaches what the outside has for it. */
function listen(port: number, done: (error?: Error) => void): void {
  if (servers.has(port)) return done();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const stream = session.request({ ':method': 'POST', ':path': `/${port}` });
    socket.on('error', () => stream.close());
    stream.on('error', () => socket.destroy());
    stream.on('close', () => socket.destroy());
    socket.pipe(stream).pipe(socket);
  });
  server.once('error', done);
  server.listen({ host: '127.0.0.1', port }, () => {
    servers.set(port, server);
    done();
  });
}

// The outside names further ports, one per line, and waits for the same line as the answer.
const control = session.request({ ':method': 'POST', ':path': '/control' });
control.on('error', () => {});
let rest = '';
control.setEncoding('utf8');
control.on('data', (text: string) => {
  const lines = (rest + text).split('\n');
  rest = lines.pop() ?? '';
  for (const line of lines) listen(Number(line), () => control.write(`${line}\n`));
});

// TERM is for the program. It decides when this ends.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});

const first = ports === '' ? [] : ports.split(',').map(Number);
let left = first.length;
const start = () => {
  const child = spawn(command, args, { stdio: 'inherit' });
  child.on('error', (error) => {
    process.stderr.write(`${command}: ${error.message}\n`);
    process.exit(127);
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
};
if (left === 0) start();
for (const port of first)
  listen(port, (error) => {
    if (error) process.stderr.write(`switchboard: the sandbox cannot listen on port ${port}: ${error.message}\n`);
    if (--left === 0) start();
  });
