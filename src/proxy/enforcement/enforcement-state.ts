// What enforcement knows of one session and of one agent. Both are created on first use.
import { fields } from '../../json-object.ts';
import { list, mergeToolCall, type ToolCall } from '../../policy/actions/tool-call.ts';
import type { Agent } from '../agents/agent.ts';
import type { Session } from '../sessions/session.ts';
import type { WaitingRequests } from './files-and-terminals.ts';
import { Grants } from './grants.ts';

export class SessionEnforcement {
  readonly calls = new KnownCalls();
  readonly grants = new Grants();
  /** File and terminal requests behind one that waits for the user. */
  waiting: WaitingRequests | undefined = undefined;
  #root: { readonly cwd: string; readonly path: string } | undefined;

  /** The session's directory as it was at the first request: a link put in its place later moves no rule. */
  root(cwd: string | undefined, canonical: (path: string) => string): string | undefined {
    if (cwd === undefined || this.#root?.cwd === cwd) return this.#root?.path;
    try {
      this.#root = { cwd, path: canonical(cwd) };
      return this.#root.path;
    } catch {
      return undefined;
    }
  }
}

/** Belongs to the agent and not to a connection: a client may set a mode before the agent has started again. */
export class AgentEnforcement {
  /** Modes that the agent has named, and the config options that set one. */
  readonly modes = new Set<string>();
  readonly modeOptions = new Set<string>();
  /** Names of MCP servers by the connections that agents of an older draft open to them. */
  readonly mcpConnections = new Map<string, string>();
}

export function stateOf(session: Session): SessionEnforcement {
  session.enforcement ??= new SessionEnforcement();
  return session.enforcement;
}

export function agentStateOf(agent: Agent): AgentEnforcement {
  agent.enforcement ??= new AgentEnforcement();
  return agent.enforcement;
}

const MAX_CALLS = 1000;
const MAX_BYTES = 16 * 1024 * 1024;

type KnownCall = {
  call: ToolCall;
  bytes: number;
  /** The answer to the agent's permission request. */
  answer: 'allow' | 'deny' | undefined;
  /** The last report about it. */
  reported: string | undefined;
};

/** The tool calls of one session. Agents describe a call in several updates, and some ask permission with nothing but its id. */
class KnownCalls {
  readonly #calls = new Map<string, KnownCall>();
  #bytes = 0;

  /** Adds an update. A `tool_call` begins a new call: agents use ids again. */
  note(toolCallId: string, update: unknown, bytes: number): KnownCall {
    const { sessionUpdate, rawInput } = fields(update);
    const reported = this.#calls.get(toolCallId)?.reported;
    if (sessionUpdate === 'tool_call') this.forget(toolCallId);
    // An update without input costs nothing to keep.
    const known = this.#entry(toolCallId, rawInput === undefined ? 0 : bytes);
    known.call = mergeToolCall(known.call, withoutTexts(update));
    known.reported = reported;
    return known;
  }
  /** The agent asks permission for the call. */
  asked(toolCallId: string): KnownCall {
    return this.#entry(toolCallId, 0);
  }
  forget(toolCallId: string): void {
    this.#bytes -= this.#calls.get(toolCallId)?.bytes ?? 0;
    this.#calls.delete(toolCallId);
  }
  #entry(toolCallId: string, bytes: number): KnownCall {
    // The oldest go first. The user is asked about a forgotten call: it is never allowed unseen.
    for (const oldest of this.#calls.keys()) {
      if (this.#calls.size < MAX_CALLS && this.#bytes + bytes <= MAX_BYTES) break;
      this.forget(oldest);
    }
    const known = this.#calls.get(toolCallId) ?? { call: {}, bytes: 0, answer: undefined, reported: undefined };
    this.#calls.set(toolCallId, known);
    known.bytes += bytes;
    this.#bytes += bytes;
    return known;
  }
}

/** Keeps of the content only the changed files: the texts are large and decide nothing. */
function withoutTexts(update: unknown): unknown {
  const { content, ...rest } = fields(update);
  if (content === undefined) return rest;
  const diffs = list(content).flatMap((entry) => {
    const { type, path } = fields(entry);
    return type === 'diff' ? [{ type, path }] : [];
  });
  return { ...rest, content: diffs };
}
