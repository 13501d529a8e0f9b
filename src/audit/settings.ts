// The key `audit` of the configuration with its defaults. Separate from options.ts, so that nothing here loads zod.
import type { AuditOptions } from './options.ts';

export type AuditSettings = {
  /** Without a line in the log, nothing is allowed, not even by a user. */
  readonly isRequired: boolean;
  /** On a host: how many bytes may wait for the bus. */
  readonly spoolBytes: number;
};

export const AUDIT_DEFAULTS = { required: false, spoolBytes: 67_108_864 } as const;

export function auditSettings({ required, spool_bytes }: AuditOptions): AuditSettings {
  return { isRequired: required ?? AUDIT_DEFAULTS.required, spoolBytes: spool_bytes ?? AUDIT_DEFAULTS.spoolBytes };
}
