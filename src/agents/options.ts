// The schema of one `agent_servers` entry. `default` below is documentation for editors; defaults.ts applies the defaults.
import * as z from 'zod'; // not `{ z }`: a bundler can drop the unused parts of a namespace import only
import { AGENT_DEFAULTS } from './defaults.ts';

// Node fires a longer timer at once.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

const { timeouts, restart, onStall, isolation, mcpTransport, mcpBridge } = AGENT_DEFAULTS;

/** A duration that a timer supports. */
export const milliseconds = z.int().min(1).max(LONGEST_TIMER_MS);

const optional = z
  .object({
    type: z.literal('custom').describe("Zed's tag for an agent given by its command; accepted so that an entry can be copied, ignored."),
    args: z.array(z.string()).describe('Its arguments.').meta({ default: [] }),
    env: z
      .record(z.string(), z.string())
      .describe('Variables added to the environment it inherits from us. With references no secret need stand here.')
      .meta({ default: {} }),
    cwd: z
      .string()
      .min(1)
      .describe(
        "The directory the program is started in, if not ours. A session's own directory is in `session/new`, whatever stands here.",
      ),
    label: z.string().min(1).describe('The name shown to people; else the title the agent gives itself, else its key.'),
    enabled: z.boolean().describe('`false`: not started, not offered, references not looked up.').meta({ default: true }),
    // dialects/ defines the values; the configuration schema replaces this one.
    framing: z.string(),
    dialect: z.string(),
    isolation: z
      .enum(['auto', 'shared', 'session'])
      .describe(
        '`shared`: all sessions of the agent share one process. `session`: each has its own, for agents that can hold only one. `auto`: as its dialect needs it, else shared.',
      )
      .meta({ default: isolation }),
    timeouts: z
      .strictObject({
        initialize_ms: milliseconds
          .describe(
            'How long it may take to answer `initialize`; then it is ended and its sessions fail. After a crash, also how long it may say nothing while it brings a session back, then at least 30000: the request that waits fails, a later one waits on, and a late answer still counts. An agent that a session is to move to, or that another agent asks, has the double of it to open one.',
          )
          .meta({ default: timeouts.initializeMs }),
        cancel_ms: milliseconds
          .describe('How long a cancelled turn may take to end; then we answer it `cancelled`.')
          .meta({ default: timeouts.cancelMs }),
        stop_grace_ms: milliseconds.describe('From end of input to TERM, and from TERM to KILL.').meta({ default: timeouts.stopGraceMs }),
        stall_ms: milliseconds
          .or(z.literal(0))
          .describe(
            "A turn in which the agent has said nothing for this long is reported in the session, after twice the time at the latest. Waiting for the user's answer does not count. 0: never.",
          )
          .meta({ default: timeouts.stallMs }),
        quiet_ms: milliseconds
          .describe(
            'After how long a silent turn is over, for an agent whose dialect has no word for it (`intercom`). Before its first word, `initialize_ms` counts, if that is longer.',
          )
          .meta({ default: timeouts.quietMs }),
      })
      .partial()
      .describe('How long this agent is waited for.'),
    mcp_transport: z
      .enum(['auto', 'acp', 'http', 'stdio', 'off'])
      .describe(
        'How lent tools reach it; `off` for no tools. `auto` takes the first of `acp`, `http` and `stdio` that the agent offers, unless it was seen not to use it.',
      )
      .meta({ default: mcpTransport }),
    mcp_bridge: z
      .enum(['auto', 'on', 'off'])
      .describe("Whether the editor's own MCP servers of a type it cannot take are bridged for it; `auto`: unless it is the only agent.")
      .meta({ default: mcpBridge }),
    on_stall: z
      .enum(['notice', 'cancel', 'end'])
      .describe(
        'What happens to a turn that has been silent for `timeouts.stall_ms`. `notice` tells the user, `cancel` also cancels the turn, `end` also ends an agent that has not ended the cancelled turn after `timeouts.cancel_ms`.',
      )
      .meta({ default: onStall }),
    restart: z
      .strictObject({
        enabled: z
          .boolean()
          .describe('Whether an agent that died is started again to bring its sessions back.')
          .meta({ default: restart.enabled }),
        max: z
          .int()
          .min(0)
          .describe('After more crashes than this within the window the agent is left alone until they are old enough.')
          .meta({ default: restart.max }),
        window_s: z.int().min(1).describe('The window, in seconds.').meta({ default: restart.windowS }),
      })
      .partial()
      .describe('What happens after it exits unasked.'),
  })
  .partial();

/** The options of one agent. Values that only a later version supports are rejected in `config/validate.ts`. */
export const agentOptions = z.strictObject({
  command: z.string().min(1).describe('The program to start, found through PATH and run without a shell.'),
  ...optional.shape,
});

export type AgentOptions = z.infer<typeof agentOptions>;
