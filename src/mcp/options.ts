// The schema of `host_tools` and `mcp_servers`. `default` below is a hint for editors; settings.ts applies the defaults.
import * as z from 'zod'; // not `{ z }`: a bundler can only drop unused parts of a namespace import
import { COMMAND_TIMEOUT_MS, HOST_TOOLS_DEFAULTS, OWN_TOOLS } from './settings.ts';

// A Node timer for a longer time fires at once.
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const milliseconds = z.int().min(1).max(LONGEST_TIMER_MS);

const commandOptions = z.strictObject({
  name: z.string().min(1).describe('The tool name for agents: unique, with lower-case letters, digits and underscores.'),
  description: z.string().min(1).describe('What the tool does. Agents decide by this text whether to call it.'),
  command: z.string().min(1).describe('The program to start, found through PATH and run without a shell.'),
  input_schema: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('A JSON Schema with `"type": "object"`; switchboard rejects calls that violate it. Default: no arguments.'),
  args: z
    .array(z.string())
    .optional()
    .describe(
      '`{x}` is replaced by the argument `x`. On its own, it becomes one argument, one per element of a list, or none if `x` is missing; inside a word, it becomes text.',
    )
    .meta({ default: [] }),
  cwd: z.string().min(1).optional().describe("The working directory. Default: the session's directory."),
  timeout_ms: milliseconds
    .optional()
    .describe('The time limit. Switchboard then stops the program and everything it started.')
    .meta({ default: COMMAND_TIMEOUT_MS }),
});

const switchOf = (what: string, by: boolean) => z.boolean().describe(what).meta({ default: by });

export const hostToolsOptions = z
  .strictObject({
    enabled: switchOf('`false`: sessions are opened as the editor opens them.', HOST_TOOLS_DEFAULTS.enabled),
    files: switchOf('`read_file`, `write_file`, `edit_file`, `list_directory`, `search_files`.', HOST_TOOLS_DEFAULTS.files),
    terminal: switchOf('`run_command`, `command_output`, `kill_command`.', HOST_TOOLS_DEFAULTS.terminal),
    ask_user: switchOf('`ask_question`: a question to the user.', HOST_TOOLS_DEFAULTS.askUser),
    delegate: switchOf('`delegate`: an agent may ask another, in a session of its own.', HOST_TOOLS_DEFAULTS.delegate),
    without: z.array(z.enum(OWN_TOOLS)).describe('Names of built-in tools to leave out, including `session_info`.').meta({ default: [] }),
    redact_results: switchOf(
      'Whether switchboard redacts known secrets and likely keys in results before an agent reads them.',
      HOST_TOOLS_DEFAULTS.redactResults,
    ),
    commands: z.array(commandOptions).describe('Your own tools: programs that agents may call.').meta({ default: [] }),
    modules: z
      .array(z.string().min(1))
      .describe('ES modules with your own tools, relative to this file; they run inside the switchboard process.')
      .meta({ default: [] }),
  })
  .partial()
  .describe('Tools attached to every agent through an MCP server in each session.');

export const mcpServerOptions = z
  .strictObject({
    name: z.string().min(1).describe('Its name: lower-case letters, digits and hyphens.'),
    command: z.string().min(1).optional().describe('The program to start, found through PATH and run without a shell.'),
    args: z.array(z.string()).optional().describe('Its arguments. References are replaced at start.').meta({ default: [] }),
    env: z.record(z.string(), z.string()).optional().describe('Variables added to its environment.').meta({ default: {} }),
    cwd: z.string().min(1).optional().describe('The working directory of the program.'),
    url: z.string().min(1).optional().describe('The URL of a server that is reached over HTTP.'),
    headers: z.record(z.string(), z.string()).optional().describe('Headers sent to it; references are replaced.').meta({ default: {} }),
    expose: z
      .enum(['gateway', 'direct'])
      .optional()
      .describe(
        '`gateway`: its tools appear as `name-tool`, and its credentials stay in switchboard. `direct`: agents receive the server as it is.',
      )
      .meta({ default: 'gateway' }),
  })
  .describe('An MCP server whose tools every agent gets.');

export type CommandOptions = z.infer<typeof commandOptions>;
export type HostToolsOptions = z.infer<typeof hostToolsOptions>;
export type McpServerOptions = z.infer<typeof mcpServerOptions>;
