// Prompts that arrive while a turn of their session runs: they wait, join the turn or are refused, as `while_running` says.
import { META_KEY } from '../../acp/shapes.ts';
import { failure, type ProxyError } from '../../errors.ts';
import { canSteer, type WhileRunning, whileRunning } from '../../router/while-running.ts';
import { detach, type Frame, textOf } from '../../wire/frame.ts';
import { memberAt, stringAt } from '../../wire/json-path.ts';
import { parseLine, readBody } from '../../wire/scanner/strict-parse.ts';
import type { DescribedAgent } from '../api.ts';
import type { ClientRequest } from '../boundary.ts';
import type { Parts } from '../parts.ts';
import type { Session } from '../sessions/session.ts';
import { CANCELLED } from './cancel.ts';
import { unsupportedIn } from './unsupported-content.ts';

const MAX_WAITING = 16;

type Held = {
  readonly request: ClientRequest;
  frame: Frame;
  /** Brings the frame into the session again, as if it had just arrived. */
  readonly enter: (frame: Frame) => void;
  /** The agent is asked to take it into the running turn, and has not answered. Otherwise it waits. */
  isOffered: boolean;
};

/** The prompts of one session that the agent does not have yet, and those that have joined its turn. */
export class PromptQueue {
  /** In the order in which they arrived. */
  #held: Held[] = [];
  /** They get the answer of the turn that they have joined. */
  readonly #joined = new Set<ClientRequest>();
  /** The prompt that left the queue last: it does not wait again behind the others, and the next one follows its answer. */
  #released: ClientRequest | undefined;

  /** Without those that the client has withdrawn meanwhile. */
  get #open(): readonly Held[] {
    this.#held = this.#held.filter(({ request }) => !request.isAnswered);
    return this.#held;
  }
  get waiting(): readonly Held[] {
    return this.#open.filter(({ isOffered }) => !isOffered);
  }
  get isEmpty(): boolean {
    return this.#open.length === 0;
  }
  get bytes(): number {
    return this.#held.reduce((sum, { frame }) => sum + frame.end - frame.start, 0);
  }
  isReleased(request: ClientRequest): boolean {
    return this.#released === request;
  }
  /** No prompt overtakes one that is offered to the agent. */
  get mayRelease(): boolean {
    return this.#released?.isAnswered !== false && this.#open[0]?.isOffered === false;
  }
  add(held: Held): void {
    if (!this.isReleased(held.request)) return void this.#held.push(held);
    // Another turn has begun before it could.
    this.#released = undefined;
    this.#held.unshift(held);
  }
  /** The prompt that waited longest. */
  release(): Held | undefined {
    const [next] = this.#open;
    this.#held = this.#held.slice(1);
    this.#released = next?.request;
    return next;
  }
  /** All that wait, in order. */
  releaseAll(): readonly Held[] {
    const all = this.waiting;
    this.#held = this.#held.filter(({ isOffered }) => isOffered);
    return all;
  }
  /** Removes and returns those that have joined the turn, and the others that are not kept; the caller answers them. */
  takeAll(isKept: (request: ClientRequest) => boolean = () => false): readonly ClientRequest[] {
    const open = this.#open;
    this.#held = open.filter(({ request }) => isKept(request));
    return [...this.takeJoined(), ...open.flatMap(({ request }) => (isKept(request) ? [] : [request]))];
  }
  /** The agent has taken an offered prompt into its turn. */
  join(held: Held): void {
    this.#held = this.#held.filter((other) => other !== held);
    this.#joined.add(held.request);
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
  if (!isRunning && (queued === undefined || queued.isReleased(request) || queued.isEmpty)) return false;
  const how = whileRunning(wantedFor(proxy, session), agent.handshake?.result, requestedHandling(frame));
  switch (how === 'steer' && !isRunning ? 'queue' : how) {
    case 'pass':
      return false;
    case 'queue':
      queue(proxy, session, { request, frame: detach(frame), enter, isOffered: false });
      return true;
    case 'steer':
      steer(proxy, session, { request, frame: detach(frame), enter, isOffered: true });
      return true;
    case 'refuse':
      proxy.client.fail(request, failure('TURN_RUNNING', [agent.name], { agent: agent.name }));
      return true;
  }
}

