// The key `telemetry` of the configuration, with its defaults. Small: every start loads it.
import type { TelemetryOptions } from './options.ts';

export type TelemetryConfig = {
  readonly traces:
    | { readonly endpoint: string | undefined; readonly headers: Readonly<Record<string, string>>; readonly inject: boolean }
    | undefined;
  readonly metrics: boolean;
};

export const telemetryConfig = ({ traces, metrics }: TelemetryOptions): TelemetryConfig => ({
  traces: traces && { endpoint: traces.endpoint, headers: traces.headers ?? {}, inject: traces.inject === true },
  metrics: metrics !== false,
});

/** Whether something may be exported at all: spares most processes from loading the rest. */
export const mayExport = ({ traces }: TelemetryConfig, env: NodeJS.ProcessEnv): boolean =>
  traces?.endpoint !== undefined || Object.keys(env).some((name) => /^OTEL_EXPORTER_OTLP_(?:\w+_)?ENDPOINT$/.test(name));
