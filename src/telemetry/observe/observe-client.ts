// Observes a client's connection: its requests and their answers, the first update of a turn, and permission requests. Other frames are only
// counted.
import type { Frame } from '../../wire/frame.ts';
import { memberAt, stringAt } from '../../wire/json-path.ts';
import { type Observer, patchedId } from '../../wire/observer.ts';
import type { FrameBatch } from '../../wire/scanner/frame-batch.ts';
import { decodedOf } from '../../wire/scanner/interned.ts';
import { briefOf, idTextOf, sessionIdOf, stringIn } from '../../wire/scanner/large-frame.ts';
import { parseLine } from '../../wire/scanner/strict-parse.ts';
import type { Patch } from '../../wire/writer.ts';
import type { EmitOfConnection, PermissionOutcome, Usage } from '../events.ts';
import { readTraceparent } from '../traces/trace-context.ts';
import type { FrameCounter } from './count-frames.ts';

export type ClientObserverDeps = {
  readonly counter: FrameCounter;
  readonly emit: EmitOfConnection;
  readonly now: () => number;
  /** Distinguishes this client's ids from those of other clients. */
  readonly prefix: string;
  readonly agentOf: (sessionId: string | undefined) => string | undefined;
};

type Pending = { readonly method: string; readonly sessionId: string | undefined; readonly at: number; hasUpdate: boolean };
type Asked = { readonly sessionId: string | undefined; readonly at: number; readonly kinds: ReadonlyMap<string, string> };

/** A peer that never answers must not fill the memory. */
const MAX_PENDING = 10_000;
/** Requests with a span, whose trace context counts. */
const WITH_CONTEXT = new Set(['session/prompt', 'session/new', 'session/load', 'session/resume', 'session/fork']);
const NO_PATCHES: readonly Patch[] = [];
/** How the proxy writes its own lines. */
const OWN_WITH_ID = '{"jsonrpc":"2.0","id":';
const OWN_CANCEL = '{"jsonrpc":"2.0","method":"$/cancel_request"';

/** `end`: the client is gone, and answers nothing any more. */
export function observeClient({ counter, emit, now, prefix, agentOf }: ClientObserverDeps): Observer & { end(): void } {
  const pending = new Map<string, Pending>();
  const asked = new Map<string, Asked>();
  /** Prompts without an update so far, by session. */
  const awaited = new Map<string, string>();

  function requested(frame: Frame): void {
    const id = idTextOf(frame);
    if (pending.size >= MAX_PENDING || pending.has(id)) return;
    const { method = '' } = frame;
    const [sessionId, at] = [sessionIdOf(frame), now()];
    const one = { method, sessionId, at, hasUpdate: false };
    pending.set(id, one);
    if (method === 'session/prompt' && sessionId !== undefined) awaited.set(sessionId, id);
    const parent = WITH_CONTEXT.has(method)
      ? readTraceparent(stringIn(frame, '_meta', 'traceparent'), stringIn(frame, '_meta', 'tracestate'))
      : undefined;
    emit({ type: 'request', at, id: prefix + id, method, sessionId, agent: agentOf(sessionId), parent });
  }
  function answered(id: string, frame: Frame, isOwn: boolean): void {
    const one = pending.get(id);
    if (!one) return;
    pending.delete(id);
    const sessionId = one.sessionId ?? sessionIdOf(frame);
    if (sessionId !== undefined && awaited.get(sessionId) === id) awaited.delete(sessionId);
    const isPrompt = one.method === 'session/prompt';
    const isError = frame.outcome !== 'result';
    const at = now();
    emit({
      type: 'answer',
      at,
      id: prefix + id,
      method: one.method,
      sessionId,
      agent: agentOf(sessionId),
      error: isError ? (numberIn(frame, 'code') ?? 0) : undefined,
      reason: isError && isOwn ? stringIn(frame, 'data', 'reason') : undefined,
      stopReason: isPrompt && !isError ? stringIn(frame, 'stopReason') : undefined,
      usage: isPrompt && !isError ? usageIn(frame) : undefined,
      tookMs: at - one.at,
    });
  }
  function updated(sessionId: string | undefined): void {
    const id = sessionId === undefined ? undefined : awaited.get(sessionId);
    const one = id === undefined ? undefined : pending.get(id);
    if (!one || id === undefined || sessionId === undefined) return;
    awaited.delete(sessionId);
    const at = now();
    emit({ type: 'first-update', at, id: prefix + id, agent: agentOf(sessionId), afterMs: at - one.at });
  }
  function askedClient(id: string, frame: Frame, sessionId: string | undefined): void {
    if (frame.method !== 'session/request_permission' || asked.size >= MAX_PENDING) return;
    const at = now();
    asked.set(id, { sessionId, at, kinds: kindsIn(frame) });
    emit({ type: 'permission', at, id: prefix + id, sessionId, toolCallId: stringIn(frame, 'toolCall', 'toolCallId') });
  }
  function endAsked(id: string, outcomeOf: (one: Asked) => PermissionOutcome): void {
    const one = asked.get(id);
    if (!one) return;
    asked.delete(id);
    const at = now();
    emit({
      type: 'permission-end',
      at,
      id: prefix + id,
      agent: agentOf(one.sessionId),
      outcome: outcomeOf(one),
      waitedMs: at - one.at,
    });
  }
  function sentFrame(frame: Frame, patches: readonly Patch[], isOwn = false): void {
    if (frame.kind === 'notification') {
      if (awaited.size > 0 && frame.method === 'session/update') updated(sentSession(frame, patches));
    } else if (frame.kind === 'response') answered(patchedId(frame, patches) ?? '', frame, isOwn);
    else askedClient(patchedId(frame, patches) ?? '', frame, sentSession(frame, patches));
  }

  return {
    received(frame) {
      counter.received(frame.end - frame.start);
      if (frame.kind === 'request') requested(frame);
      else if (frame.kind === 'response' && asked.size > 0) endAsked(idTextOf(frame), (one) => outcomeIn(frame, one.kinds));
    },
    receivedBatch: counter.receivedBatch,
    sent(frame, patches) {
      counter.sent(frame.end - frame.start, patches);
      sentFrame(frame, patches);
    },
    sentBatch(batch) {
      counter.sentBatch(batch);
      if (awaited.size > 0 && batch.first.method === 'session/update') for (const sessionId of sessionsIn(batch)) updated(sessionId);
    },
    sentLine(line) {
      counter.sentLine(line);
      const isWithId = line.startsWith(OWN_WITH_ID);
      if (!isWithId && !line.startsWith(OWN_CANCEL)) return;
      const frame = parseLine(line);
      if (!frame) return;
      if (isWithId) sentFrame(frame, NO_PATCHES, true);
      else endAsked(String(numberIn(frame, 'requestId')), () => 'cancelled');
    },
    refused: counter.refused,
    end() {
      for (const id of [...asked.keys()]) endAsked(id, () => 'cancelled');
      for (const [id, { method, sessionId }] of pending)
        emit({ type: 'abandoned', at: now(), id: prefix + id, method, agent: agentOf(sessionId) });
      pending.clear();
      awaited.clear();
    },
  };
}

