// Makes spans of events: one trace for each turn. A state machine without a clock; ids are handed in.
import type { TelemetryEvent, TraceContext } from '../events.ts';
import type { Sampler } from '../settings.ts';
import {
  calledToolAttributes,
  decisionAttributes,
  endOfTurn,
  errorOf,
  requestAttributes,
  toolCallAttributes,
  toolKind,
  toolName,
  turnAttributes,
} from './attributes.ts';
import type { Attributes, OpenSpan, Span, SpanKind } from './span.ts';

export type TurnSpansOptions = {
  readonly sampler: Sampler;
  /** So many random bytes, in hexadecimal. */
  readonly randomId: (bytes: number) => string;
  readonly onSpan: (span: Span) => void;
  /** A span is left out, because its turn, or this process, has too many. */
  readonly onDropped: () => void;
};

export type TurnSpans = {
  note(event: TelemetryEvent): void;
  /** The trace context of an open request, tool call or delegation, for those that it calls. */
  contextOf(id: string): TraceContext | undefined;
};

type Of<T extends TelemetryEvent['type']> = Extract<TelemetryEvent, { readonly type: T }>;

/** Work that other spans belong to: a request of a client, or a delegation. */
type Work = {
  readonly span: OpenSpan;
  /** By the agent's id. */
  readonly toolCalls: Map<string, OpenSpan>;
  /** As in `keyOf`. */
  readonly session: string | undefined;
  readonly connection: string;
  agent: string | undefined;
  children: number;
};

const TRACED = new Set(['session/prompt', 'session/new', 'session/load', 'session/resume', 'session/fork']);
const OWN_SERVER = 'switchboard';
/** An agent must not fill the memory, or the collector. */
const MAX_CHILDREN = 1000;
const MAX_OPEN = 10_000;
const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;

