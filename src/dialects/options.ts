// The schema of `framing` and `dialect` in an `agent_servers` entry. select-dialect.ts acts on them.
import * as z from 'zod';
import { DIALECT_NAMES } from './select-dialect.ts';

export const dialectOptions = z
  .object({
    framing: z
      .enum(['auto', 'ndjson', 'content-length'])
      .describe('How its stdio frames messages: one per line, or with a `Content-Length` header before each.')
      .meta({ default: 'auto' }),
    dialect: z
      .enum(['auto', ...DIALECT_NAMES])
      .describe('The protocol it speaks: ACP, or a dialect that is translated to ACP.')
      .meta({ default: 'auto' }),
  })
  .partial();
