// What each agent calls its tools, and how it describes an MCP call. An agent that is not in the table gets the generic extractor.
import type { ActionKind, McpCall } from './action.ts';
import { list, record, string, type ToolCall } from './tool-call.ts';

export type AgentTable = {
  /** The agent's own tools and what they do, whatever kind the agent claims. */
  readonly tools: Readonly<Record<string, ActionKind>>;
  /** Tools whose `pattern` is text to search for. For every other tool it is a file name pattern, which can lead elsewhere. */
  readonly textSearches?: readonly string[];
  /** The tool's name from the field the agent's program fills. Never from the title. */
  toolName(call: ToolCall): string | undefined;
  /** The MCP server and tool, if this is an MCP call and both can be told apart. */
  mcp(call: ToolCall, tool: string | undefined): McpCall | undefined;
};

const named = (call: ToolCall): string | undefined => string(call.name);

// `write_file__fc_1`, `write_file-1731`: gemini and its forks build ids from the tool's name.
function fromId({ toolCallId }: ToolCall): string | undefined {
  return /^([A-Za-z][\w]*?)(?:__|-)[\w-]*$/.exec(string(toolCallId) ?? '')?.[1];
}

// `{ server, tool, arguments }`, at the top or under a key, in the spellings that agents use.
function fromServerAndTool({ rawInput }: ToolCall): McpCall | undefined {
  const input = record(rawInput);
  for (const fields of [input, record(input.invocation)]) {
    const server = string(fields.server) ?? string(fields.server_name);
    const tool = string(fields.tool) ?? string(fields.tool_name);
    if (server !== undefined && tool !== undefined) return { server, tool, args: fields.arguments ?? {} };
  }
  return undefined;
}

const GEMINI_TOOLS: AgentTable['tools'] = {
  read_file: 'read',
  read_many_files: 'read',
  write_file: 'edit',
  replace: 'edit',
  edit: 'edit',
  list_directory: 'search',
  glob: 'search',
  grep_search: 'search',
  search_file_content: 'search',
  run_shell_command: 'execute',
  web_fetch: 'fetch',
  google_web_search: 'fetch',
  web_search: 'fetch',
  todo_write: 'think',
  write_todos: 'think',
};

const codex: AgentTable = {
  tools: {
    exec_command: 'execute',
    shell: 'execute',
    local_shell: 'execute',
    apply_patch: 'edit',
    web_search: 'fetch',
    update_plan: 'think',
  },
  toolName: named,
  mcp: fromServerAndTool,
};

const gemini: AgentTable = {
  tools: GEMINI_TOOLS,
  textSearches: ['grep_search', 'search_file_content'],
  toolName: (call) => named(call) ?? fromId(call),
  mcp: fromServerAndTool,
};

