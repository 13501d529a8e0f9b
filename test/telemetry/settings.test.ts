import { expect, test } from 'vitest';
import { mayExport, telemetryConfig } from '../../src/telemetry/config.ts';
import { telemetrySettings } from '../../src/telemetry/settings.ts';

const settings = (options: Parameters<typeof telemetryConfig>[0], env: Record<string, string>) =>
  telemetrySettings(telemetryConfig(options), env, '1.2.3');
const urls = (options: Parameters<typeof telemetryConfig>[0], env: Record<string, string>) => {
  const { traces, metrics } = settings(options, env);
  return [traces?.url, metrics?.url];
};
const E = 'OTEL_EXPORTER_OTLP';

test.each([
  [{}, {}, [undefined, undefined]],
  [{}, { [`${E}_ENDPOINT`]: 'http://c:4318/' }, ['http://c:4318/v1/traces', 'http://c:4318/v1/metrics']],
  [{}, { [`${E}_ENDPOINT`]: 'http://c/x' }, ['http://c/x/v1/traces', 'http://c/x/v1/metrics']],
  [{}, { [`${E}_TRACES_ENDPOINT`]: 'http://t/own' }, ['http://t/own', undefined]],
  [{}, { [`${E}_METRICS_ENDPOINT`]: 'http://m/own' }, [undefined, 'http://m/own']],
  [{}, { [`${E}_ENDPOINT`]: 'http://c', [`${E}_TRACES_ENDPOINT`]: 'http://t/own' }, ['http://t/own', 'http://c/v1/metrics']],
  [{ traces: { endpoint: 'https://f' } }, { [`${E}_ENDPOINT`]: 'http://c' }, ['https://f/v1/traces', 'https://f/v1/metrics']],
  [{ traces: { endpoint: 'https://f/v1/traces' } }, {}, ['https://f/v1/traces', 'https://f/v1/metrics']],
  [{ traces: { endpoint: 'https://f' }, metrics: false }, {}, ['https://f/v1/traces', undefined]],
  [{ traces: { endpoint: 'https://f' } }, { OTEL_SDK_DISABLED: 'true' }, [undefined, undefined]],
  [{ traces: { endpoint: 'https://f' } }, { OTEL_METRICS_EXPORTER: 'none' }, ['https://f/v1/traces', undefined]],
  [{ traces: { endpoint: 'https://f' } }, { OTEL_TRACES_EXPORTER: 'none' }, [undefined, 'https://f/v1/metrics']],
])('%j with %j sends to %j', (options, env, expected) => {
  expect(urls(options, env)).toEqual(expected);
});

test.each([
  ['ftp://c', /ENDPOINT is not an http or https address/],
  ['http://user:pass-word@c', /ENDPOINT contains credentials; put them into headers/],
])('the address %j is reported, without itself, and not used', (address, message) => {
  const { traces, metrics, notices } = settings({}, { [`${E}_ENDPOINT`]: address });
  expect([traces, metrics]).toEqual([undefined, undefined]);
  expect(notices).toHaveLength(1);
  expect(notices[0]).toMatch(message);
  expect(notices[0]).not.toContain('pass-word');
});

test.each([
  [{}, { [`${E}_ENDPOINT`]: 'http://c', [`${E}_HEADERS`]: 'authorization=Bearer%20pass%0Aword' }, 'OTEL_EXPORTER_OTLP_HEADERS'],
  [{ traces: { endpoint: 'http://c', headers: { authorization: 'Bearer pass\n' } } }, {}, 'telemetry.traces.headers'],
  [{ traces: { endpoint: 'http://c', headers: { 'a b': 'pass' } } }, {}, 'telemetry.traces.headers'],
])('a header that HTTP cannot carry is reported, without its value, and nothing is sent: %j %j', (options, env, place) => {
  const { traces, metrics, notices } = settings(options, env as Record<string, string>);
  expect([traces, metrics]).toEqual([undefined, undefined]);
  expect(notices).toEqual([
    expect.stringMatching(new RegExp(`^telemetry: nothing is sent: ${place} has a character in "(authorization|a b)"`)),
  ]);
  expect(notices[0]).not.toContain('pass');
});

test('a line break at the end of a header of the environment is left out', () => {
  const env = { [`${E}_ENDPOINT`]: 'http://c', [`${E}_HEADERS`]: 'authorization=Basic%20eHg%0A' };
  expect(settings({}, env).traces?.headers).toEqual({ authorization: 'Basic eHg' });
});

test('gRPC is reported and not used', () => {
  const { traces, notices } = settings({}, { [`${E}_ENDPOINT`]: 'http://c:4317', [`${E}_PROTOCOL`]: 'grpc' });
  expect(traces).toBeUndefined();
  expect(notices.join()).toContain('OTLP over HTTP');
});

test('headers of the environment go to addresses of the environment only', () => {
  const env = {
    [`${E}_ENDPOINT`]: 'http://c',
    [`${E}_HEADERS`]: 'authorization=Bearer%20x, a=1',
    [`${E}_TRACES_HEADERS`]: 'a=2,broken,=3',
    [`${E}_TIMEOUT`]: '500',
    [`${E}_COMPRESSION`]: 'gzip',
  };
  const { traces, metrics } = settings({}, env);
  expect(traces).toMatchObject({ headers: { authorization: 'Bearer x', a: '2' }, timeoutMs: 500, isCompressed: true });
  expect(metrics?.headers).toEqual({ authorization: 'Bearer x', a: '1' });
  expect(settings({ traces: { endpoint: 'https://f', headers: { own: '1' } } }, env).traces?.headers).toEqual({ own: '1' });
});

test.each([
  [undefined, undefined, { ratio: 1, isParentBased: true }],
  ['always_off', undefined, { ratio: 0, isParentBased: false }],
  ['parentbased_traceidratio', '0.25', { ratio: 0.25, isParentBased: true }],
  ['traceidratio', 'nonsense', { ratio: 1, isParentBased: false }],
  ['jaeger_remote', undefined, { ratio: 1, isParentBased: true }],
])('the sampler %j with %j is %j', (name, arg, sampler) => {
  const env = { ...(name && { OTEL_TRACES_SAMPLER: name }), ...(arg && { OTEL_TRACES_SAMPLER_ARG: arg }) };
  const { traces, notices } = settings({ traces: { endpoint: 'https://f' } }, env);
  expect(traces?.sampler).toEqual(sampler);
  expect(notices).toHaveLength(name === 'jaeger_remote' ? 1 : 0);
});

test('the resource has the name of the service and the attributes of the environment', () => {
  const env = { OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,deployment.environment.name=test' };
  expect(settings({}, env).resource).toMatchObject({
    'service.name': 'other',
    'deployment.environment.name': 'test',
    'service.version': '1.2.3',
  });
  expect(settings({}, { ...env, OTEL_SERVICE_NAME: 'mine' }).resource).toMatchObject({ 'service.name': 'mine' });
});

test('a process without an address does not even load the exporter', () => {
  expect(mayExport(telemetryConfig({}), { OTEL_SERVICE_NAME: 'x', [`${E}_HEADERS`]: 'a=1' })).toBe(false);
  expect(mayExport(telemetryConfig({ traces: { inject: true } }), {})).toBe(false);
  expect(mayExport(telemetryConfig({}), { [`${E}_TRACES_ENDPOINT`]: 'http://c' })).toBe(true);
});
