// The schema of `store`. `default` below is documentation for editors; defaults.ts applies the defaults.
import * as z from 'zod';
import { STORE_DEFAULTS } from './defaults.ts';

const { transcripts, maxAgeDays, maxTotalBytes } = STORE_DEFAULTS;

export const storeOptions = z
  .strictObject({
    transcripts: z.boolean().describe('Whether what is said in sessions is kept, redacted.').meta({ default: transcripts }),
    max_age_days: z.int().min(1).describe('A transcript that nothing was added to for so long goes.').meta({ default: maxAgeDays }),
    max_total_bytes: z.int().min(65_536).describe('Above this the oldest transcripts go.').meta({ default: maxTotalBytes }),
  })
  .partial();

export type StoreOptions = z.infer<typeof storeOptions>;
