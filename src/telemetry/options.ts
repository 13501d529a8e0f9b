// The schema of the configuration key `telemetry`; config.ts applies the defaults, settings.ts the OTEL_* variables.
import * as z from 'zod';

export const telemetryOptions = z
  .strictObject({
    traces: z
      .strictObject({
        endpoint: z
          .string()
          .min(1)
          .describe(
            'The address of a collector that speaks OTLP over HTTP, such as `http://localhost:4318`. `/v1/traces` and `/v1/metrics` are added. Default: `OTEL_EXPORTER_OTLP_ENDPOINT`, else nothing is sent.',
          ),
        headers: z
          .record(z.string(), z.string())
          .describe(
            'Headers for the collector, such as `authorization`. References to variables and files are resolved, as in the settings of an agent.',
          )
          .meta({ default: {} }),
        inject: z
          .boolean()
          .describe(
            'Whether agents and MCP servers get the trace context: `traceparent` in `_meta` of `session/prompt`, `session/new` and tool calls. It changes what agents see.',
          )
          .meta({ default: false }),
      })
      .partial()
      .describe('Where traces go.'),
    metrics: z
      .boolean()
      .describe('Whether metrics are counted: for `/metrics` of `switchboard serve`, and for the collector, if there is one.')
      .meta({ default: true }),
  })
  .partial();

export type TelemetryOptions = z.infer<typeof telemetryOptions>;
