// What start-up loads, and what a reference in the telemetry settings that cannot be resolved does.
import { expect, test, vi } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { mayExport } from '../../src/telemetry/config.ts';
import { telemetrySettings } from '../../src/telemetry/settings.ts';
import { createSandbox } from './sandbox.ts';

const seen = vi.hoisted(() => ({ zod: false }));
vi.mock('zod', async (original) => {
  seen.zod = true;
  return original();
});

test('zod is loaded only when there is a file to validate', async () => {
  const { project: cwd, home, stateDir, write, userFile } = createSandbox();
  const options = { env: {}, cwd, home, stateDir, platform: 'linux' } as const;
  await loadConfig(options);
  expect(seen.zod).toBe(false);
  write(userFile, { agent_servers: { x: { command: 'x' } } });
  await loadConfig(options);
  expect(seen.zod).toBe(true);
});

test.each([{ endpoint: `\${env:COLLECTOR}` }, { endpoint: 'https://own', headers: { authorization: `\${env:COLLECTOR}` } }])(
  'telemetry.traces %j with a variable that is not set sends nothing, to the collector of the environment neither',
  async (traces) => {
    const { project: cwd, home, stateDir, write, userFile } = createSandbox();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://other:4318', OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://other/metrics' };
    write(userFile, { agent_servers: { x: { command: 'x' } }, telemetry: { traces } });
    const { config, notices } = await loadConfig({ env, cwd, home, stateDir, platform: 'linux', isPerAgent: true });
    expect(notices).toEqual([expect.stringMatching(/^telemetry is not sent: .*COLLECTOR/)]);
    expect(mayExport(config.telemetry, env)).toBe(false);
    expect(telemetrySettings(config.telemetry, env, '1')).toMatchObject({ traces: undefined, metrics: undefined });
  },
);
