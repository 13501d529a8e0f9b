// What is kept of sessions once the options are read: every setting present. Kept apart from options.ts so that nothing here needs zod.
import type { StoreOptions } from './options.ts';

export type StoreSettings = { readonly transcripts: boolean; readonly maxAgeDays: number; readonly maxTotalBytes: number };

export const STORE_DEFAULTS = { transcripts: true, maxAgeDays: 90, maxTotalBytes: 1_073_741_824 } as const;

/** Fills in what valid options leave out. */
export function storeSettings(options: StoreOptions): StoreSettings {
  return {
    transcripts: options.transcripts ?? STORE_DEFAULTS.transcripts,
    maxAgeDays: options.max_age_days ?? STORE_DEFAULTS.maxAgeDays,
    maxTotalBytes: options.max_total_bytes ?? STORE_DEFAULTS.maxTotalBytes,
  };
}

/** The list of sessions is not worth a look below this. */
export const COMPACT_FROM_BYTES = 64 * 1024;
