// Collectors for telemetry on loopback, in this process: one that answers at once, one that answers late.
import http from 'node:http';

const LATE_MS = 2000;

export async function startCollectors() {
  return { fast: await start(0), slow: await start(LATE_MS) };
}

async function start(afterMs) {
  const server = http.createServer((request, response) => {
    request.resume();
    request.on('end', () => setTimeout(() => response.end('{}'), afterMs).unref());
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return `http://127.0.0.1:${server.address().port}`;
}
