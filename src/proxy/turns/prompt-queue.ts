// Prompts that arrive while a turn of their session runs: they wait, join the turn or are refused, as `while_running` says.
import { META_KEY } from '../../acp/shapes.ts';
import { failure, type ProxyError } from '../../errors.ts';
import { type WhileRunning, whileRunning } from '../../router/while-running.ts';
import { detach, type Frame, textOf } from '../../wire/frame.ts';
import { memberAt, stringAt } from '../../wire/json-path.ts';
import { parseLine, readBody } from '../../wire/scanner/strict-parse.ts';
import type { ClientRequest } from '../boundary.ts';
import type { Parts } from '../parts.ts';
import type { Session } from '../sessions/session.ts';
import { unsupportedIn } from './unsupported-content.ts';

const MAX_WAITING = 16;

type Waiting = {
  readonly request: ClientRequest;
  frame: Frame;
  /** Brings the frame into the session again, as if it had just arrived. */
  readonly enter: (frame: Frame) => void;
};

/** The prompts of one session that wait for its turn, and those that have joined it. */
export class PromptQueue {
  #waiting: Waiting[] = [];
  /** They get the answer of the turn that they have joined. */
  readonly #joined = new Set<ClientRequest>();
  /** The prompt that left the queue last: it does not wait again behind the others, and the next one follows its answer. */
  #released: ClientRequest | undefined;

