// The minimum cost of a server behind a shim: bytes are copied and never read. `serve SOCKET own` runs the server in this process, like our
// own tools; `serve SOCKET PROGRAM…` starts it, like configured servers; `shim SOCKET` is what the agent starts.
import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { serve } from './mcp-own-server.mjs';

const [, , what, address, ...program] = process.argv;
if (what === 'shim') {
  const socket = connect(address);
  process.stdin.pipe(socket);
  socket.pipe(process.stdout);
} else {
  const listener = createServer((socket) => {
    listener.close();
    if (program[0] === 'own') return serve(new StdioServerTransport(socket, socket));
    const child = spawn(program[0], program.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] });
    socket.pipe(child.stdin);
    child.stdout.pipe(socket);
  });
  listener.listen(address, () => console.log('listening'));
}
