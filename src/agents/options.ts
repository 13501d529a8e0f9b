// One `agent_servers` entry as it may stand in a file. Only the check: `default` below is a note for editors, defaults.ts acts on it.
import * as z from 'zod'; // not `{ z }`: a bundler can only leave out what is not used of a namespace import
import { AGENT_DEFAULTS } from './defaults.ts';

// A timer of Node's that is set for longer than this fires at once.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

const { timeouts, restart, onStall, isolation, mcpTransport, mcpBridge } = AGENT_DEFAULTS;

/** A span of time that a timer can hold. */
export const milliseconds = z.int().min(1).max(LONGEST_TIMER_MS);

const optional = z
  .object({
    type: z.literal('custom').describe("Zed's tag for an agent given by its command; accepted so that an entry can be copied, ignored."),
    args: z
      .array(z.string())
      .describe('Its arguments. References to environment variables and files are replaced at start.')
      .meta({ default: [] }),
    env: z
      .record(z.string(), z.string())
      .describe('Variables added to the environment it inherits. References are replaced at start, so that no secret need stand here.')
      .meta({ default: {} }),
    cwd: z.string().min(1).describe('The directory the program is started in.'),
    label: z.string().min(1).describe('The name shown to people, where it differs from the key.'),
    enabled: z.boolean().describe('Whether the agent is offered.').meta({ default: true }),
    framing: z.enum(['auto', 'ndjson']).describe('How messages are told apart on its stdio.').meta({ default: 'auto' }),
    dialect: z.enum(['auto', 'acp']).describe('The protocol it speaks.').meta({ default: 'auto' }),
    isolation: z
      .enum(['shared', 'session'])
      .describe('Whether its sessions share one process or have one each.')
      .meta({ default: isolation }),
    timeouts: z
      .strictObject({
        initialize_ms: milliseconds.describe('How long it may take to answer `initialize`.').meta({ default: timeouts.initializeMs }),
        cancel_ms: milliseconds.describe('How long a cancelled turn may take to end.').meta({ default: timeouts.cancelMs }),
        stop_grace_ms: milliseconds.describe('From end of input to TERM, and from TERM to KILL.').meta({ default: timeouts.stopGraceMs }),
        stall_ms: milliseconds
          .or(z.literal(0))
          .describe('After how long a silent turn is reported; 0 for never.')
          .meta({ default: timeouts.stallMs }),
      })
      .partial()
      .describe('How long this agent is waited for.'),
    mcp_transport: z
      .enum(['auto', 'acp', 'http', 'stdio', 'off'])
      .describe('How the tools lent to it reach it; `auto` takes what it offers and was seen to use.')
      .meta({ default: mcpTransport }),
    mcp_bridge: z
      .enum(['auto', 'on', 'off'])
      .describe("Whether the editor's own MCP servers of a type it cannot take are bridged for it; `auto`: unless it is the only agent.")
      .meta({ default: mcpBridge }),
    on_stall: z
      .enum(['notice', 'cancel', 'end'])
      .describe('What happens to a turn that has been silent for `timeouts.stall_ms`.')
      .meta({ default: onStall }),
    restart: z
      .strictObject({
        enabled: z.boolean().describe('Whether it is started again after it exits.').meta({ default: restart.enabled }),
        max: z.int().min(0).describe('How often at most within the window.').meta({ default: restart.max }),
        window_s: z.int().min(1).describe('The window, in seconds.').meta({ default: restart.windowS }),
      })
      .partial()
      .describe('What happens after it exits unasked.'),
  })
  .partial();

/** The options of one agent. Values that only a later version serves are left out here and named in `config/later.ts`. */
export const agentOptions = z.strictObject({
  command: z.string().min(1).describe('The program to start, found through PATH and run without a shell.'),
  ...optional.shape,
});

export type AgentOptions = z.infer<typeof agentOptions>;
