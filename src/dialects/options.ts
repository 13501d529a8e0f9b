// What an `agent_servers` entry may say of how its agent speaks. Only the check: tongue.ts acts on it.
import * as z from 'zod';
import { DIALECT_NAMES } from './select-dialect.ts';

export const dialectOptions = z
  .object({
    framing: z
      .enum(['auto', 'ndjson', 'content-length'])
      .describe('How messages are told apart on its stdio: by lines, or by a `Content-Length` header before each.')
      .meta({ default: 'auto' }),
    dialect: z
      .enum(['auto', ...DIALECT_NAMES])
      .describe('The protocol it speaks: ACP, or another that is translated.')
      .meta({ default: 'auto' }),
  })
  .partial();
