// Telemetry of one client and its agents: their observers, and what the proxy reports.

import type { Observer } from '../../wire/observer.ts';
import { stringIn } from '../../wire/scanner/large-frame.ts';
import type { Patch } from '../../wire/writer.ts';
import type { Activity } from '../activity.ts';
import type { Emit, EmitOfConnection, TelemetryEvent, TraceContext } from '../events.ts';
import type { Registry } from '../metrics/registry.ts';
import { tracePatches } from '../traces/inject.ts';
import { writeTraceparent } from '../traces/trace-context.ts';
import { createFrameCounter, observeAgent } from './count-frames.ts';
import { numberIn, observeClient } from './observe-client.ts';

export type ConnectionTelemetry = {
  /** For each connection: that of the client, and those of its agents, by process. */
  observer(side: 'editor' | 'agent', name: string): Observer & { readonly down?: (reason: string) => void };
  /** `process` is the agent's name, with a number if the agent has several processes. Call the result when a remote agent is reached. */
  agentStarting(process: string, transport: 'process' | 'remote'): () => void;
  readonly activity: Activity;
  decided(decision: DecisionMade): void;
  /** The client and its agents are gone. */
  end(): void;
};

/** A decision of the policy, as far as telemetry reads it. */
export type DecisionMade = Pick<Extract<TelemetryEvent, { type: 'decision' }>, 'agent' | 'verdict' | 'outcome' | 'answeredBy'> & {
  readonly session?: string | undefined;
  readonly method: string;
  readonly count?: number | undefined;
  readonly latencyMs: number;
};

export type ConnectionDeps = {
  readonly registry: Registry;
  readonly emit: Emit;
  readonly now: () => number;
  /** Numbers that no other part of this process gets. */
  readonly nextNumber: () => number;
  readonly agentOf: (sessionId: string | undefined) => string | undefined;
  /** The trace context for agents and MCP servers; undefined if they do not get it. */
  readonly contextFor: ((id: string) => TraceContext | undefined) | undefined;
};

/** With a known cost. */
const MAX_SESSIONS = 1000;
const NO_PATCHES: readonly Patch[] = [];

/** `claude#2` is a further process of `claude`. */
const agentIn = (process: string): string => process.split('#')[0] as string;

export function measureConnection({ registry, emit: emitAny, now, nextNumber, agentOf, contextFor }: ConnectionDeps): ConnectionTelemetry {
  const prefix = `${nextNumber()}/`;
  const emit: EmitOfConnection = (event) => emitAny({ ...event, connection: prefix });
  let client: ReturnType<typeof observeClient> | undefined;
  /** By process. */
  const starting = new Map<string, { readonly start: number; readonly at: number }>();
  /** What each session has cost so far. */
  const costs = new Map<string, number>();
  const begun = (process: string) => {
    const start = starting.get(process);
    starting.delete(process);
    return start;
  };
  function traceparent(id: string): string | undefined {
    const context = contextFor?.(id);
    return context && writeTraceparent(context);
  }
  return {
    observer(side, name) {
      const counter = createFrameCounter(registry, side === 'editor' ? 'client' : 'agent');
      if (side === 'editor') {
        client = observeClient({ counter, emit, now, prefix, agentOf });
        return client;
      }
      return {
        ...observeAgent(counter),
        down(reason) {
          const start = begun(name)?.start;
          if (reason !== 'stopped') emit({ type: 'agent-failed', at: now(), start, agent: agentIn(name), reason });
          else if (start !== undefined) emit({ type: 'agent-stopped', at: now(), start });
        },
      };
    },
    agentStarting(process, transport) {
      const [start, at] = [nextNumber(), now()];
      starting.set(process, { start, at });
      emit({ type: 'agent-start', at, start, agent: agentIn(process), transport });
      return () => emit({ type: 'agent-connected', at: now(), start });
    },
    decided({ session, agent, method, verdict, outcome, answeredBy, count = 1, latencyMs }) {
      const about = { session, agent, surface: method, verdict, outcome, answeredBy, count };
      emit({ type: 'decision', at: now(), ...about, tookMs: latencyMs });
    },
    end: () => client?.end(),
    activity: {
      agentReady(process) {
        const at = now();
        const start = begun(process);
        if (start) emit({ type: 'agent-ready', at, start: start.start, agent: agentIn(process), tookMs: at - start.at });
      },
      toolCall(session, frame) {
        const toolCallId = stringIn(frame, 'update', 'toolCallId');
        if (toolCallId === undefined) return;
        const [kind, status] = [stringIn(frame, 'update', 'kind'), stringIn(frame, 'update', 'status')];
        emit({ type: 'tool-call', at: now(), session, toolCallId, kind, status });
      },
      usage(session, agent, frame, isInTurn) {
        const amount = numberIn(frame, 'update', 'cost', 'amount');
        const currency = stringIn(frame, 'update', 'cost', 'currency');
        if (amount === undefined || currency === undefined) return;
        const before = costs.get(session) ?? (isInTurn ? 0 : amount);
        costs.delete(session);
        costs.set(session, amount);
        if (costs.size > MAX_SESSIONS) costs.delete(costs.keys().next().value as string);
        if (amount > before) emit({ type: 'cost', at: now(), agent, amount: amount - before, currency });
      },
      toolCalled({ sessionId: session, agent, server, tool }) {
        const id = `${prefix}tool-${nextNumber()}`;
        emit({ type: 'tool', at: now(), id, session, agent, server, tool });
        return {
          traceparent: traceparent(id),
          end: (outcome) => emit({ type: 'tool-end', at: now(), id, agent, outcome }),
        };
      },
      delegated(session, id, agent) {
        emit({ type: 'delegation', at: now(), id, session, agent });
        return (stopReason) => emit({ type: 'delegation-end', at: now(), id, agent, stopReason });
      },
      patches(frame, requestId) {
        const value = contextFor && traceparent(prefix + requestId);
        return value === undefined ? NO_PATCHES : tracePatches(frame, value);
      },
      traceparent,
    },
  };
}
