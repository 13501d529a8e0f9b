// The schema of the configuration key `audit`; settings.ts applies the defaults.
import * as z from 'zod';
import { AUDIT_DEFAULTS } from './settings.ts';

export const auditOptions = z
  .strictObject({
    required: z
      .boolean()
      .describe(
        'Deny everything while decisions cannot be written to the audit log, or, on a host, while more than `spool_bytes` wait for the bus. Otherwise the user is asked about what a rule allows.',
      )
      .meta({ default: AUDIT_DEFAULTS.required }),
    spool_bytes: z
      .int()
      .min(4096)
      .describe('With `required`, how many bytes of decisions may wait on a host while the bus takes none.')
      .meta({ default: AUDIT_DEFAULTS.spoolBytes }),
  })
  .partial();

export type AuditOptions = z.infer<typeof auditOptions>;
