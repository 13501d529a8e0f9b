// The schema for editors: `config/switchboard.schema.json`.
import * as z from 'zod';
import { configSchema } from './schema.ts';

/** Draft 7, the newest that both VS Code and the JetBrains editors read in full. */
export function configJsonSchema(): z.core.JSONSchema.BaseSchema {
  const { $schema, ...rest } = z.toJSONSchema(configSchema, { target: 'draft-7' });
  return { ...($schema !== undefined && { $schema }), title: 'acp-switchboard configuration', ...rest };
}
