// The schema of `store`. `default` below is documentation for editors; defaults.ts applies the defaults.
import * as z from 'zod';
import { STORE_DEFAULTS } from './defaults.ts';

const { transcripts, maxAgeDays, maxTotalBytes } = STORE_DEFAULTS;

export const storeOptions = z
  .strictObject({
    transcripts: z.boolean().describe('Whether switchboard stores redacted transcripts of sessions.').meta({ default: transcripts }),
    max_age_days: z.int().min(1).describe('Switchboard deletes a transcript this long after its last entry.').meta({ default: maxAgeDays }),
    max_total_bytes: z
      .int()
      .min(65_536)
      .describe('The maximum size of all transcripts; beyond it, switchboard deletes the oldest.')
      .meta({ default: maxTotalBytes }),
  })
  .partial();

export type StoreOptions = z.infer<typeof storeOptions>;
