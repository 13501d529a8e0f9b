// The load agent behind a WebSocket, as a remote agent: `node ws-agent.mjs COMMAND...` prints the port it listens on.
import { spawn } from 'node:child_process';
import { WebSocketServer } from 'ws';

const [command, ...args] = process.argv.slice(2);
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
server.on('listening', () => console.log(server.address().port));
server.on('connection', (socket, { socket: carrier }) => {
  const agent = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  socket.on('message', (data) => agent.stdin.write(`${data}\n`));
  socket.on('close', () => agent.stdin.end());
  agent.stdin.on('error', () => {});
  let rest = '';
  agent.stdout.setEncoding('utf8').on('data', (text) => {
    const lines = `${rest}${text}`.split('\n');
    rest = lines.pop();
    carrier.cork(); // frames that the agent writes at once arrive at once, as over stdio
    for (const line of lines) socket.send(line);
    carrier.uncork();
    if (carrier.writableNeedDrain) agent.stdout.pause();
  });
  carrier.on('drain', () => agent.stdout.resume());
});
