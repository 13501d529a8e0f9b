// Store settings with defaults applied. Separate from options.ts, so that nothing here loads zod.

import type { LogOptions } from './log-options.ts';
import type { StoreOptions } from './store-options.ts';

export type StoreSettings = { readonly transcripts: boolean; readonly maxAgeDays: number; readonly maxTotalBytes: number };

export const STORE_DEFAULTS = { transcripts: true, maxAgeDays: 90, maxTotalBytes: 1_073_741_824 } as const;

/** Applies the defaults to valid options. */
export function storeSettings(options: StoreOptions): StoreSettings {
  return {
    transcripts: options.transcripts ?? STORE_DEFAULTS.transcripts,
    maxAgeDays: options.max_age_days ?? STORE_DEFAULTS.maxAgeDays,
    maxTotalBytes: options.max_total_bytes ?? STORE_DEFAULTS.maxTotalBytes,
  };
}

/** A smaller list of sessions is not worth compacting. */
export const COMPACT_FROM_BYTES = 64 * 1024;

// Log settings with defaults applied. Separate from options.ts, so that nothing here loads zod.
export const LEVELS = ['silent', 'error', 'warn', 'info', 'debug', 'trace'] as const;
export type Level = (typeof LEVELS)[number];

export const FRAME_MODES = ['off', 'metadata', 'redacted'] as const;
export type FrameMode = (typeof FRAME_MODES)[number];

export type LogSettings = {
  readonly level: Level;
  /** The file for diagnostics; undefined for stderr. */
  readonly file: string | undefined;
  readonly frames: FrameMode;
  readonly maxFileBytes: number;
  readonly maxTotalBytes: number;
  readonly maxAgeDays: number;
  readonly redact: { readonly patterns: readonly string[]; readonly variables: readonly string[] };
};

export const LOG_DEFAULTS = {
  level: 'info',
  frames: 'metadata',
  maxFileBytes: 16_777_216,
  maxTotalBytes: 134_217_728,
  maxAgeDays: 14,
} as const;

/** Applies the defaults to valid options. */
export function logSettings(options: LogOptions): LogSettings {
  return {
    level: options.level ?? LOG_DEFAULTS.level,
    file: options.file,
    frames: options.frames ?? LOG_DEFAULTS.frames,
    maxFileBytes: options.max_file_bytes ?? LOG_DEFAULTS.maxFileBytes,
    maxTotalBytes: options.max_total_bytes ?? LOG_DEFAULTS.maxTotalBytes,
    maxAgeDays: options.max_age_days ?? LOG_DEFAULTS.maxAgeDays,
    redact: { patterns: options.redact?.patterns ?? [], variables: options.redact?.variables ?? [] },
  };
}
