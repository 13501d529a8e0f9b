// The schema of one `agent_servers` entry. `default` below is documentation for editors; defaults.ts applies the defaults.
import * as z from 'zod'; // not `{ z }`: a bundler can drop the unused parts of a namespace import only
import { AGENT_DEFAULTS } from './defaults.ts';

// Node fires a longer timer at once.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

const { inheritEnv, connectMs, keepaliveMs, files, timeouts, restart, onStall, isolation, mcpTransport, mcpBridge, unsupportedContent } =
  AGENT_DEFAULTS;

/** A duration that a timer supports. */
export const milliseconds = z.int().min(1).max(LONGEST_TIMER_MS);

const absolutePath = z.string().regex(/^(\/|[A-Za-z]:[\\/])/);
export const whileRunningOption = z.enum(['pass', 'queue', 'steer', 'refuse']);
export const rememberAlwaysOption = z.enum(['off', 'session']);

const optional = z
  .object({
    type: z.literal('custom').describe("Zed's tag for an agent with a command. Accepted so that you can copy an entry, and ignored."),
    args: z.array(z.string()).describe('Its arguments.').meta({ default: [] }),
    env: z
      .record(z.string(), z.string())
      .describe('Variables to add to the inherited environment. Use references, so that the file contains no secrets.')
      .meta({ default: {} }),
    inherit_env: z
      .union([z.enum(['all', 'minimal']), z.array(z.string().min(1))])
      .describe(
        'The variables it inherits from us. `all`: every variable except those that the configuration refers to for other agents and servers, and our own tokens. `minimal`: only what a program needs to run, such as PATH, HOME and LANG. A list: `minimal` and these names.',
      )
      .meta({ default: inheritEnv }),
    url: z
      .string()
      .regex(/^(wss?|https?):\/\//)
      .describe('The address of a remote agent, instead of `command`: `ws:`, `wss:`, `http:` or `https:`. Redirects are not followed.'),
    ssh: z
      .string()
      .regex(/^[^-\s][^\s]*$/)
      .describe(
        'The machine that `command` runs on, as OpenSSH takes it: `user@host`, `ssh://user@host:port`, or a name from its configuration. The login must work without a password.',
      ),
    headers: z
      .record(z.string(), z.string())
      .describe('HTTP headers for `url`, such as `Authorization`. Use references, so that the file contains no secrets.')
      .meta({ default: {} }),
    tls: z
      .strictObject({
        ca: z.string().min(1).describe("The certificate authority to trust instead of the system's."),
        cert: z.string().min(1).describe('A client certificate.'),
        key: z.string().min(1).describe('Its key.'),
      })
      .partial()
      .describe('Certificate files in PEM format, for `wss:` and `https:`. Paths are relative to the configuration file.'),
    connect_ms: milliseconds.describe('How long a connection to `url` or `ssh` may take.').meta({ default: connectMs }),
    keepalive_ms: milliseconds
      .or(z.literal(0))
      .describe(
        'How often a silent connection to `url` or `ssh` is tested; one that does not answer until the next test is lost. 0: never.',
      )
      .meta({ default: keepaliveMs }),
    files: z
      .union([
        z.enum(['none', 'same']),
        z.strictObject({
          map: z
            .record(absolutePath, absolutePath)
            .describe('Directories of this side, and the same directories on the other side. Other directories are not shared.'),
        }),
      ])
      .describe(
        'Whose files a remote agent works on. `none`: its own; switchboard offers it neither files nor terminals of this side. `same`: both sides see the same files under the same paths. `map`: under other paths.',
      )
      .meta({ default: files }),
    cwd: z
      .string()
      .min(1)
      .describe(
        "The working directory of the program. Default: the directory of switchboard. A session's directory comes from `session/new` and not from here.",
      ),
    label: z.string().min(1).describe("The name to show to people. Default: the agent's own title, then its key."),
    enabled: z
      .boolean()
      .describe('`false`: switchboard does not start or offer the agent, and does not resolve its references.')
      .meta({ default: true }),
    // dialects/ defines the values; the configuration schema replaces this one.
    framing: z.string(),
    dialect: z.string(),
    max_line_bytes: z
      .int()
      .min(1024)
      .describe('The longest line that an agent of the dialect `intercom` reads. Switchboard refuses a longer prompt.')
      .meta({ default: AGENT_DEFAULTS.maxLineBytes }),
    isolation: z
      .enum(['auto', 'shared', 'session'])
      .describe(
        '`shared`: all sessions of the agent share one process. `session`: each session has its own process, for agents that support only one. `auto`: as the dialect requires, otherwise `shared`.',
      )
      .meta({ default: isolation }),
    timeouts: z
      .strictObject({
        initialize_ms: milliseconds
          .describe(
            'How long the agent may take to answer `initialize`. After that, switchboard stops it and its sessions fail. The time in which `npx`, `uvx` or another package runner downloads the agent does not count, up to ten minutes. After a crash, this is also how long the agent may be silent while it recovers a session, but at least 30000: the waiting request fails, a later request waits again, and a late answer still counts. To open a session for a change of agent or for a delegation, the agent gets twice this time.',
          )
          .meta({ default: timeouts.initializeMs }),
        cancel_ms: milliseconds
          .describe('How long a cancelled turn may take to end. After that, switchboard answers `cancelled`.')
          .meta({ default: timeouts.cancelMs }),
        stop_grace_ms: milliseconds
          .describe('The time from end of input to TERM, and from TERM to KILL.')
          .meta({ default: timeouts.stopGraceMs }),
        stall_ms: milliseconds
          .or(z.literal(0))
          .describe(
            'Switchboard reports a turn in which the agent sends nothing for this long, after twice the time at the latest. Time in which the agent waits for the user does not count. 0: never.',
          )
          .meta({ default: timeouts.stallMs }),
        quiet_ms: milliseconds
          .describe(
            'When a silent turn counts as ended, for a dialect that does not report the end of turns (`intercom`). Until the first message of the turn, `initialize_ms` applies if it is longer.',
          )
          .meta({ default: timeouts.quietMs }),
        prompt_ms: milliseconds
          .or(z.literal(0))
          .describe(
            'How long one prompt may take, with the time in which it waits for the user. After that, switchboard cancels the turn and answers the prompt with an error. 0: no limit.',
          )
          .meta({ default: timeouts.promptMs }),
        permission_ms: milliseconds
          .or(z.literal(0))
          .describe(
            "How long a permission request of the agent may wait for an answer. After that, switchboard answers `cancelled`, or refuses it under a policy, and withdraws it from the client. A policy's `limits.permission_timeout` applies instead. 0: no limit.",
          )
          .meta({ default: timeouts.permissionMs }),
      })
      .partial()
      .describe('Time limits of this agent.'),
    mcp_transport: z
      .enum(['auto', 'acp', 'http', 'stdio', 'off'])
      .describe(
        'The transport of the host tools; `off` for no tools. `auto`: the first of `acp`, `http` and `stdio` that the agent supports and has not ignored before.',
      )
      .meta({ default: mcpTransport }),
    mcp_bridge: z
      .enum(['auto', 'on', 'off'])
      .describe(
        "Whether switchboard bridges the editor's MCP servers that the agent does not support; `auto`: unless it is the only agent.",
      )
      .meta({ default: mcpBridge }),
    while_running: whileRunningOption.describe(
      'What happens to a prompt that arrives during a turn of this agent; overrides the top-level `while_running`.',
    ),
    remember_always: rememberAlwaysOption.describe(
      'Whether answers with "always" to this agent are kept without a policy; overrides the top-level `remember_always`.',
    ),
    unsupported_content: z
      .enum(['refuse', 'describe'])
      .describe(
        'What becomes of images and audio in a prompt that the agent does not support. `refuse`: the prompt fails with an error that names the capability. `describe`: the agent gets a link, or a line of text that says what it does not see, and `initialize` announces images and audio.',
      )
      .meta({ default: unsupportedContent }),
    coalesce_plans_ms: milliseconds
      .or(z.literal(0))
      .describe(
        'For an agent that sends its plan very often: after a plan, further ones of the session are held for this long, and only the last passes. What else the agent sends is not held, and never overtaken. 0: every plan passes at once.',
      )
      .meta({ default: AGENT_DEFAULTS.coalescePlansMs }),
    on_stall: z
      .enum(['notice', 'cancel', 'end'])
      .describe(
        'What to do with a turn that has been silent for `timeouts.stall_ms`. `notice`: notify the user. `cancel`: also cancel the turn. `end`: also stop the agent if it has not ended the cancelled turn after `timeouts.cancel_ms`.',
      )
      .meta({ default: onStall }),
    restart: z
      .strictObject({
        enabled: z
          .boolean()
          .describe('Whether switchboard restarts an agent that exited, to recover its sessions.')
          .meta({ default: restart.enabled }),
        max: z
          .int()
          .min(0)
          .describe(
            'After more crashes than this within the window, switchboard does not restart the agent until enough of them are outside the window.',
          )
          .meta({ default: restart.max }),
        window_s: z.int().min(1).describe('The window, in seconds.').meta({ default: restart.windowS }),
      })
      .partial()
      .describe('What to do after an unexpected exit.'),
  })
  .partial();

/** The options of one agent. Values that only a later version supports are rejected in `config/validate.ts`. */
export const agentOptions = z.strictObject({
  command: z.string().min(1).describe('The program to start, found through PATH and run without a shell.').optional(),
  ...optional.shape,
});

export type AgentOptions = z.infer<typeof agentOptions>;