function wantedFor(proxy: Parts<'context' | 'pool'>, { agent }: Pick<Session, 'agent'>): WhileRunning {
  return agent.spec.whileRunning ?? defaultWhileRunning(proxy);
}

/** A single agent on stdio gets what the client sends, unless the configuration says otherwise. */
function defaultWhileRunning({ context, pool }: Parts<'context' | 'pool'>): WhileRunning {
  return pool.single && !context.queuesPrompts ? 'pass' : 'queue';
}

/** The agents, and what becomes of a prompt that arrives during one of their turns. */
export function describedAgents(proxy: Parts<'context' | 'pool'>): Readonly<Record<string, DescribedAgent>> {
  const wanted = defaultWhileRunning(proxy);
  return Object.fromEntries(
    Object.entries(proxy.pool.described()).map(([id, one]) => [
      id,
      {
        ...one,
        whileRunning: whileRunning(one.whileRunning ?? wanted, one.answer),
        canSteer: one.whileRunning !== 'refuse' && canSteer(one.answer),
      },
    ]),
  );
}

/** `_meta["acp-switchboard"].whileRunning` of the prompt. */
const requestedHandling = ({ bytes, body }: Frame): string | undefined =>
  stringAt(bytes, memberAt(bytes, body, '_meta', META_KEY, 'whileRunning'));

function queue(proxy: Parts<'context' | 'pool' | 'client'>, session: Session, held: Held): void {
  session.queued ??= new PromptQueue();
  const { frame, request } = held;
  if (session.queued.waiting.length >= MAX_WAITING) return refuseOne(proxy, session, request);
  const { maxQueueBytes } = proxy.context;
  const { name } = session.agent;
  if (session.queued.bytes + frame.end - frame.start > maxQueueBytes)
    return proxy.client.fail(request, failure('SESSION_BACKLOG', [name, maxQueueBytes], { agent: name }));
  session.queued.add(held);
  startNext(proxy, session);
}

function refuseOne({ client }: Parts<'client'>, { agent: { name } }: Session, request: ClientRequest): void {
  client.fail(request, failure('PROMPT_QUEUE_FULL', [name, MAX_WAITING], { agent: name }));
}

/** A request has been answered: once its session has no turn, the next prompt goes on, after everything that the end of a turn does. */
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
function steer(proxy: Parts<'context' | 'pool' | 'client'>, session: Session, held: Held): void {
  const { request, frame } = held;
  const { agent, nativeId } = session;
  const prompt = memberAt(frame.bytes, frame.body, 'prompt');
  // Content that the agent does not support is refused or described when its turn comes.
  if (!prompt || unsupportedIn(agent, frame)) return queue(proxy, session, { ...held, isOffered: false });
  session.queued ??= new PromptQueue();
  const { queued } = session;
  queued.add(held);
  const idle = '"_meta":{"steering":{"idleBehavior":"promptRequired"}}';
  const params = `{"sessionId":${JSON.stringify(nativeId)},"prompt":${textOf(frame.bytes, prompt)},${idle}}`;
  agent.request('_session/steering', params, {
    onFail: wait,
    onAnswer(answer) {
      if (request.isAnswered) return; // withdrawn or cancelled meanwhile
      const outcome = answer.outcome === 'result' ? stringAt(answer.bytes, memberAt(answer.bytes, answer.body, 'outcome')) : undefined;
      if (outcome !== 'injected' && outcome !== 'startedNewTurn') return wait();
      queued.join(held);
      proxy.context.multiplexer?.promptBegan(request.idText, frame);
      if (session.turns.size === 0) endJoined(proxy, session, 'end_turn');
    },
  });
  /** In its place. Without a turn it begins one now. */
  function wait(): void {
    held.isOffered = false;
    if (!request.isAnswered && queued.waiting.length > MAX_WAITING) return refuseOne(proxy, session, request);
    startNext(proxy, session);
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
    // Its client did not withdraw the request, so this is no error: the turn is cancelled, as by another client's session/cancel.
    proxy.client.succeed(one.request, CANCELLED);
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
