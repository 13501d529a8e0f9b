// The key `telemetry` of the configuration, with its defaults. Small: every start loads it.
import type { TelemetryOptions } from './options.ts';

export type TelemetryConfig = { readonly metrics: boolean };

export const telemetryConfig = ({ metrics }: TelemetryOptions): TelemetryConfig => ({ metrics: metrics !== false });
