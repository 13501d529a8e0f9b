// `switchboard mcp-shim`: what an agent starts as a stdio MCP server. It copies bytes between the agent and the proxy without reading them,
// so it needs only built-ins and starts at once.
import { connect } from 'node:net';

const { SWITCHBOARD_MCP_SOCKET: address, SWITCHBOARD_MCP_TOKEN: token } = process.env;

function fail(why: string): void {
  process.stderr.write(`switchboard mcp-shim: ${why}\n`);
  process.exit(1);
}

if (address === undefined || token === undefined || address === '' || token === '')
  fail(
    'it is started by an agent, with SWITCHBOARD_MCP_SOCKET and SWITCHBOARD_MCP_TOKEN from its session; by hand there is nothing it could do',
  );
else {
  const [, port] = /^127\.0\.0\.1:(\d+)$/.exec(address) ?? [];
  const socket = port === undefined ? connect(address) : connect({ host: '127.0.0.1', port: Number(port) });
  let head: Buffer | undefined = Buffer.alloc(0);
  socket.write(`${token}\n`);
  process.stdin.pipe(socket);
  process.stdin.on('error', () => socket.end());
  process.stdout.on('error', () => socket.destroy());
  socket.on('error', (error) =>
    fail(`the switchboard of this session cannot be reached (${error.message}); it has ended, or the session has`),
  );
  socket.on('data', (chunk) => {
    if (head === undefined) return void (process.stdout.write(chunk) || pause());
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf(0x0a);
    if (end === -1) return;
    const hello = head.toString('utf8', 0, end);
    if (hello !== 'ok') return fail(hello);
    const rest = head.subarray(end + 1);
    head = undefined;
    if (rest.length > 0) process.stdout.write(rest);
  });
  // The proxy has exited, or the session has ended.
  socket.on('close', () => process.exit(0));
  const pause = () => {
    socket.pause();
    process.stdout.once('drain', () => socket.resume());
  };
}