export const AGENTS: Readonly<Record<string, AgentTable>> = {
  claude: {
    tools: {
      Bash: 'execute',
      BashOutput: 'read',
      KillShell: 'execute',
      Read: 'read',
      NotebookRead: 'read',
      Write: 'edit',
      Edit: 'edit',
      MultiEdit: 'edit',
      NotebookEdit: 'edit',
      Glob: 'search',
      Grep: 'search',
      LS: 'search',
      WebFetch: 'fetch',
      WebSearch: 'fetch',
      TodoWrite: 'think',
      ExitPlanMode: 'switch_mode',
      EnterPlanMode: 'switch_mode',
    },
    textSearches: ['Grep'],
    toolName: (call) => named(call) ?? string(record(record(call._meta).claudeCode).toolName),
    mcp(call, tool) {
      const qualified = /^mcp__(.+)$/.exec(tool ?? '')?.[1];
      if (qualified === undefined) return undefined;
      const server = string(record(record(record(call._meta).claudeCode).mcpServer).name);
      if (server !== undefined && qualified.startsWith(`${server}__`))
        return { server, tool: qualified.slice(server.length + 2), args: call.rawInput ?? {} };
      // Names may contain the separator. If that leaves two readings, neither counts.
      const parts = qualified.split('__');
      return parts.length === 2 ? { server: parts[0] ?? '', tool: parts[1] ?? '', args: call.rawInput ?? {} } : undefined;
    },
  },
  codex,
  'codex-zed': codex,
  gemini,
  qwen: gemini,
  opencode: {
    tools: {
      bash: 'execute',
      read: 'read',
      write: 'edit',
      edit: 'edit',
      patch: 'edit',
      glob: 'search',
      grep: 'search',
      list: 'search',
      webfetch: 'fetch',
      todowrite: 'think',
    },
    textSearches: ['grep'],
    toolName: named,
    mcp: fromServerAndTool,
  },
  copilot: {
    tools: {
      bash: 'execute',
      shell: 'execute',
      create: 'edit',
      edit: 'edit',
      str_replace_editor: 'edit',
      view: 'read',
      glob: 'search',
      grep: 'search',
      web_fetch: 'fetch',
    },
    textSearches: ['grep'],
    toolName: named,
    mcp: fromServerAndTool,
  },
  cline: {
    tools: {
      execute_command: 'execute',
      write_to_file: 'edit',
      replace_in_file: 'edit',
      apply_patch: 'edit',
      read_file: 'read',
      list_files: 'search',
      search_files: 'search',
      list_code_definition_names: 'search',
      browser_action: 'fetch',
      web_fetch: 'fetch',
    },
    toolName: named,
    mcp: fromServerAndTool,
  },
  pi: {
    tools: { bash: 'execute', read: 'read', write: 'edit', edit: 'edit', ls: 'search', grep: 'search', find: 'search' },
    textSearches: ['grep'],
    toolName: named,
    mcp: fromServerAndTool,
  },
};

export const GENERIC: AgentTable = { tools: {}, toolName: named, mcp: fromServerAndTool };

const FAMILIES: readonly (readonly [RegExp, string])[] = [
  [/claude/i, 'claude'],
  [/zed-industries.*codex|codex-zed/i, 'codex-zed'],
  [/codex/i, 'codex'],
  [/gemini/i, 'gemini'],
  [/qwen/i, 'qwen'],
  [/open-?code/i, 'opencode'],
  [/copilot/i, 'copilot'],
  [/cline/i, 'cline'],
  [/^pi(-acp|-coding-agent)?$/i, 'pi'],
];

/** The key of `AGENTS` for an agent, from its `agentInfo.name` or its name in the configuration. */
export function familyOf(...names: readonly (string | undefined)[]): string | undefined {
  for (const name of names) {
    const found = name === undefined ? undefined : FAMILIES.find(([pattern]) => pattern.test(name));
    if (found) return found[1];
  }
  return undefined;
}

export function tableFor(family: string | undefined, agent: string): AgentTable {
  const key = family ?? agent;
  return (Object.hasOwn(AGENTS, key) ? AGENTS[key] : undefined) ?? GENERIC;
}

// How gemini, qwen, codex-zed and codex title an MCP call.
const MCP_TITLES = [
  /^(?<tool>\S+) \((?<server>\S+) MCP Server\)/,
  /^Tool: (?<server>[^/\s]+)\/(?<tool>\S+)$/,
  /^mcp\.(?<server>[^.\s]+)\.(?<tool>\S+)$/,
];

/** The MCP call from the title: enough to deny or ask, never to allow. */
export function mcpInTitle({ title, rawInput }: ToolCall): McpCall | undefined {
  for (const pattern of MCP_TITLES) {
    const { server, tool } = pattern.exec(string(title) ?? '')?.groups ?? {};
    if (server !== undefined && tool !== undefined) return { server, tool, args: rawInput ?? {} };
  }
  return undefined;
}

/** The paths of `content` entries of type `diff`: what the agent will write. */
export function diffPaths({ content }: ToolCall): string[] {
  return list(content).flatMap((entry) => {
    const { type, path } = record(entry);
    const found = string(path);
    return type === 'diff' && found !== undefined ? [found] : [];
  });
}