export function createTurnSpans({ sampler, randomId, onSpan, onDropped }: TurnSpansOptions): TurnSpans {
  const work = new Map<string, Work>();
  /** The open turns of each session, oldest first. */
  const inSession = new Map<string, string[]>();
  const permissions = new Map<string, OpenSpan>();
  const tools = new Map<string, { readonly span: OpenSpan; readonly session: string | undefined }>();
  const starts = new Map<number, { readonly span: OpenSpan; readonly connect: OpenSpan | undefined }>();

  function child(name: string, kind: SpanKind, at: number, parent: TraceContext | undefined, attributes: Attributes): OpenSpan {
    const traceId = parent?.traceId ?? randomId(TRACE_ID_BYTES);
    const isSampled = parent && (sampler.isParentBased || !parent.isRemote) ? parent.isSampled : isChosen(traceId, sampler.ratio);
    const state = parent?.state === undefined ? {} : { state: parent.state };
    const context = { traceId, spanId: randomId(SPAN_ID_BYTES), isSampled, ...state };
    return { context, parentSpanId: parent?.spanId, name, kind, startMs: at, attributes, events: [], links: [] };
  }
  function end(span: OpenSpan, at: number, more: Attributes = {}, error?: string): void {
    if (!span.context.isSampled) return;
    const attributes = { ...span.attributes, ...more, 'error.type': error };
    onSpan({ ...span, attributes, endMs: at, error });
  }
  /** The oldest that is open: agents work on one prompt after another. */
  function workIn(session: string | undefined): Work | undefined {
    const [first] = (session === undefined ? undefined : inSession.get(session)) ?? [];
    return first === undefined ? undefined : work.get(first);
  }
  /** The newest call of a host tool that is open. */
  function toolIn(session: string | undefined): OpenSpan | undefined {
    return [...tools.values()].findLast((one) => one.session === session)?.span;
  }
  /** A span below work, unless that has too many. */
  function below(parent: Work | undefined, name: string, kind: SpanKind, at: number, attributes: Attributes, inside?: OpenSpan) {
    if (!parent) return undefined;
    if (parent.children >= MAX_CHILDREN) return drop(parent.span);
    parent.children++;
    return child(name, kind, at, (inside ?? parent.span).context, attributes);
  }
  function drop({ context }: OpenSpan): undefined {
    if (context.isSampled) onDropped();
  }
  function openWork(id: string, connection: string, session: string | undefined, agent: string | undefined, span: OpenSpan): void {
    if (work.size >= MAX_OPEN) return drop(span);
    work.set(id, { span, toolCalls: new Map(), session, connection, agent, children: 0 });
    if (session !== undefined) inSession.set(session, [...(inSession.get(session) ?? []), id]);
  }
  function endWork(id: string, at: number, more: Attributes, error: string | undefined, name?: string): void {
    const one = work.get(id);
    if (!one) return;
    work.delete(id);
    const others = (inSession.get(one.session ?? '') ?? []).filter((other) => other !== id);
    if (one.session !== undefined && others.length > 0) inSession.set(one.session, others);
    else inSession.delete(one.session ?? '');
    for (const call of one.toolCalls.values()) end(call, at, {}, error === undefined ? undefined : 'turn_failed');
    end({ ...one.span, name: name ?? one.span.name }, at, more, error);
  }

  function request({ at, connection, id, method, sessionId, agent, parent }: Of<'request'>): void {
    if (!TRACED.has(method)) return;
    const isTurn = method === 'session/prompt';
    const session = isTurn ? keyOf(connection, sessionId) : undefined;
    const running = workIn(session);
    const attributes = isTurn ? turnAttributes(agent, sessionId) : requestAttributes(method, agent, sessionId);
    const from = parent && { ...parent, isRemote: true };
    const span = child(isTurn ? 'invoke_agent' : method, isTurn ? 'client' : 'server', at, from, attributes);
    // A prompt that comes during a turn, of the same client or of another, has a trace of its own.
    openWork(id, connection, session, agent, running ? { ...span, links: [running.span.context] } : span);
  }
  function answer(event: Of<'answer'>): void {
    const { at, id, method, sessionId, stopReason, usage } = event;
    const agent = event.agent ?? work.get(id)?.agent;
    const isTurn = method === 'session/prompt';
    const more = isTurn
      ? { ...turnAttributes(agent, sessionId), ...endOfTurn(stopReason, usage) }
      : requestAttributes(method, agent, sessionId);
    endWork(id, at, more, errorOf(event), nameOfTurn(method, agent));
  }
  function toolCall({ at, connection, session, toolCallId, kind, status }: Of<'tool-call'>): void {
    const turn = workIn(keyOf(connection, session));
    if (!turn) return;
    const isOver = status === 'completed' || status === 'failed';
    const known = turn.toolCalls.get(toolCallId);
    // A call without room has no span, and is counted once: when it ends.
    if (!known && !isOver && turn.children >= MAX_CHILDREN) return;
    const span = known ?? below(turn, `execute_tool ${toolKind(kind)}`, 'internal', at, toolCallAttributes(kind, toolCallId));
    if (!span) return;
    turn.toolCalls.set(toolCallId, span);
    if (!isOver) return;
    turn.toolCalls.delete(toolCallId);
    end(span, at, {}, status === 'failed' ? 'tool_failed' : undefined);
  }
  function permission({ at, connection, id, sessionId, toolCallId }: Of<'permission'>): void {
    const session = keyOf(connection, sessionId);
    const turn = workIn(session);
    const inside = turn?.toolCalls.get(toolCallId ?? '') ?? toolIn(session);
    const span = below(turn, 'permission wait', 'client', at, {}, inside);
    if (span && permissions.size < MAX_OPEN) permissions.set(id, span);
  }
  /** The work that waits for an agent: a request for that agent, or one whose agent is not known yet. */
  function waitingFor(agent: string, connection: string): Work | undefined {
    const all = [...work.values()].filter((one) => one.connection === connection);
    return all.findLast((one) => one.agent === agent) ?? all.findLast((one) => one.agent === undefined);
  }
  function agentStart({ at, connection, start, agent, transport }: Of<'agent-start'>): void {
    const attributes = { 'gen_ai.agent.name': agent, 'switchboard.agent.transport': transport };
    const span = child(`start agent ${agent}`, 'internal', at, waitingFor(agent, connection)?.span.context, attributes);
    const connect =
      transport === 'remote' ? child(`connect ${agent}`, 'client', at, span.context, { 'gen_ai.agent.name': agent }) : undefined;
    if (starts.size < MAX_OPEN) starts.set(start, { span, connect });
  }
  function endStart(start: number | undefined, at: number, error?: string): void {
    const begun = start === undefined ? undefined : starts.get(start);
    if (!begun || start === undefined) return;
    starts.delete(start);
    if (begun.connect && error !== undefined) end(begun.connect, at, {}, error);
    end(begun.span, at, {}, error);
  }
  function connected({ at, start }: Of<'agent-connected'>): void {
    const begun = starts.get(start);
    if (begun?.connect) end(begun.connect, at);
    if (begun) starts.set(start, { ...begun, connect: undefined });
  }
  function decision(event: Of<'decision'>): void {
    const { at, connection, session, tookMs } = event;
    const span = below(workIn(keyOf(connection, session)), 'policy decision', 'internal', at - tookMs, decisionAttributes(event));
    if (span) end(span, at);
  }
  function tool(event: Of<'tool'>): void {
    const { at, connection, id, tool: called, server } = event;
    const session = keyOf(connection, event.session);
    const isOwn = server === OWN_SERVER;
    const name = `${isOwn ? 'execute_tool' : 'tools/call'} ${toolName(called)}`;
    const span = below(workIn(session), name, isOwn ? 'internal' : 'client', at, calledToolAttributes(event, isOwn));
    if (span && tools.size < MAX_OPEN) tools.set(id, { span, session });
  }
  function delegation({ at, connection, id, session, agent }: Of<'delegation'>): void {
    const parent = keyOf(connection, session);
    const span = below(workIn(parent), `invoke_agent ${agent}`, 'client', at, turnAttributes(agent, undefined), toolIn(parent));
    if (span) openWork(id, connection, keyOf(connection, id), agent, span);
  }

  function note(event: TelemetryEvent): void {
    switch (event.type) {
      case 'request':
        return request(event);
      case 'answer':
        return answer(event);
      case 'abandoned':
        return endWork(event.id, event.at, {}, 'client_gone', nameOfTurn(event.method, event.agent));
      case 'first-update': {
        const turn = work.get(event.id);
        if (turn) turn.span.events = [...turn.span.events, { name: 'first update', at: event.at }];
        if (turn) turn.agent ??= event.agent;
        return;
      }
      case 'permission':
        return permission(event);
      case 'permission-end': {
        const span = permissions.get(event.id);
        permissions.delete(event.id);
        if (span) end(span, event.at, { 'switchboard.permission.outcome': event.outcome });
        return;
      }
      case 'tool-call':
        return toolCall(event);
      case 'delegation':
        return delegation(event);
      case 'delegation-end':
        return endWork(event.id, event.at, endOfTurn(event.stopReason), event.stopReason === undefined ? 'delegation_failed' : undefined);
      case 'agent-start':
        return agentStart(event);
      case 'agent-connected':
        return connected(event);
      case 'agent-ready':
        return endStart(event.start, event.at);
      case 'agent-failed':
        return endStart(event.start, event.at, 'start_failed');
      case 'agent-stopped':
        return endStart(event.start, event.at, 'stopped');
      case 'decision':
        return decision(event);
      case 'tool':
        return tool(event);
      case 'tool-end': {
        const called = tools.get(event.id);
        tools.delete(event.id);
        if (called) end(called.span, event.at, {}, event.outcome === 'called' ? undefined : `tool_${event.outcome}`);
      }
    }
  }
  return {
    note,
    contextOf: (id) => work.get(id)?.span.context ?? tools.get(id)?.span.context,
  };
}

/** Two connections may have sessions with the same id. */
const keyOf = (connection: string, session: string | undefined): string | undefined => session && `${connection}${session}`;

const nameOfTurn = (method: string, agent: string | undefined): string | undefined =>
  method === 'session/prompt' && agent !== undefined ? `invoke_agent ${agent}` : undefined;

/** The same for all spans of a trace, in every process. */
const isChosen = (traceId: string, ratio: number): boolean => Number.parseInt(traceId.slice(-13), 16) < ratio * 2 ** 52;
