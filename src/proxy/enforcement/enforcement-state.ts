// What enforcement knows of one session and of one agent. Both are created on first use.
import { fields } from '../../json-object.ts';
import type { Action } from '../../policy/actions/action.ts';
import { list, mergeToolCall, type ToolCall } from '../../policy/actions/tool-call.ts';
import type { Agent } from '../agents/agent.ts';
import type { Session } from '../sessions/session.ts';
import type { Evaluation } from './evaluate.ts';
import { DecidedActions, Grants } from './grants.ts';
import type { KnownChoice } from './modes/mode-status.ts';
import type { WaitingRequests } from './surfaces/files-and-terminals.ts';

/** What the user of one session has to be told, and has been told in this turn. */
class Reports {
  /** Unasked actions that are not yet in the audit log, and those that the user has not been told about. */
  unrecorded: Evaluation[] = [];
  unreported: Evaluation[] = [];
  stopTimer: (() => void) | undefined = undefined;
  readonly refusals = new Set<string>();
}

export class SessionEnforcement {
  readonly calls = new KnownCalls();
  readonly grants = new Grants();
  /** Modes, and values of options, that the user agreed to though the agent may act without asking in them. */
  readonly confirmedModes = new Set<string>();
  /** Those that the agent took by itself, and that were reported. */
  readonly reportedModes = new Set<string>();
  readonly decided = new DecidedActions();
  readonly reports = new Reports();
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
  /** What it has said about each of its modes and options. */
  readonly choices = new Map<string, KnownChoice>();
  /** The user was told that it never asks. */
  isWarnedOf = false;
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

/** The agent's permission request for a call. `none`: it waits. `passed`: the policy only observes, and does not see the answer. */
export type Requested = {
  readonly action: Action;
  /** The call as the request describes it, unless that is very long. */
  readonly call: ToolCall | undefined;
  answer: 'none' | 'allow' | 'deny' | 'passed';
};

export type KnownCall = {
  call: ToolCall;
  bytes: number;
  requested: Requested | undefined;
  /** How it ended; undefined while it is open. */
  end: 'completed' | 'failed' | undefined;
  /** It ended in an earlier turn. */
  isOld: boolean;
  /** The last report about it. */
  reported: string | undefined;
  /** Why the policy refused it, for the user, until the client has it. */
  refusal: string | undefined;
};

/** The tool calls of one session. Agents describe a call in several updates, and some ask permission with nothing but its id. */
class KnownCalls {
  readonly #calls = new Map<string, KnownCall>();
  #bytes = 0;

  /** Adds an update. Undefined for one about a call that has completed: nothing more can happen in it. */
  note(toolCallId: string, update: unknown, bytes: number): KnownCall | undefined {
    const { sessionUpdate, rawInput } = fields(update);
    const before = this.#calls.get(toolCallId);
    if (sessionUpdate === 'tool_call') this.#describeAnew(toolCallId, before);
    else if (before?.end === 'completed') return undefined;
    // An update without input costs nothing to keep.
    const known = this.#entry(toolCallId, rawInput === undefined ? 0 : bytes);
    known.call = mergeToolCall(known.call, withoutTexts(update));
    return known;
  }
  find(toolCallId: string): KnownCall | undefined {
    return this.#calls.get(toolCallId);
  }
  /** The agent asks permission for the call, perhaps before it has described it. */
  permissionRequested(toolCallId: string): KnownCall {
    if (this.#calls.get(toolCallId)?.end !== undefined) this.forget(toolCallId);
    return this.#entry(toolCallId, 0);
  }
  /** Keeps the answer to its permission request: an agent that was refused may go on. */
  ended(toolCallId: string, end: 'completed' | 'failed'): void {
    const known = this.#calls.get(toolCallId);
    if (!known) return;
    known.end = end;
    if (end === 'failed') return;
    this.#bytes -= known.bytes;
    known.bytes = 0;
    known.call = {};
  }
  /** Calls that have ended are forgotten a turn later: some agents (codex) report more about them after the turn. */
  endTurn(): void {
    for (const [toolCallId, known] of this.#calls) {
      if (known.isOld) this.forget(toolCallId);
      known.isOld = known.end !== undefined;
    }
  }
  /** Refused calls that the client has not been told about, with their ids. */
  refused(): readonly (readonly [string, KnownCall])[] {
    return [...this.#calls].filter(([, { refusal }]) => refusal !== undefined);
  }
  forget(toolCallId: string): void {
    this.#bytes -= this.#calls.get(toolCallId)?.bytes ?? 0;
    this.#calls.delete(toolCallId);
  }
  /** A `tool_call` describes a call from the start. Agents use ids again for other calls, and some ask permission before they describe it. */
  #describeAnew(toolCallId: string, before: KnownCall | undefined): void {
    this.forget(toolCallId);
    if (before?.end !== undefined || !before) return;
    const { requested, reported, refusal } = before;
    Object.assign(this.#entry(toolCallId, 0), { requested, reported, refusal });
  }
  #entry(toolCallId: string, bytes: number): KnownCall {
    // The oldest go first. The user is asked about a forgotten call: it is never allowed unseen.
    for (const oldest of this.#calls.keys()) {
      if (this.#calls.size < MAX_CALLS && this.#bytes + bytes <= MAX_BYTES) break;
      this.forget(oldest);
    }
    const known = this.#calls.get(toolCallId) ?? {
      ...{ call: {}, bytes: 0, requested: undefined, end: undefined, isOld: false, reported: undefined, refusal: undefined },
    };
    this.#calls.set(toolCallId, known);
    known.bytes += bytes;
    this.#bytes += bytes;
    return known;
  }
}

/** Larger descriptions are not kept. */
const MAX_REQUEST_BYTES = 64 * 1024;

export function requestOf(action: Action, toolCall: unknown, bytes: number, isObserving: boolean): Requested {
  const call = bytes > MAX_REQUEST_BYTES ? undefined : mergeToolCall(undefined, withoutTexts(toolCall));
  return { action, call, answer: isObserving ? 'passed' : 'none' };
}

/** Keeps of the content only the changed files and that there is a terminal: the texts are large and decide nothing. */
function withoutTexts(update: unknown): unknown {
  const { content, ...rest } = fields(update);
  if (content === undefined) return rest;
  const kept = list(content).flatMap((entry) => {
    const { type, path } = fields(entry);
    return type === 'diff' ? [{ type, path }] : type === 'terminal' ? [{ type }] : [];
  });
  return { ...rest, content: kept };
}
