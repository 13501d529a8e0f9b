// The load agent behind a WebSocket, as a remote agent: `node ws-agent.mjs COMMAND...` prints the port it listens on.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { WebSocketServer } from 'ws';

const [command, ...args] = process.argv.slice(2);
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
server.on('listening', () => console.log(server.address().port));
server.on('connection', (socket) => {
  const agent = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  socket.on('message', (data) => agent.stdin.write(`${data}\n`));
  socket.on('close', () => agent.stdin.end());
  agent.stdin.on('error', () => {});
  const lines = createInterface({ input: agent.stdout });
  lines.on('line', (line) => {
    socket.send(line);
    if (socket.bufferedAmount < 1 << 20) return;
    lines.pause();
    setTimeout(() => lines.resume(), 1);
  });
});
