// A turn, from its prompt to its end.
import { failure, type ProxyError } from '../../errors.ts';
import type { Review } from '../../review/review.ts';
import { COMMAND_NAME, readAgentCommand } from '../../router/config-options.ts';
import { detach, type Frame } from '../../wire/frame.ts';
import { memberAt, stringAt } from '../../wire/json-path.ts';
import { briefOf } from '../../wire/scanner/large-frame.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import type { Patch } from '../../wire/writer.ts';
import type { Agent, ForwardedCall } from '../agents/agent.ts';
import type { ClientRequest } from '../boundary.ts';
import type { Parts, ProxyParts } from '../parts.ts';
import { passAnswer, toNative, traceContextPatches } from '../rewrite.ts';
import { runAgentCommand } from '../sessions/change-agent.ts';
import { announceOptions } from '../sessions/config-options.ts';
import { record } from '../sessions/open-params.ts';
import type { Session } from '../sessions/session.ts';
import { lockAgent } from '../sessions/session-state.ts';
import { checkToolUse } from '../tools/check-tool-use.ts';
import { cancelTurns, endCancelled } from './cancel.ts';
import { endJoined } from './prompt-queue.ts';
import { renewCovers } from './renew-covers.ts';
import { watchForStalls } from './stall-watch.ts';
import { cancelToolCalls } from './tool-calls.ts';
import { plainContent, refusedContent } from './unsupported-content.ts';

/** A prompt that is nothing but our command is no longer than this. */
const MAX_COMMAND_BYTES = 4096;
const OUR_COMMAND = Buffer.from(`/${COMMAND_NAME}`);
const SPELLED_LETTER = Buffer.from('\\u');
const RESOURCE = Buffer.from('"resource"');
const MEDIA_TOKENS = { image: Buffer.from('"image"'), audio: Buffer.from('"audio"') };

export function prompt(proxy: ProxyParts, request: ClientRequest, session: Session, frame: Frame): void {
  const command = ourCommand(proxy, session, frame);
  if (command?.ok === false) return proxy.client.fail(request, failure('AMBIGUOUS', [command.reason]));
  if (command) {
    proxy.context.multiplexer?.promptBegan(request.idText, frame);
    return runAgentCommand(proxy, request, session, command.named);
  }
  const refused = mayHoldMedia(session, frame) ? refusedContent(session, frame) : undefined;
  if (refused) return proxy.client.fail(request, refused);
  session.turns.add(request);
  proxy.context.multiplexer?.promptBegan(request.idText, frame);
  watchForStalls(proxy, session);
  const { state } = session;
  const isFirst = state.kind === 'open' && !state.agentLocked;
  if (isFirst) session.advance(() => lockAgent(state));
  if (isFirst || state.kind === 'known') recordPrompt(proxy, session, isFirst);
  if (isFirst && !proxy.pool.single) announceOptions(proxy, session);
  session.shown?.prompt(frame);
  const call = new PromptCall(proxy, request, session);
  const { review } = proxy.context;
  if (review && session.agent.layer !== undefined) forwardOnLayer(review, session.agent.layer, session, detach(frame), call);
  else session.agent.forward(frame, call);
}

/** Before the agent hears the prompt: from now on nobody may take the session for an empty one. Deleted records stay deleted. */
function recordPrompt(proxy: Parts<'context'>, session: Session, isOpenedHere: boolean): void {
  const { log } = proxy.context;
  session.settings = undefined;
  if (!isOpenedHere && log.records().get(session.recordId)?.isUnprompted !== true) return;
  if (!log.wasHiddenLately(session.agent.name, session.nativeId)) record(proxy, session);
}

/** The agent first sees what was changed below its layer. */
function forwardOnLayer(review: Review, layer: string, session: Session, frame: Frame, call: PromptCall): void {
  void review
    .beginTurn(layer, session.publicId)
    .catch(() => {})
    .finally(() => call.forward(session.agent, frame));
}

// A class, so that all turns share functions: V8 discards the code of a closure with its last instance, and each turn had its own.
class PromptCall implements ForwardedCall {
  readonly method: string;
  readonly request: ClientRequest;
  readonly #proxy: ProxyParts;
  readonly #session: Session;
  readonly #native: (frame: Frame) => readonly Patch[];
  readonly #stopLimit: (() => void) | undefined;

  constructor(proxy: ProxyParts, request: ClientRequest, session: Session) {
    this.method = request.method;
    this.request = request;
    this.#proxy = proxy;
    this.#session = session;
    this.#native = toNative(session);
    this.#stopLimit = session.agent.spec.timeouts.promptMs > 0 ? limitPrompt(proxy, request, session) : undefined;
  }

