// The schema of `log`. `default` below is documentation for editors; defaults.ts applies the defaults.
import * as z from 'zod';
import { FRAME_MODES, LEVELS, LOG_DEFAULTS } from './defaults.ts';

const { level, frames, maxFileBytes, maxTotalBytes, maxAgeDays } = LOG_DEFAULTS;

export const logOptions = z
  .strictObject({
    level: z
      .enum(LEVELS)
      .describe('The level of messages on stderr, or in `file`. `--log-level` takes precedence; SIGUSR2 switches to `debug` and back.')
      .meta({ default: level }),
    file: z.string().min(1).describe('A file for messages, as JSON lines, instead of stderr; relative to the state directory.'),
    frames: z
      .enum(FRAME_MODES)
      .describe('The frame log. `off`: none. `metadata`: one line per frame without its payload. `redacted`: with the redacted payload.')
      .meta({ default: frames }),
    max_file_bytes: z
      .int()
      .min(65_536)
      .describe('The maximum size of one frame log file; then a new file starts.')
      .meta({ default: maxFileBytes }),
    max_total_bytes: z
      .int()
      .min(65_536)
      .describe('The maximum size of all frame log files; beyond it, switchboard deletes the oldest.')
      .meta({ default: maxTotalBytes }),
    max_age_days: z.int().min(1).describe('Switchboard deletes older frame log files.').meta({ default: maxAgeDays }),
    redact: z
      .strictObject({
        patterns: z
          .array(z.string().min(1))
          .describe('Patterns in [RE2 syntax](https://github.com/google/re2/wiki/Syntax); switchboard also redacts what they match.')
          .meta({ default: [] }),
        variables: z
          .array(z.string().min(1))
          .describe('Environment variables whose values are secrets, whatever their names.')
          .meta({ default: [] }),
      })
      .partial()
      .describe('Additional redaction in records.'),
  })
  .partial();

export type LogOptions = z.infer<typeof logOptions>;
