// A turn, from its prompt to its end.
import { failure, type ProxyError } from '../../errors.ts';
import { offers } from '../../router/capabilities.ts';
import { COMMAND_NAME, readAgentCommand } from '../../router/config-options.ts';
import type { Frame } from '../../wire/frame.ts';
import { elements, memberAt } from '../../wire/json-path.ts';
import { briefOf } from '../../wire/scanner/large-frame.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import type { Patch } from '../../wire/writer.ts';
import type { ForwardedCall } from '../agents/agent.ts';
import type { ClientRequest } from '../boundary.ts';
import type { Parts, ProxyParts } from '../parts.ts';
import { passAnswer, toNative } from '../rewrite.ts';
import { agentByCommand } from '../sessions/change-agent.ts';
import { announceOptions } from '../sessions/config-options.ts';
import type { Session } from '../sessions/session.ts';
import { lockAgent } from '../sessions/session-state.ts';
import { lookForTools } from '../tools/confirm-tools.ts';
import { CANCELLED } from './cancel.ts';
import { degradeResource } from './resource-as-text.ts';
import { watchForStalls } from './stall-watch.ts';

/** A prompt that is nothing but our command is no longer than this. */
const MAX_COMMAND_BYTES = 4096;
const OUR_COMMAND = Buffer.from(`/${COMMAND_NAME}`);
const SPELLED_LETTER = Buffer.from('\\u');
const RESOURCE = Buffer.from('"resource"');

export function prompt(proxy: ProxyParts, request: ClientRequest, session: Session, frame: Frame): void {
  const command = ourCommand(proxy, session, frame);
  if (command?.ok === false) return proxy.client.fail(request, failure('AMBIGUOUS', [command.reason]));
  if (command) return agentByCommand(proxy, request, session, command.named);
  session.turns.add(request);
  watchForStalls(proxy, session);
  const { state } = session;
  const isFirst = state.kind === 'open' && !state.agentLocked;
  if (isFirst) session.advance(() => lockAgent(state));
  if (isFirst && !proxy.pool.single) announceOptions(proxy, session);
  session.agent.forward(frame, new PromptCall(proxy, request, session));
}

// A class, so that all turns share functions: V8 discards the code of a closure with its last instance, and each turn had its own.
class PromptCall implements ForwardedCall {
  readonly method: string;
  readonly request: ClientRequest;
  readonly #proxy: ProxyParts;
  readonly #session: Session;
  readonly #native: (frame: Frame) => readonly Patch[];

  constructor(proxy: ProxyParts, request: ClientRequest, session: Session) {
    this.method = request.method;
    this.request = request;
    this.#proxy = proxy;
    this.#session = session;
    this.#native = toNative(session);
  }

  patches(frame: Frame): readonly Patch[] {
    return [...this.#native(frame), ...plainer(this.#proxy, this.#session, frame)];
  }

  onAnswer(answer: Frame): void {
    passAnswer(this.#proxy, this.request, this.#session, answer);
    if (this.#session.usedServers?.attachment) lookForTools(this.#proxy, this.#session);
  }

  /** A cancelled turn ends as cancelled, even if its agent dies first. */
  onFail(error: ProxyError): void {
    if (this.request.isCancelled) this.#proxy.client.succeed(this.request, CANCELLED);
    else this.#proxy.client.fail(this.request, error);
  }
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
  return holds(frame, OUR_COMMAND) || holds(frame, SPELLED_LETTER);
}

/** Converts embedded resources for an agent that does not support them although another does. */
function plainer(proxy: Parts<'pool'>, session: Session, frame: Frame): Patch[] {
  if (proxy.pool.single || !mayHoldResource(frame) || offers(session.agent.handshake?.result, 'promptCapabilities', 'embeddedContext'))
    return [];
  const blocks = memberAt(frame.bytes, frame.body, 'prompt');
  if (!blocks || !readBody(frame).ok) return [];
  return elements(frame.bytes, blocks.start).flatMap((span) => {
    const instead = degradeResource(JSON.parse(frame.bytes.toString('utf8', span.start, span.end)));
    return instead ? [{ span, text: JSON.stringify(instead) }] : [];
  });
}

/** A cheap check: nearly no prompt has one, and parsing takes longer than forwarding. */
const mayHoldResource = (frame: Frame): boolean => holds(briefOf(frame), RESOURCE);

/** Searches this frame only, not the rest of the chunk, which may hold hundreds more. */
const holds = ({ bytes, start, end }: Frame, wanted: Buffer): boolean => bytes.subarray(start, end).includes(wanted);
