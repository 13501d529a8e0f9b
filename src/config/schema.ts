// The whole file as it may stand on disk. Loaded only when a file must be checked: zod is too large for every start.
import * as z from 'zod';
import { AGENT_NAME } from '../agents/defaults.ts';
import { agentOptions, milliseconds } from '../agents/options.ts';
import { dialectOptions } from '../dialects/options.ts';
import { hostToolsOptions, mcpServerOptions } from '../mcp/options.ts';
import { storeOptions } from '../store/options.ts';
import { logOptions } from '../store/options-part.ts';
import { DEFAULTS } from './config.ts';

const bytes = z.int().min(1);

export const configSchema = z
  .strictObject({
    $schema: z.string().describe('For editors; ignored.'),
    agent_servers: z
      .record(z.string(), agentOptions.extend(dialectOptions.shape))
      .describe('The agents by name, in the shape Zed and JetBrains use.')
      // Names are checked in check.ts: zod does not look at the value behind a bad key, and would hide what is wrong with it.
      .meta({ propertyNames: { pattern: AGENT_NAME.source } }),
    default_agent: z.string().describe('The agent of a session that nothing else assigns. Without it: the first listed.'),
    routes: z
      .array(
        z.strictObject({
          cwd: z.string().min(1).describe('A glob over the working directory of the session.'),
          agent: z.string().describe('The name of the agent that serves it.'),
        }),
      )
      .describe('Which agent serves which directory; the first match wins.'),
    workspace: z
      .enum(['off', 'serve-missing'])
      .describe(
        'Whether files and terminals are served here where the editor cannot: `serve-missing` does, inside the directories of the session.',
      )
      .meta({ default: DEFAULTS.workspace }),
    limits: z
      .strictObject({
        max_frame_bytes: bytes
          .describe(
            'The longest frame passed on. A longer one is skipped; if it was a request or an answer, whoever waits gets an error that names the limit.',
          )
          .meta({ default: DEFAULTS.limits.maxFrameBytes }),
        max_queue_bytes: bytes
          .describe(
            'What may wait for an agent that does not read. Beyond it that agent is ended and its open requests fail; others do not notice.',
          )
          .meta({ default: DEFAULTS.limits.maxQueueBytes }),
      })
      .partial()
      .describe('Bounds on memory.'),
    timeouts: z
      .strictObject({
        initialize_wait_ms: milliseconds
          .describe(
            "With several agents, how long the editor's `initialize` waits for agents that have not been seen before. One that is later counts as able to do what every agent can, until it has once become ready and the editor starts us again.",
          )
          .meta({ default: DEFAULTS.initializeWaitMs }),
      })
      .partial()
      .describe('How long the switchboard itself waits.'),
    policy: z
      .union([z.string().min(1), z.record(z.string(), z.unknown())])
      .describe('What agents may do: a policy file (a path beside this file), the name of a preset, or the policy itself.'),
    log: logOptions.describe('What is written down of what passes, and what is said on stderr.'),
    store: storeOptions.describe('What is kept of sessions.'),
    host_tools: hostToolsOptions,
    mcp_servers: z.array(mcpServerOptions).describe('MCP servers whose tools every agent gets.'),
  })
  .partial();

// The schema for editors: `config/switchboard.schema.json`.
/** Draft 7, the newest that both VS Code and the JetBrains editors read in full. */
export function configJsonSchema(): z.core.JSONSchema.BaseSchema {
  const { $schema, ...rest } = z.toJSONSchema(configSchema, { target: 'draft-7' });
  return { ...($schema !== undefined && { $schema }), title: 'acp-switchboard configuration', ...rest };
}