/** The session id that the client reads: a patch may have replaced the agent's. */
function sentSession(frame: Frame, patches: readonly Patch[]): string | undefined {
  const { sessionId } = frame;
  const patch = sessionId && patches.find(({ span }) => span.start === sessionId.start);
  return patch ? (JSON.parse(patch.text) as string) : sessionIdOf(frame);
}

function sessionsIn({ first, sessions }: FrameBatch): ReadonlySet<string | undefined> {
  return new Set(sessions ? sessions.map(decodedOf) : [sessionIdOf(first)]);
}

export function numberIn(frame: Frame, ...path: readonly string[]): number | undefined {
  const { bytes, body } = briefOf(frame);
  const span = memberAt(bytes, body, ...path);
  const value = span ? Number(bytes.toString('utf8', span.start, span.end)) : Number.NaN;
  return Number.isFinite(value) ? value : undefined;
}

const USAGE = ['inputTokens', 'outputTokens', 'cachedReadTokens', 'cachedWriteTokens'] as const;

function usageIn(frame: Frame): Usage | undefined {
  const found = USAGE.flatMap((name) => {
    const value = numberIn(frame, 'usage', name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return found.length > 0 ? Object.fromEntries(found) : undefined;
}

/** The kind of each option by its id. */
function kindsIn(frame: Frame): ReadonlyMap<string, string> {
  const { bytes, body } = frame;
  const span = memberAt(bytes, body, 'options');
  const options: unknown = span ? JSON.parse(bytes.toString('utf8', span.start, span.end)) : [];
  return new Map((Array.isArray(options) ? options : []).map((one) => [String(one?.optionId), String(one?.kind)]));
}

function outcomeIn(frame: Frame, kinds: ReadonlyMap<string, string>): PermissionOutcome {
  if (frame.outcome !== 'result') return 'error';
  const { bytes, body } = frame;
  const option = stringAt(bytes, memberAt(bytes, body, 'outcome', 'optionId'));
  if (option === undefined) return 'cancelled';
  return kinds.get(option)?.startsWith('allow') ? 'allowed' : 'rejected';
}