  patches(frame: Frame): readonly Patch[] {
    const isRewritten = mayHoldResource(this.#proxy, frame) || this.#isDescribed(frame);
    const own = isRewritten ? [...this.#native(frame), ...plainContent(this.#proxy, this.#session, frame)] : this.#native(frame);
    const traced = traceContextPatches(this.#proxy, this.#session.agent, frame, this.request);
    return traced.length > 0 ? [...own, ...traced] : own;
  }

  /** Otherwise such a prompt was refused. */
  #isDescribed(frame: Frame): boolean {
    return this.#session.agent.spec.unsupportedContent === 'describe' && mayHoldMedia(this.#session, frame);
  }

  onAnswer(answer: Frame): void {
    this.#stopLimit?.();
    this.#session.lateReplay = undefined;
    this.#session.usedServers?.hostCalls?.endTurn();
    this.#proxy.context.enforcement?.turnEnding(this.#session);
    if (this.#session.agent.layer === undefined) return this.#pass(answer);
    const { agent } = this.#session;
    const kept = detach(answer);
    // Loaded only where there is a layer.
    void import('./settle-changes.ts').then(({ settleChanges }) =>
      settleChanges(this.#proxy, this.#session, agent, !this.request.isCancelled, () => this.#pass(kept)),
    );
  }

  #pass(answer: Frame): void {
    if (this.request.overdue) this.#endCancelled();
    else {
      // A single agent's own answer passes as it is.
      if (this.request.isCancelled && !this.request.isAnswered && !this.#proxy.pool.single) cancelToolCalls(this.#proxy, this.#session);
      passAnswer(this.#proxy, this.request, this.#session, answer);
      if (this.#session.queued) this.#endJoined(answer);
    }
    if (this.#session.agent.isContained && this.#session.turns.size === 0) renewCovers(this.#proxy, this.#session, true);
    if (this.#session.usedServers?.attachment) checkToolUse(this.#proxy, this.#session);
  }

  /** Later than the prompt came: it may have been cancelled by now. */
  forward(agent: Agent, frame: Frame): void {
    if (!this.request.isCancelled) return void agent.forward(frame, this);
    this.#stopLimit?.();
    this.#endCancelled();
  }

  #endCancelled(): void {
    endJoined(this.#proxy, this.#session, endCancelled(this.#proxy, this.request));
  }

  /** A cancelled turn ends as cancelled, even if its agent dies first. */
  onFail(error: ProxyError): void {
    this.#proxy.context.enforcement?.turnEnding(this.#session);
    this.#stopLimit?.();
    if (this.request.isCancelled) return this.#endCancelled();
    this.#proxy.client.fail(this.request, error);
    endJoined(this.#proxy, this.#session, error);
  }

  #endJoined({ outcome, bytes, body }: Frame): void {
    const stopReason = outcome === 'result' ? stringAt(bytes, memberAt(bytes, body, 'stopReason')) : undefined;
    endJoined(this.#proxy, this.#session, stopReason ?? 'end_turn');
  }
}

/** Cancels the turn if the prompt takes longer than `timeouts.prompt_ms`. Returns a function that stops the timer. */
function limitPrompt(proxy: Parts<'context' | 'client' | 'requests'>, request: ClientRequest, session: Session): () => void {
  const { name, spec } = session.agent;
  const { promptMs } = spec.timeouts;
  return proxy.context.clock.after(promptMs, () => {
    if (request.isAnswered || request.isCancelled) return;
    request.overdue = failure('PROMPT_TIMEOUT', [name, promptMs], { agent: name, limit: 'timeouts.prompt_ms' });
    cancelTurns(proxy, session);
  });
}

type Command = { readonly ok: true; readonly named: string } | { readonly ok: false; readonly reason: string };

/** A prompt that consists of `/agent` only: the proxy answers it, even while the session's agent is down. */
export function ourCommand(proxy: Parts<'pool'>, session: Session, frame: Frame): Command | undefined {
  if (proxy.pool.single || frame.end - frame.start >= MAX_COMMAND_BYTES || !mayBeCommand(frame) || session.options.hasAgentCommand)
    return undefined;
  const params = readBody(frame);
  if (!params.ok) return params;
  const named = readAgentCommand((params.value as { prompt?: unknown } | undefined)?.prompt);
  return named === undefined ? undefined : { ok: true, named };
}

/**
 * A cheap check: nearly no prompt is a command, and the others need no parse. The command appears literally, unless a letter is escaped.
 */
function mayBeCommand(frame: Frame): boolean {
  return contains(frame, OUR_COMMAND) || contains(frame, SPELLED_LETTER);
}

/** Cheap checks: nearly no prompt has either, and parsing takes longer than forwarding. */
const mayHoldResource = ({ pool }: Parts<'pool'>, frame: Frame): boolean => !pool.single && contains(briefOf(frame), RESOURCE);

function mayHoldMedia({ agent: { unsupportedMedia } }: Session, frame: Frame): boolean {
  if (unsupportedMedia.length === 0) return false;
  const brief = briefOf(frame);
  return unsupportedMedia.some((media) => contains(brief, MEDIA_TOKENS[media])) || contains(brief, SPELLED_LETTER);
}

/** Searches this frame only, not the rest of the chunk, which may hold hundreds more. */
const contains = ({ bytes, start, end }: Frame, wanted: Buffer): boolean => bytes.subarray(start, end).includes(wanted);
