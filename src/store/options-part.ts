// The schema of `log`. `default` below is documentation for editors; defaults.ts applies the defaults.
import * as z from 'zod';
import { FRAME_MODES, LEVELS, LOG_DEFAULTS } from './defaults.ts';

const { level, frames, maxFileBytes, maxTotalBytes, maxAgeDays } = LOG_DEFAULTS;

export const logOptions = z
  .strictObject({
    level: z
      .enum(LEVELS)
      .describe('How much is said on stderr, or in `file`. `--log-level` wins; SIGUSR2 switches to `debug` and back.')
      .meta({ default: level }),
    file: z.string().min(1).describe('Where diagnostics go, as JSON lines, instead of stderr; relative to the state directory.'),
    frames: z
      .enum(FRAME_MODES)
      .describe('The frame log. `off`: none. `metadata`: a line for each frame, without its payload. `redacted`: with it, redacted.')
      .meta({ default: frames }),
    max_file_bytes: z
      .int()
      .min(65_536)
      .describe('When a file of the frame log is full, and another is begun.')
      .meta({ default: maxFileBytes }),
    max_total_bytes: z.int().min(65_536).describe('Above this the oldest files of the frame log go.').meta({ default: maxTotalBytes }),
    max_age_days: z.int().min(1).describe('After this they go in any case.').meta({ default: maxAgeDays }),
    redact: z
      .strictObject({
        patterns: z
          .array(z.string().min(1))
          .describe('Patterns in [RE2 syntax](https://github.com/google/re2/wiki/Syntax); what they match is taken out of records too.')
          .meta({ default: [] }),
        variables: z
          .array(z.string().min(1))
          .describe('Environment variables whose values count as secrets, whatever they are called.')
          .meta({ default: [] }),
      })
      .partial()
      .describe('What else is taken out of records.'),
  })
  .partial();

export type LogOptions = z.infer<typeof logOptions>;
