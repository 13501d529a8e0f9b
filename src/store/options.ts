// `store` as it may stand in a file. Only the check: `default` below is a note for editors, defaults.ts acts on it.
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
