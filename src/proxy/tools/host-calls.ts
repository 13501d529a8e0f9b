// Calls of host tools as the user sees them: one tool call and one question for each, whether the agent reports it first or the proxy does.
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { fields } from '../../json-object.ts';
import type { ToolRequest } from '../../mcp/server/gate.ts';
import type { HostTool, ToolArgs } from '../../mcp/server/tool.ts';
import type { Consent } from '../enforcement/grants.ts';

/** The call of a host tool that an agent's tool call or permission request is about. `args`: undefined if they are not given. */
export type NamedTool = Pick<ToolRequest, 'server' | 'tool' | 'effect'> & { readonly args: ToolArgs | undefined };

/** What agents say of a tool call, as far as it tells the tool. */
export type Described = {
  readonly name?: unknown;
  readonly title?: unknown;
  readonly rawInput?: unknown;
  readonly content?: unknown;
  readonly _meta?: unknown;
};

/** Between server and tool: claude `__`, codex `.`, opencode `_`, copilot `-`. */
const SEPARATOR = '(?:__|[_.:/-])';

/** Reads which tool of our server, by the name it has in the session, an agent's call is about. */
export function createToolReader(server: string, tools: () => readonly HostTool[]): (call: Described) => NamedTool | undefined {
  const prefixed = new RegExp(`^(?:mcp(?:__|[_.]))?${escaped(server)}${SEPARATOR}([\\w-]+)$`);
  const titled = new RegExp(`^([\\w-]+) \\(${escaped(server)} MCP Server\\)$`); // gemini
  const named = (text: unknown, args: ToolArgs | undefined): NamedTool | undefined => {
    const found = text === undefined ? undefined : tools().find(({ name }) => name === text);
    const given = args ?? (found && takesNothing(found) ? {} : undefined);
    return found && { server: found.server, tool: found.ownName ?? found.name, effect: found.effect, args: given };
  };
  return ({ name, title, rawInput, content, _meta }) => {
    const input = fields(rawInput);
    // codex: { server, tool, arguments }
    if (input.server === server) return named(input.tool, fields(input.arguments));
    for (const text of [name, fields(fields(_meta).claudeCode).toolName, title]) {
      if (typeof text !== 'string') continue;
      const tool = prefixed.exec(text)?.[1] ?? titled.exec(text)?.[1];
      const found = named(tool, Object.keys(input).length > 0 ? input : argsInText(content));
      if (found) return found;
    }
    return undefined;
  };
}

/** What agents show as the arguments of such a tool does not matter; claude shows nothing. */
const takesNothing = ({ inputSchema: { properties, additionalProperties } }: HostTool): boolean =>
  additionalProperties === false && Object.keys(fields(properties)).length === 0;

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\-]/g, '\\$&');

/** Gemini shows the arguments as text. */
function argsInText(content: unknown): ToolArgs | undefined {
  const [first] = Array.isArray(content) ? content : [];
  const { text } = fields(fields(first).content);
  if (typeof text !== 'string' || !text.startsWith('{')) return undefined;
  try {
    return fields(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** A tool call of the agent. */
type Reported = { readonly toolCallId: string; named: NamedTool; isUsed: boolean; approval: Approval | undefined };
/** The user's consent to the agent's permission request; with a policy, its place in the audit log. */
export type Approval = { readonly consent: Consent | undefined };

export type HostCall = NamedTool & {
  /** The agent's, if it has reported the call; else one of the proxy's. */
  readonly toolCallId: string;
  readonly isOurs: boolean;
  readonly approval: Approval | undefined;
  /** The client has seen it. */
  isShown: boolean;
  /** The agent's own report of it has come. */
  isClaimed: boolean;
  isOver: boolean;
};

const MAX_KEPT = 256;

/** The host tool calls of a session in this turn. */
export class HostCalls {
  #reported: Reported[] = [];
  #calls: HostCall[] = [];
  /** The client knows these calls of the agent under an id of the proxy's. */
  readonly #renamed = new Map<string, string>();

  /** The agent reports a tool call, or more about one. Returns the id under which the client knows it, if that differs. */
  report(toolCallId: string, named: NamedTool | undefined): string | undefined {
    const ours = this.#renamed.get(toolCallId);
    if (ours !== undefined || !named) return ours;
    const before = this.#reported.find((one) => one.toolCallId === toolCallId);
    if (before) {
      if (named.args) before.named = named;
      return undefined;
    }
    const first = this.#calls.find((call) => call.isOurs && call.isShown && !call.isClaimed && isSame(call, named));
    if (first) {
      first.isClaimed = true;
      this.#renamed.set(toolCallId, first.toolCallId);
      return first.toolCallId;
    }
    this.#reported = [...this.#reported, { toolCallId, named, isUsed: false, approval: undefined }].slice(-MAX_KEPT);
    return undefined;
  }
  /** The host tool that the agent has named in this call. */
  named(toolCallId: string): NamedTool | undefined {
    return this.#reported.find((one) => one.toolCallId === toolCallId)?.named;
  }
  isRenamed(toolCallId: string): boolean {
    return this.#renamed.has(toolCallId);
  }
  /** The user allowed the agent's permission request for the call. */
  approve(toolCallId: string, consent: Consent | undefined): void {
    const reported = this.#reported.find((one) => one.toolCallId === toolCallId);
    if (reported) reported.approval = { consent };
  }
  /** The agent calls the tool. `args` identify the call from now on. */
  begin({ server, tool, effect, args }: ToolRequest): HostCall {
    const named = { server, tool, effect, args };
    const matching = this.#reported.filter((one) => !one.isUsed && isSame(one.named, named));
    const reported = matching.find(({ named }) => named.args !== undefined) ?? matching[0];
    // The user consented to what the request showed: without the arguments, to nothing in particular.
    const approval = reported?.named.args && reported.approval;
    if (reported) reported.isUsed = true;
    const toolCallId = reported?.toolCallId ?? `switchboard-${randomUUID()}`; // not guessable: the agent could imitate it
    const call: HostCall = { ...named, toolCallId, isOurs: !reported, approval, isShown: false, isClaimed: false, isOver: false };
    this.#calls = [...this.#calls, call].slice(-MAX_KEPT);
    return call;
  }
  forArgs(args: ToolArgs | undefined): HostCall | undefined {
    return args && this.#calls.findLast((call) => call.args === args);
  }
  /** Calls that go on stay. */
  endTurn(): void {
    this.#reported = [];
    this.#calls = this.#calls.filter(({ isOver }) => !isOver);
    this.#renamed.clear();
  }
}

function isSame(a: NamedTool, b: NamedTool): boolean {
  return a.server === b.server && a.tool === b.tool && (a.args === undefined || b.args === undefined || isDeepStrictEqual(a.args, b.args));
}
