// Settings of host tools after the configuration is read: every setting is present. Separate from options.ts, so that nothing here needs
// zod.
import type { CommandOptions, HostToolsOptions, McpServerOptions } from './options.ts';
import type { JsonSchema } from './server/tool.ts';

/** A tool the user defined: a program, and how a call's arguments become its arguments. */
export type CommandSettings = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly command: string;
  readonly args: readonly string[];
  /** The session's directory unless given. */
  readonly cwd?: string;
  readonly timeoutMs: number;
};

export type HostToolsSettings = {
  readonly enabled: boolean;
  readonly files: boolean;
  readonly terminal: boolean;
  readonly askUser: boolean;
  readonly delegate: boolean;
  /** Built-in tools that are left out, whatever else is switched on. */
  readonly without: readonly string[];
  /** Whether secrets are removed from tool results. */
  readonly redactResults: boolean;
  readonly commands: readonly CommandSettings[];
  /** Absolute paths of ES modules with tools. */
  readonly modules: readonly string[];
};

/** A server whose tools every agent gets. */
export type McpServerSettings = {
  readonly name: string;
  /**
   * `gateway`: its tools join the host tools, and its credentials stay in the switchboard. `direct`: agents receive the server as it is.
   */
  readonly expose: 'gateway' | 'direct';
  readonly at:
    | { readonly command: string; readonly args: readonly string[]; readonly env: Readonly<Record<string, string>>; readonly cwd?: string }
    | { readonly url: string; readonly headers: Readonly<Record<string, string>> };
};

export const HOST_TOOLS_DEFAULTS = {
  enabled: true,
  files: true,
  terminal: true,
  askUser: true,
  delegate: false,
  redactResults: false,
} as const;
/** The names that `host_tools.without` accepts; `tools/builtin-tools.ts` has the tools. */
export const OWN_TOOLS = [
  ...(['read_file', 'write_file', 'edit_file', 'list_directory', 'search_files'] as const),
  ...(['run_command', 'command_output', 'kill_command', 'ask_question', 'session_info', 'delegate'] as const),
  'ask_user',
] as const;
/** Names of version 0.1, which configurations and conversations may still hold. */
export const FORMER_NAMES: Readonly<Record<string, string>> = { ask_user: 'ask_question' };
export const COMMAND_TIMEOUT_MS = 60_000;

/** Valid names. A server name has no underscore, because agents split qualified names there. */
export const TOOL_NAME = /^[a-z][a-z0-9_]{0,47}$/;
export const SERVER_NAME = /^[a-z][a-z0-9-]{0,31}$/;

export function hostToolsSettings(options: Partial<HostToolsOptions>): HostToolsSettings {
  const defaults = HOST_TOOLS_DEFAULTS;
  return {
    enabled: options.enabled ?? defaults.enabled,
    files: options.files ?? defaults.files,
    terminal: options.terminal ?? defaults.terminal,
    askUser: options.ask_user ?? defaults.askUser,
    delegate: options.delegate ?? defaults.delegate,
    without: options.without ?? [],
    redactResults: options.redact_results ?? defaults.redactResults,
    commands: (options.commands ?? []).map(commandSettings),
    modules: options.modules ?? [],
  };
}

function commandSettings({ name, description, input_schema, command, args, cwd, timeout_ms }: CommandOptions): CommandSettings {
  const inputSchema = input_schema ?? { type: 'object', properties: {}, additionalProperties: false };
  const timeoutMs = timeout_ms ?? COMMAND_TIMEOUT_MS;
  return { name, description, inputSchema, command, args: args ?? [], ...(cwd !== undefined && { cwd }), timeoutMs };
}

export function mcpServerSettings(options: McpServerOptions): McpServerSettings {
  const { name, expose = 'gateway', command, url } = options;
  if (url !== undefined) return { name, expose, at: { url, headers: options.headers ?? {} } };
  const { cwd } = options;
  return {
    name,
    expose,
    at: { command: command ?? '', args: options.args ?? [], env: options.env ?? {}, ...(cwd !== undefined && { cwd }) },
  };
}
