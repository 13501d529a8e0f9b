// The schema of the configuration key `bus`; config.ts applies the defaults.
import * as z from 'zod';
import { NAME } from './bus.ts';
import { PUBLIC_KEY } from './config.ts';

const publicKey = z.string().regex(PUBLIC_KEY);
const url = z.string().regex(/^(local:|(wss?|nats|tls):\/\/\S+)$/);

export const busOptions = z.union([
  url,
  z.strictObject({
    url: url.describe('`ws:` or `wss:` of a `switchboard serve --bus local:`, or `nats:` or `tls:` of NATS servers, joined by commas.'),
    tenant: z.string().regex(NAME).describe('Hosts and clients see only those of the same tenant.').meta({ default: 'default' }).optional(),
    name: z
      .string()
      .min(1)
      .describe("The host's name, or whose sessions those of an edge are. Default: the name of the machine, or of the user.")
      .optional(),
    credentials: z
      .string()
      .min(1)
      .describe('A file with credentials for NATS: `.creds`, or the seed of a key. The path is relative to this file.')
      .optional(),
    token_file: z
      .string()
      .min(1)
      .describe('A file with the token for `ws:` and `wss:`, of the role `owner`. Default: the variable `SWITCHBOARD_TOKEN`.')
      .optional(),
    tls: z
      .strictObject({
        ca: z.string().min(1).describe("The certificate authority to trust instead of the system's."),
        cert: z.string().min(1).describe('A client certificate.'),
        key: z.string().min(1).describe('Its key.'),
      })
      .partial()
      .describe('Certificate files in PEM format, for `wss:` and `tls:`. Paths are relative to this file.')
      .optional(),
    replicas: z
      .int()
      .min(1)
      .max(5)
      .describe('How many servers of a NATS cluster keep the directory: 3 survives the loss of one.')
      .meta({ default: 1 })
      .optional(),
    policy: z
      .strictObject({
        key: z
          .union([publicKey, z.array(publicKey).min(1)])
          .describe(
            'The public key that signs policy bundles, as `switchboard policy bundle keygen` prints it; several while keys change.',
          ),
        max_age: z
          .string()
          .regex(/^\d{1,6}[smhd]$/)
          .describe('How old a bundle may get, such as `24h`, if it does not expire before.')
          .optional(),
      })
      .describe('For `switchboard host`: it accepts no sessions without a valid policy bundle, and its own policy can only be stricter.')
      .optional(),
  }),
]);

export type BusOptions = z.infer<typeof busOptions>;
