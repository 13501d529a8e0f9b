// The entry of an agent that takes stdio servers only, over HTTP: the suite speaks nothing else. Each connection of the 2025 era starts the
// program of the entry, as such an agent does. Messages pass unchanged.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { isInitializeRequest, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';

const isLocal = (value) => /^(https?:\/\/)?(127\.0\.0\.1|localhost)(:\d+)?$/.test(value);
const failure = (status, code, message) => Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status });

export async function serveEntry({ command, args, env }) {
  const connections = new Map();

  async function connect() {
    const back = new StdioClientTransport({ command, args, env: Object.fromEntries(env.map(({ name, value }) => [name, value])) });
    const front = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void connections.set(id, { front, back }),
    });
    const open = new Set();
    front.onmessage = (message) => {
      if (message.method !== undefined && message.id !== undefined) open.add(message.id);
      void back.send(message);
    };
    back.onmessage = (message) => {
      if (message.method === undefined) open.delete(message.id);
      // Over HTTP a message of the server travels in the response to a request.
      const relatedRequestId = message.method === undefined ? message.id : [...open].at(-1);
      void front.send(message, relatedRequestId === undefined ? {} : { relatedRequestId }).catch(() => {});
    };
    front.onclose = () => void back.close();
    await Promise.all([front.start(), back.start()]);
    return front;
  }
  async function answer(request, parsedBody) {
    const id = request.headers.get('mcp-session-id');
    const known = connections.get(id);
    if (known) return known.front.handleRequest(request, { parsedBody });
    if (id !== null) return failure(404, -32001, 'Session not found');
    return isInitializeRequest(parsedBody)
      ? (await connect()).handleRequest(request, { parsedBody })
      : failure(400, -32000, 'initialize first');
  }
  const http = createServer(async (request, response) => {
    const { host = '', origin } = request.headers;
    if (!isLocal(host) || (origin !== undefined && !isLocal(origin))) return response.writeHead(403).end();
    const text = (await request.setEncoding('utf8').toArray()).join('');
    const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const answered = await answer(
      new Request(`http://${host}/mcp`, { method: request.method, headers }),
      text === '' ? undefined : JSON.parse(text),
    );
    response.writeHead(answered.status, Object.fromEntries(answered.headers));
    if (answered.body) for await (const chunk of answered.body) response.write(chunk);
    response.end();
  });
  await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${http.address().port}/mcp`,
    async close() {
      await Promise.all([...connections.values()].map(({ back }) => back.close()));
      http.close();
      http.closeAllConnections();
    },
  };
}
