// The key `telemetry` of the configuration, with its defaults. Small: every start loads it.
import type { TelemetryOptions } from './options.ts';

export type TelemetryConfig = {
  readonly traces:
    | { readonly endpoint: string | undefined; readonly headers: Readonly<Record<string, string>>; readonly inject: boolean }
    | undefined;
  readonly metrics: boolean;
  /** The settings of the collector cannot be used. */
  readonly isUnsent?: true;
};

export const telemetryConfig = ({ traces, metrics, isUnsent }: TelemetryOptions & Pick<TelemetryConfig, 'isUnsent'>): TelemetryConfig => ({
  traces: traces && { endpoint: traces.endpoint, headers: traces.headers ?? {}, inject: traces.inject === true },
  metrics: metrics !== false,
  ...(isUnsent && { isUnsent }),
});

/** Whether something may be exported at all: spares most processes from loading the rest. */
export const mayExport = ({ traces, isUnsent }: TelemetryConfig, env: NodeJS.ProcessEnv): boolean =>
  !isUnsent && (traces?.endpoint !== undefined || Object.keys(env).some((name) => /^OTEL_EXPORTER_OTLP_(?:\w+_)?ENDPOINT$/.test(name)));
