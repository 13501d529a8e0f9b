// Checks whether the collector takes traces and metrics: it gets an empty list of each.

import { VERSION } from '../../app/package-files.ts';
import { mayExport, type TelemetryConfig, telemetryConfig } from '../../telemetry/config.ts';
import type { Posted } from '../../telemetry/otlp/post.ts';
import type { Target } from '../../telemetry/settings.ts';
import { type Finding, ok, warning } from './finding.ts';

const ANSWER_MS = 5000;
const EMPTY = { traces: { resourceSpans: [] }, metrics: { resourceMetrics: [] } };

export async function checkTelemetry(config: TelemetryConfig = telemetryConfig({}), env: NodeJS.ProcessEnv): Promise<Finding[]> {
  if (!mayExport(config, env)) return [];
  const { telemetrySettings } = await import('../../telemetry/settings.ts');
  const settings = telemetrySettings(config, env, VERSION);
  const ignored = settings.notices.map((text) =>
    warning(
      'telemetry.settings',
      'a telemetry setting cannot be used',
      text,
      'change telemetry.traces, or the OTEL_ variable that it names',
    ),
  );
  const sent = (['traces', 'metrics'] as const).map(async (signal) => {
    const target = settings[signal];
    return target ? [await send(signal, target)] : [];
  });
  return [...ignored, ...(await Promise.all(sent)).flat()];
}

async function send(signal: 'traces' | 'metrics', target: Target): Promise<Finding> {
  const [{ createPost }, { addressOf }] = await Promise.all([
    import('../../telemetry/otlp/post.ts'),
    import('../../telemetry/settings.ts'),
  ]);
  const { post, close } = createPost(target);
  const posted = await post(EMPTY[signal], ANSWER_MS);
  close();
  const collector = `the collector at ${addressOf(target)}`;
  if (posted.kind === 'accepted') return ok('telemetry.collector', `${collector} takes ${signal}`);
  return warning('telemetry.collector', `${collector} does not take ${signal}`, posted.why, advice(posted));
}

function advice({ why }: Exclude<Posted, { kind: 'accepted' }>): string {
  if (/^HTTP 40[13]$/.test(why))
    return 'set its credentials: telemetry.traces.headers, or OTEL_EXPORTER_OTLP_HEADERS for an address in the environment';
  if (/^HTTP (?:404|405|415|400)$/.test(why) || why.startsWith('HPE_') || why === 'ECONNRESET')
    return 'use the port of the collector for OTLP over HTTP (usually 4318; 4317 is gRPC), and check its path';
  return 'start the collector, or change telemetry.traces.endpoint or OTEL_EXPORTER_OTLP_ENDPOINT';
}
