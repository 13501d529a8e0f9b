// `switchboard doctor` asks the collector itself.
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { type Behaviour, type Collector, startCollector } from '../telemetry/collector.ts';
import { createHome } from './command.ts';

const CANARY = 'ghp_0123456789012345678901234567890123';

async function examine(telemetry: object, env: NodeJS.ProcessEnv = {}) {
  const home = createHome();
  home.write(home.userFile, { agent_servers: { one: { command: process.execPath } }, telemetry });
  const { stdout } = await home.quick(['doctor', '--json', '--no-start'], env);
  expect(stdout).not.toContain(CANARY);
  const findings: { check: string; status: string; what: string; why?: string; next?: string }[] = JSON.parse(stdout).data.findings;
  return findings.filter(({ check }) => check.startsWith('telemetry.'));
}

async function collector(behaviour: Behaviour = 200): Promise<Collector> {
  const started = await startCollector(behaviour);
  onTestFinished(started.close);
  return started;
}

test('a collector that takes both gets an empty list of each, with the configured headers', async () => {
  const { url, bodies } = await collector();
  const found = await examine({ traces: { endpoint: url, headers: { authorization: `Bearer ${CANARY}` } } });
  expect(found.map(({ status, what }) => [status, what])).toEqual([
    ['ok', `the collector at ${url}/v1/traces takes traces`],
    ['ok', `the collector at ${url}/v1/metrics takes metrics`],
  ]);
  expect(bodies.map(({ path, text }) => [path, text]).sort()).toEqual([
    ['/v1/metrics', '{"resourceMetrics":[]}'],
    ['/v1/traces', '{"resourceSpans":[]}'],
  ]);
  expect(bodies.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${CANARY}`, `Bearer ${CANARY}`]);
});

test.each([
  [401, 'HTTP 401', /set its credentials/],
  [404, 'HTTP 404', /usually 4318; 4317 is gRPC/],
  [503, 'HTTP 503', /start the collector/],
] as const)('a collector that answers %i: a warning with advice', async (status, why, next) => {
  const { url } = await collector(status);
  const [found] = await examine({ metrics: false }, { OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/?key=${CANARY}` });
  expect(found).toMatchObject({ status: 'warning', why, next: expect.stringMatching(next) });
});

test('a collector that is down, and a port for gRPC', async () => {
  const gone = await startCollector();
  await gone.close();
  const [down] = await examine({ traces: { endpoint: gone.url }, metrics: false });
  expect(down).toMatchObject({ status: 'warning', why: 'ECONNREFUSED', next: expect.stringMatching(/^start the collector/) });
  const grpc = createServer();
  await new Promise<void>((resolve) => grpc.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void grpc.close());
  const [found] = await examine({ traces: { endpoint: `http://127.0.0.1:${(grpc.address() as AddressInfo).port}` }, metrics: false });
  expect(found).toMatchObject({ status: 'warning', next: expect.stringMatching(/4317 is gRPC/) });
});

test('nothing is said without a collector, and a setting that cannot be used is named', async () => {
  expect(await examine({})).toEqual([]);
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4317', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
  expect(await examine({}, env)).toMatchObject([
    { check: 'telemetry.settings', status: 'warning', why: expect.stringMatching(/PROTOCOL is grpc/) },
  ]);
});
