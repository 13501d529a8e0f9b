// What is logged once the options are read: every setting present. Kept apart from options.ts so that nothing here needs zod.
import type { LogOptions } from './options-part.ts';

export const LEVELS = ['silent', 'error', 'warn', 'info', 'debug', 'trace'] as const;
export type Level = (typeof LEVELS)[number];

export const FRAME_MODES = ['off', 'metadata', 'redacted'] as const;
export type FrameMode = (typeof FRAME_MODES)[number];

export type LogSettings = {
  readonly level: Level;
  /** Where diagnostics go; stderr when it is not given. */
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

/** Fills in what valid options leave out. */
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
