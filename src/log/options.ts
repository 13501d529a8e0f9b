// `log` as it may stand in a file. Only the check: `default` below is a note for editors, defaults.ts acts on it.
import * as z from 'zod';
import { FRAME_MODES, LEVELS, LOG_DEFAULTS } from './defaults.ts';

const { level, frames, maxFileBytes, maxTotalBytes, maxAgeDays } = LOG_DEFAULTS;

export const logOptions = z
  .strictObject({
    level: z.enum(LEVELS).describe('How much is said on stderr, or in `file`.').meta({ default: level }),
    file: z.string().min(1).describe('Where diagnostics go, as JSON lines, instead of stderr.'),
    frames: z
      .enum(FRAME_MODES)
      .describe('What is kept of each frame: nothing, everything but its payload, or the payload too, redacted.')
      .meta({ default: frames }),
    max_file_bytes: z.int().min(65_536).describe('When a file of the frame log is full.').meta({ default: maxFileBytes }),
    max_total_bytes: z.int().min(65_536).describe('Above this the oldest files of the frame log go.').meta({ default: maxTotalBytes }),
    max_age_days: z.int().min(1).describe('After this files of the frame log go.').meta({ default: maxAgeDays }),
    redact: z
      .strictObject({
        patterns: z.array(z.string().min(1)).describe('Patterns in RE2 syntax; what they match is taken out too.').meta({ default: [] }),
        variables: z.array(z.string().min(1)).describe('Environment variables whose values are secrets too.').meta({ default: [] }),
      })
      .partial()
      .describe('What else is taken out of records.'),
  })
  .partial();

export type LogOptions = z.infer<typeof logOptions>;