  /** Without those that the client has withdrawn meanwhile. */
  get waiting(): readonly Waiting[] {
    this.#waiting = this.#waiting.filter(({ request }) => !request.isAnswered);
    return this.#waiting;
  }
  get bytes(): number {
    return this.#waiting.reduce((sum, { frame }) => sum + frame.end - frame.start, 0);
  }
  isReleased(request: ClientRequest): boolean {
    return this.#released === request;
  }
  get mayRelease(): boolean {
    return this.#released?.isAnswered !== false && this.waiting.length > 0;
  }
  add(waiting: Waiting): void {
    if (!this.isReleased(waiting.request)) return void this.#waiting.push(waiting);
    // Another turn has begun before it could.
    this.#released = undefined;
    this.#waiting.unshift(waiting);
  }
  /** The prompt that waited longest. */
  release(): Waiting | undefined {
    const [next] = this.waiting;
    this.#waiting = this.#waiting.slice(1);
    this.#released = next?.request;
    return next;
  }
  /** All of them, in order. */
  releaseAll(): readonly Waiting[] {
    const all = this.waiting;
    this.#waiting = [];
    return all;
  }
  /** Removes and returns those that have joined the turn, and those that wait and are not kept; the caller answers them. */
  takeAll(isKept: (request: ClientRequest) => boolean = () => false): readonly ClientRequest[] {
    const { waiting } = this;
    this.#waiting = waiting.filter(({ request }) => isKept(request));
    return [...this.takeJoined(), ...waiting.flatMap(({ request }) => (isKept(request) ? [] : [request]))];
  }
  join(request: ClientRequest): void {
    this.#joined.add(request);
  }
  get joined(): number {
    return this.#joined.size;
  }
  takeJoined(): readonly ClientRequest[] {
    const taken = [...this.#joined];
    this.#joined.clear();
    return taken;
  }
}

/** True if the prompt is not sent now: it waits, is on its way into the running turn, or has been refused. */
export function holdPrompt(
  proxy: Parts<'context' | 'pool' | 'client'>,
  request: ClientRequest,
  session: Session,
  frame: Frame,
  enter: (frame: Frame) => void,
): boolean {
  const { queued, agent } = session;
  const isRunning = session.turns.size > 0;
  if (!isRunning && (queued === undefined || queued.isReleased(request) || queued.waiting.length === 0)) return false;
  const how = whileRunning(wantedFor(proxy, session), agent.handshake?.result);
  switch (how === 'steer' && !isRunning ? 'queue' : how) {
    case 'pass':
      return false;
    case 'queue':
      queue(proxy, session, { request, frame: detach(frame), enter });
      return true;
    case 'steer':
      steer(proxy, session, { request, frame: detach(frame), enter });
      return true;
    case 'refuse':
      proxy.client.fail(request, failure('TURN_RUNNING', [agent.name], { agent: agent.name }));
      return true;
  }
}

/** A single agent on stdio gets what the client sends, unless the configuration says otherwise. */
function wantedFor({ context, pool }: Parts<'context' | 'pool'>, { agent }: Session): WhileRunning {
  return agent.spec.whileRunning ?? (pool.single && !context.queuesPrompts ? 'pass' : 'queue');
}

function queue(proxy: Parts<'context' | 'pool' | 'client'>, session: Session, waiting: Waiting): void {
  const { name } = session.agent;
  session.queued ??= new PromptQueue();
  const { frame, request } = waiting;
  if (session.queued.waiting.length >= MAX_WAITING)
    return proxy.client.fail(request, failure('PROMPT_QUEUE_FULL', [name, MAX_WAITING], { agent: name }));
  const { maxQueueBytes } = proxy.context;
  if (session.queued.bytes + frame.end - frame.start > maxQueueBytes)
    return proxy.client.fail(request, failure('SESSION_BACKLOG', [name, maxQueueBytes], { agent: name }));
  session.queued.add(waiting);
  startNext(proxy, session);
}

/** A request has been answered: once its session has no turn, the next prompt goes on, behind everything that the end of a turn does. */
export function startNext(proxy: Parts<'context' | 'pool'>, session: Session): void {
  const { queued } = session;
  const mayStart = () => queued?.mayRelease === true && session.turns.size === 0 && !proxy.pool.isClosed;
  if (!mayStart()) return;
  proxy.context.clock.after(0, () => {
    const next = mayStart() ? queued?.release() : undefined;
    next?.enter(next.frame);
  });
}

/** Asks the agent to take the prompt into its turn. It answers that there is no turn any more, or that it cannot: then the prompt waits. */
function steer(proxy: Parts<'context' | 'pool' | 'client'>, session: Session, waiting: Waiting): void {
  const { request, frame } = waiting;
  const { agent, nativeId } = session;
  const prompt = memberAt(frame.bytes, frame.body, 'prompt');
  // Content that the agent does not support is refused or described when its turn comes.
  if (!prompt || unsupportedIn(agent, frame)) return queue(proxy, session, waiting);
  const idle = '"_meta":{"steering":{"idleBehavior":"promptRequired"}}';
  const params = `{"sessionId":${JSON.stringify(nativeId)},"prompt":${textOf(frame.bytes, prompt)},${idle}}`;
  agent.request('_session/steering', params, {
    onFail: () => otherwise(),
    onAnswer(answer) {
      if (request.isAnswered) return; // withdrawn meanwhile
      const outcome = answer.outcome === 'result' ? stringAt(answer.bytes, memberAt(answer.bytes, answer.body, 'outcome')) : undefined;
      if (outcome === 'promptRequired') return waiting.enter(frame);
      if (outcome !== 'injected' && outcome !== 'startedNewTurn') return otherwise();
      session.queued ??= new PromptQueue();
      session.queued.join(request);
      proxy.context.multiplexer?.promptBegan(request.idText, frame);
      if (session.turns.size === 0) endJoined(proxy, session, 'end_turn');
    },
  });
  function otherwise(): void {
    if (!request.isAnswered) queue(proxy, session, waiting);
  }
}

/** The turn has ended: those that joined it get its stop reason, or its error. */
export function endJoined(proxy: Parts<'client'>, session: Session, end: string | ProxyError): void {
  for (const request of session.queued?.takeJoined() ?? [])
    if (typeof end !== 'string') proxy.client.fail(request, end);
    else proxy.client.succeed(request, JSON.stringify({ stopReason: end, _meta: { [META_KEY]: { joinedTurn: true } } }));
}

export type QueuedPrompt = { readonly sessionId: string; readonly id: string; readonly text: string };

/** The prompts that wait, for people. */
export function queuedPrompts({ registry }: Parts<'registry'>): readonly QueuedPrompt[] {
  return [...registry.all()].flatMap(({ publicId, queued }) =>
    (queued?.waiting ?? []).map(({ request, frame }) => ({ sessionId: publicId, id: request.idText, text: textIn(frame) })),
  );
}

/** How many prompts of a session the agent has: those whose turns run, and those that have joined a turn. */
export function runningPrompts({ registry }: Parts<'registry'>, sessionId: string): number {
  const session = registry.get(sessionId);
  return session ? session.turns.size + (session.queued?.joined ?? 0) : 0;
}

/** Replaces the text of a waiting prompt, or removes the prompt. False when it no longer waits. */
export function changeQueued(
  proxy: Parts<'context' | 'registry' | 'client'>,
  { sessionId, id }: Pick<QueuedPrompt, 'sessionId' | 'id'>,
  text: string | undefined,
): boolean {
  const one = proxy.registry.get(sessionId)?.queued?.waiting.find(({ request }) => request.idText === id);
  if (!one) return false;
  if (text === undefined) {
    proxy.client.fail(one.request, failure('CANCELLED', [one.request.method]));
    return true;
  }
  const message = JSON.parse(one.frame.bytes.toString('utf8', one.frame.start, one.frame.end)) as { params: { prompt: unknown } };
  const others = blocksOf(one.frame).filter(({ type }) => type !== 'text');
  message.params.prompt = [{ type: 'text', text }, ...others];
  const frame = parseLine(`${JSON.stringify(message)}\n`);
  if (!frame) return false;
  one.frame = frame;
  proxy.context.transcripts?.promptChanged(sessionId, id, text);
  return true;
}

const textIn = (frame: Frame): string =>
  blocksOf(frame)
    .flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
    .join('\n');

function blocksOf(frame: Frame): readonly { readonly type?: unknown; readonly text?: unknown }[] {
  const params = readBody(frame);
  const prompt = params.ok ? (params.value as { prompt?: unknown } | undefined)?.prompt : undefined;
  return Array.isArray(prompt) ? prompt.filter((block) => typeof block === 'object' && block !== null) : [];
}
