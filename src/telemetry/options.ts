// The schema of the configuration key `telemetry`; config.ts applies the defaults.
import * as z from 'zod';

export const telemetryOptions = z
  .strictObject({
    metrics: z.boolean().describe('Whether `switchboard serve` counts what happens and shows it at `/metrics`.').meta({ default: true }),
  })
  .partial();

export type TelemetryOptions = z.infer<typeof telemetryOptions>;
