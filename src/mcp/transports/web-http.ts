// Requests and responses of Node's HTTP servers, as those of the web that the MCP SDK works with.
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Without the body, which is already read and passed separately. */
export function webRequest(request: IncomingMessage, url: string, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, values] of Object.entries(request.headersDistinct)) {
    if (name.startsWith(':')) continue; // HTTP/2 has method and path among its headers
    for (const value of values ?? []) headers.append(name, value);
  }
  return new Request(url, { method: request.method ?? 'GET', headers, signal });
}

/** These belong to one connection of HTTP/1.1, and HTTP/2 refuses them. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding']);

/** A peer that reads nothing for `patienceMs` is disconnected. */
export async function sendResponse(answer: Response, response: ServerResponse, patienceMs?: number): Promise<void> {
  const headers = [...answer.headers].filter(([name]) => !OF_THE_CONNECTION.has(name));
  response.writeHead(answer.status, Object.fromEntries(headers));
  response.flushHeaders(); // a stream of events may have none for long
  if (answer.body) for await (const chunk of answer.body) if (!response.write(chunk)) await drained(response, patienceMs);
  response.end();
}

function drained(response: ServerResponse, patienceMs: number | undefined): Promise<void> {
  return new Promise((resolve) => {
    const late = patienceMs === undefined ? undefined : setTimeout(() => response.destroy(), patienceMs);
    const go = () => {
      clearTimeout(late);
      response.off('drain', go);
      response.off('close', go);
      resolve();
    };
    response.on('drain', go);
    response.on('close', go);
  });
}
