// The schema of the configuration file. Loaded only to validate a file: zod is too large for every start.
import * as z from 'zod';
import { AGENT_NAME } from '../agents/defaults.ts';
import { agentOptions, milliseconds, rememberAlwaysOption, whileRunningOption } from '../agents/options.ts';
import { auditOptions } from '../audit/options.ts';
import { busOptions } from '../bus/options.ts';
import { dialectOptions } from '../dialects/options.ts';
import { hostToolsOptions, mcpServerOptions } from '../mcp/options.ts';
import { sandboxOption, sandboxOptions } from '../sandbox/options.ts';
import { logOptions } from '../store/log-options.ts';
import { storeOptions } from '../store/store-options.ts';
import { telemetryOptions } from '../telemetry/options.ts';
import { DEFAULTS } from './config.ts';

const bytes = z.int().min(1);

export const configSchema = z
  .strictObject({
    $schema: z.string().describe('For editors; switchboard ignores it.'),
    agent_servers: z
      .record(z.string(), agentOptions.extend(dialectOptions.shape).extend(sandboxOptions.shape))
      .describe('The agents by name, in the format of Zed and JetBrains.')
      // check.ts checks the names: zod skips the value of an invalid key and would hide its problems.
      .meta({ propertyNames: { pattern: AGENT_NAME.source } }),
    default_agent: z.string().describe('The agent for sessions that no route or request assigns. Default: the first agent.'),
    routes: z
      .array(
        z.strictObject({
          cwd: z.string().min(1).describe('A glob that matches the working directory of the session.'),
          agent: z.string().describe('The name of the agent.'),
          labels: z
            .record(z.string(), z.string())
            .describe('Labels that the host of the session must have, such as `{"gpu": "true"}`; for agents on the bus.')
            .optional(),
        }),
      )
      .describe('Assigns agents to directories; the first match wins.'),
    sandbox: sandboxOption.describe(
      "The sandbox of all agents, and of the programs that switchboard starts itself; an agent's own key overrides it. See docs/sandbox.md.",
    ),
    workspace: z
      .enum(['off', 'serve-missing'])
      .describe('`serve-missing`: serve files and terminals that the editor does not, inside the session directories.')
      .meta({ default: DEFAULTS.workspace }),
    while_running: whileRunningOption.describe(
      'What happens to a prompt that arrives during a turn. `pass`: it goes to the agent at once. `queue`: it waits for the end of the turn; 16 may wait in a session. `steer`: it joins the running turn if the agent supports that, else it waits. `refuse`: it gets an error. Default: `pass` for a single agent on stdio, else `queue`. An agent that queues prompts itself gets them at once.',
    ),
    remember_always: rememberAlwaysOption.describe(
      'Without a policy: whether an answer with "always" is kept, so that an agent that asks for the very same again in the session gets it at once. `switchboard policy remembered` lists and revokes these answers. Default: `off` for a single agent on stdio, else `session`. With a policy, its `remember` decides.',
    ),
    allow_cwd: z
      .array(z.string().min(1))
      .describe(
        'Directories in which network clients may open sessions, with everything below them. Paths are relative to this file. Default: the directory in which `switchboard serve` was started.',
      ),
    detach_grace: z
      .union([z.literal(0), z.string().regex(/^\d{1,6}[smh]$/)])
      .describe(
        'How long the sessions of `switchboard serve` wait for another client when the last one has gone, such as `15m`, `90s` or `8h`. Then their turns are cancelled and they are closed. `0`: they end with their client.',
      )
      .meta({ default: '15m' }),
    network_clients: z
      .strictObject({
        stdio_servers: z
          .boolean()
          .describe('Whether they may name MCP servers that agents start as programs. A token is then as good as a shell.')
          .meta({ default: false }),
        origins: z
          .array(z.string().regex(/^https?:\/\/[^/]+$/))
          .describe('Web pages that may connect, such as `https://app.example.com`. Programs send no origin.')
          .meta({ default: [] }),
        hosts: z
          .array(z.string().regex(/^[A-Za-z0-9._-]+(:\d{1,5})?$/))
          .describe(
            'Names under which clients reach the daemon, if it listens at another: of a proxy in front of it, or of its certificate, such as `acp.example.com`. Without a port, every port counts.',
          )
          .meta({ default: [] }),
        session_attach: z
          .boolean()
          .describe('Experimental: also offers `session/attach` and `session/detach`, a draft of the protocol. See docs/daemon.md.')
          .meta({ default: false }),
      })
      .partial()
      .describe('What clients that connect to `switchboard serve` with a token may do.'),
    web_app: z
      .strictObject({
        allow_commands: z
          .boolean()
          .describe('Whether a page may start a command that is not in `agent_servers`. A token is then as good as a shell.')
          .meta({ default: false }),
        allow_terminals: z
          .boolean()
          .describe('Whether a page may run commands in the directories of its sessions. The policy decides about each of them.')
          .meta({ default: false }),
      })
      .partial()
      .describe('What web pages that use `/ws` of `switchboard serve` may do. See docs/web-app.md.'),
    limits: z
      .strictObject({
        max_frame_bytes: bytes
          .describe(
            'The maximum frame size. A larger frame is dropped; if it was a request or a response, the waiting side gets an error that names the limit.',
          )
          .meta({ default: DEFAULTS.limits.maxFrameBytes }),
        max_queue_bytes: bytes
          .describe(
            'The maximum queue for an agent that does not read its input. Beyond it, switchboard stops the agent and its open requests fail; other agents are not affected.',
          )
          .meta({ default: DEFAULTS.limits.maxQueueBytes }),
      })
      .partial()
      .describe('Memory limits.'),
    timeouts: z
      .strictObject({
        initialize_wait_ms: milliseconds
          .describe(
            'With several agents, how long `initialize` waits for agents that switchboard has not started before. For a slower agent, switchboard assumes baseline capabilities until the agent has become ready once and the editor restarts switchboard.',
          )
          .meta({ default: DEFAULTS.initializeWaitMs }),
      })
      .partial()
      .describe('Time limits of switchboard itself.'),
    policy: z
      .union([z.string().min(1), z.record(z.string(), z.unknown())])
      .describe('What agents may do: a policy file (relative to this file), the name of a preset, or an inline policy.'),
    audit: auditOptions.describe('The log of policy decisions; see docs/policy.md.'),
    log: logOptions.describe('The frame log, and messages on stderr.'),
    store: storeOptions.describe('Stored session data.'),
    registry: z
      .strictObject({
        url: z
          .string()
          .regex(/^(?:https:\/\/|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?=[:/]))[^\s@]+$/)
          .describe(
            'The address of its index: https, or http on this machine. With it, only agents that this registry lists can be installed. Default: the public registry of the protocol.',
          ),
      })
      .partial()
      .describe('Where `switchboard agents` finds agents to install. Only your own configuration can set it. See docs/agents.md.'),
    telemetry: telemetryOptions.describe('Metrics and traces; see docs/telemetry.md.'),
    bus: busOptions.describe('The bus on which hosts offer agents; see docs/scale-out.md. Default: none, this process runs its agents.'),
    host_tools: hostToolsOptions,
    mcp_servers: z.array(mcpServerOptions).describe('MCP servers whose tools every agent gets.'),
  })
  .partial();

/** The JSON Schema for editors, `config/switchboard.schema.json`. Draft 7 is the newest that VS Code and JetBrains fully support. */
export function configJsonSchema(): z.core.JSONSchema.BaseSchema {
  const { $schema, ...rest } = z.toJSONSchema(configSchema, { target: 'draft-7' });
  return { ...($schema !== undefined && { $schema }), title: 'acp-switchboard configuration', ...rest };
}
