// The session's own settings, as far as they are ours: the `agent` option, the `/agent` command, and modes that stand as options.
import { failure, type ProxyError, shown } from '../../errors.ts';
import { offers } from '../../router/capabilities.ts';
import { completeList, isAgentOption, standInFor, withMode, withModel } from '../../router/config-options.ts';
import type { Frame } from '../../wire/frame.ts';
import { memberAt, stringAt } from '../../wire/json-path.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import type { Agent } from '../agents/agent.ts';
import type { OpenRequest } from '../client/client-connection.ts';
import { updateLine } from '../messages.ts';
import type { ProxyParts } from '../parts.ts';
import { errorPatches, forward, passAnswer } from '../rewrite.ts';
import { serversFor } from '../tools/session-servers.ts';
import { endRequests } from '../turns/cancel.ts';
import { failToolCalls } from '../turns/tool-calls.ts';
import { announceCommand, announceOptions, choiceOf, modeChanged, modelChanged, readOptions, withOurOptions } from './config-options.ts';
import { release, releaseAll } from './early-frames.ts';
import { markEnded, track, untrack } from './find-session.ts';
import { missingFor, noteServers, record } from './open-params.ts';
import { notOpened, openingLimitMs } from './opening-limit.ts';
import { type Session, toNative, toPublic } from './session.ts';

/** `refusal` is the other agent's own answer, when it gave one. */
type Done = {
  readonly changed: () => void;
  readonly failed: (error: ProxyError, refusal?: { readonly agent: Agent; readonly answer: Frame }) => void;
};

export function setConfigOption(proxy: ProxyParts, request: OpenRequest, session: Session, frame: Frame): void {
  request.session = session;
  if (proxy.pool.single) return forward(proxy, request, session, frame);
  const params = readBody(frame);
  if (!params.ok) return proxy.client.fail(request, failure('AMBIGUOUS', [params.reason]));
  const { configId, value } = (params.value ?? {}) as { configId?: unknown; value?: unknown };
  if (isAgentOption(session.options, configId)) {
    const list = () => proxy.client.succeed(request, `{"configOptions":${completeList(session.options, choiceOf(proxy, session))}}`);
    return changeAgent(proxy, request, session, value, {
      changed: list,
      failed: (error, refusal) =>
        refusal
          ? proxy.client.pass(request, refusal.answer, errorPatches(proxy, refusal.agent, refusal.answer))
          : proxy.client.fail(request, error),
    });
  }
  const standsFor = typeof configId === 'string' ? standInFor(session.options, configId) : undefined;
  if (standsFor && typeof value === 'string') return setStandIn(proxy, request, session, standsFor, value);
  const { agent } = session;
  agent.forward(frame, {
    method: request.method,
    request,
    patches: toNative(session),
    onFail: (error) => proxy.client.fail(request, error),
    onAnswer(answer) {
      if (session.agent !== agent) return moved(proxy, request, session);
      if (answer.outcome !== 'result' || !answer.body) return passAnswer(proxy, request, session, answer);
      session.options = { ...session.options, ...pickOwn(answer) };
      proxy.client.pass(request, answer, [...toPublic(session, answer), ...withOurOptions(proxy, session, answer.bytes, answer.body)]);
    },
  });
}

/** An answer that came after the session had gone to another agent says nothing about what it is now. */
function moved(proxy: ProxyParts, request: OpenRequest, session: Session): void {
  const data = { agent: session.agent.name, sessionId: session.publicId };
  proxy.client.fail(request, failure('PARAMS', [request.method, `the session has moved to agent "${session.agent.name}" meanwhile`], data));
}

function pickOwn(answer: Frame) {
  const { own, ownIds } = readOptions(answer);
  return own === undefined ? {} : { own, ownIds };
}

/** An option that stands for the agent's modes or models is set the way those are. */
function setStandIn(proxy: ProxyParts, request: OpenRequest, session: Session, standsFor: 'mode' | 'model', value: string): void {
  const { nativeId: sessionId } = session;
  const [method, params] =
    standsFor === 'mode'
      ? (['session/set_mode', { sessionId, modeId: value }] as const)
      : (['session/set_model', { sessionId, modelId: value }] as const);
  const { agent } = session;
  agent.request(method, JSON.stringify(params), {
    onFail: (error) => proxy.client.fail(request, error),
    onAnswer(answer) {
      if (session.agent !== agent) return moved(proxy, request, session);
      if (answer.outcome === 'error') return proxy.client.pass(request, answer, errorPatches(proxy, session.agent, answer, session));
      session.options = standsFor === 'mode' ? withMode(session.options, value) : withModel(session.options, value);
      proxy.client.succeed(request, `{"configOptions":${completeList(session.options, choiceOf(proxy, session))}}`);
    },
  });
}

/** The editor sets a mode or a model the old way: the option that stands for it follows. */
export function setTheOldWay(proxy: ProxyParts, request: OpenRequest, session: Session, frame: Frame): void {
  request.session = session;
  if (proxy.pool.single) return forward(proxy, request, session, frame);
  const params = readBody(frame);
  if (!params.ok) return proxy.client.fail(request, failure('AMBIGUOUS', [params.reason]));
  const { modeId, modelId } = (params.value ?? {}) as { modeId?: unknown; modelId?: unknown };
  const { agent } = session;
  agent.forward(frame, {
    method: request.method,
    request,
    patches: toNative(session),
    onFail: (error) => proxy.client.fail(request, error),
    onAnswer(answer) {
      if (session.agent !== agent) return moved(proxy, request, session);
      passAnswer(proxy, request, session, answer);
      if (answer.outcome !== 'result') return;
      if (typeof modeId === 'string') modeChanged(proxy, session, modeId);
      if (typeof modelId === 'string') modelChanged(proxy, session, modelId);
    },
  });
}

export function agentByCommand(proxy: ProxyParts, request: OpenRequest, session: Session, named: string): void {
  const say = (text: string) => {
    const content = JSON.stringify({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
    proxy.client.line(updateLine(session.publicId, content));
    proxy.client.succeed(request, '{"stopReason":"end_turn"}');
  };
  const others = proxy.pool.choice.agents.filter((name) => name !== session.agent.name).join(', ');
  if (named === '') {
    const canChange = !session.isStarted;
    return say(
      `This session's agent is ${session.agent.name}. ${canChange ? `Type /agent NAME to use another: ${others}.` : `Open a new session to use another: ${others}.`}`,
    );
  }
  session.turns.add(request); // a turn like any other, so that a cancel or a close ends it
  changeAgent(proxy, request, session, named, {
    failed: (error) => say(error.message),
    changed() {
      announceOptions(proxy, session);
      say(`This session's agent is now ${session.agent.name}.`);
    },
  });
}

/**
 * Opens the session anew at another agent, under the id the editor knows. The lane is held meanwhile, so what follows goes to the new one.
 * When the request is cancelled or taken back, the session stays where it is, and what the other agent opens is closed there.
 */
function changeAgent(proxy: ProxyParts, request: OpenRequest, session: Session, wanted: unknown, done: Done): void {
  const chosen = typeof wanted === 'string' ? proxy.pool.get(wanted) : undefined;
  if (!chosen)
    return done.failed(
      failure('AGENT_UNKNOWN', [shown(wanted), proxy.pool.choice.agents.join(', ')], { agent: wanted, agents: proxy.pool.choice.agents }),
    );
  const { agent: before, openParams } = session;
  if (chosen.name === before.name) return done.changed(); // editors set saved values again, equal or not
  if (session.isStarted || openParams === undefined)
    return done.failed(failure('AGENT_LOCKED', [before.name, chosen.name], { agent: before.name, sessionId: session.publicId }));
  const next = proxy.pool.place(chosen);
  session.toAgent.hold(request);
  next.openings++;
  let isWanted = true;
  let isOpening = true;
  /** Nobody waits for the other agent any more. */
  const over = (then: () => void) => {
    isWanted = false;
    request.abandon = undefined;
    callOffTimer();
    then();
    session.toAgent.release();
  };
  /** The other agent has said what it had to say. */
  const opened = (then: () => void) => {
    if (!isOpening) return;
    isOpening = false;
    next.openings--;
    then();
    releaseAll(proxy, next);
    proxy.pool.vacate(next);
  };
  const giveUp = (then: () => void) =>
    over(() => {
      then();
      if (next.spec.isolation === 'session') opened(() => {}); // the process was for this alone
    });
  const failed = (error: ProxyError) => opened(() => isWanted && over(() => done.failed(error)));
  const callOffTimer = proxy.context.clock.after(openingLimitMs(next), () => giveUp(() => done.failed(notOpened(next))));
  request.abandon = () => giveUp(() => {});
  next.whenReady(() => {
    if (!isWanted) return opened(() => {});
    const missing = missingFor(next, openParams);
    if (missing) return failed(failure('CAPABILITY_MISSING', ['session/new', next.name, missing], { agent: next.name }));
    const refused = proxy.context.enforcement?.refusesServers(proxy, next, openParams);
    if (refused) return failed(refused);
    noteServers(next, openParams);
    serversFor(proxy, next, openParams, (servers) =>
      next.request('session/new', servers.text(openParams, 'session/new'), {
        onFail(error) {
          servers.revoke();
          failed(error);
        },
        onAnswer(answer) {
          opened(() => (isWanted ? over(() => moveTo(proxy, session, next, answer, done)) : discard(proxy, next, answer)));
          if (session.agent === next) servers.bind(session);
          else servers.revoke();
        },
      }),
    );
  }, failed);
}

/** A session that was asked for and is not wanted any more. */
export function discard(proxy: ProxyParts, agent: Agent, answer: Frame): void {
  const nativeId = answer.outcome === 'result' ? stringAt(answer.bytes, answer.sessionId) : undefined;
  if (nativeId !== undefined) discardSession(proxy, agent, nativeId);
}

export function discardSession(proxy: ProxyParts, agent: Agent, nativeId: string): void {
  const known = agent.sessions.get(nativeId);
  if (known && !known.isDiscovered) return; // the editor has found it meanwhile, and uses it
  if (known) {
    endRequests(proxy, known); // its id may be another's by the time of an answer
    untrack(proxy, known);
  }
  markEnded(agent, nativeId);
  closeAt(agent, nativeId);
}

function moveTo(proxy: ProxyParts, session: Session, next: Agent, answer: Frame, done: Done): void {
  const nativeId = answer.outcome === 'result' ? stringAt(answer.bytes, answer.sessionId) : undefined;
  if (nativeId === undefined) {
    const message = stringAt(answer.bytes, memberAt(answer.bytes, answer.body, 'message')) ?? 'it did not open the session';
    const error = failure('AGENT_REFUSED', [next.name, 'session/new', message], { agent: next.name });
    return answer.outcome === 'error' ? done.failed(error, { agent: next, answer }) : done.failed(error);
  }
  failToolCalls(proxy, session);
  endRequests(proxy, session); // those of the agent that is left
  abandon(proxy, session, session.agent);
  session.agent = next;
  session.nativeId = nativeId;
  session.isLost = false;
  session.hasCommands = false;
  session.hasAgentCommand = false;
  session.options = readOptions(answer);
  track(proxy, session);
  next.ended.delete(nativeId);
  record(proxy, session);
  done.changed();
  release(proxy, next, nativeId);
  announceCommand(proxy, session);
}

/** The session that is left behind: ended at its agent, and not listed again. */
function abandon(proxy: ProxyParts, session: Session, agent: Agent): void {
  const { nativeId, publicId } = session;
  agent.sessions.delete(nativeId);
  markEnded(agent, nativeId);
  proxy.context.workspace?.endOf(session);
  proxy.context.log.append({ sessionId: publicId, agent: agent.name, nativeId, at: proxy.context.clock.now(), isGone: true });
  if (agent.isIsolated) proxy.pool.vacate(agent); // and with its process all of it ends, unless a fork of it lives there
  closeAt(agent, nativeId);
}

/** Ends a session at its agent, as far as the agent knows how; nobody waits for its answers. */
export function closeAt(agent: Agent, nativeId: string, ways: readonly ('close' | 'delete')[] = ['close', 'delete']): void {
  if (!agent.isReady) return;
  const ignore = { onAnswer: () => {}, onFail: () => {} };
  for (const way of ways)
    if (offers(agent.handshake?.result, 'sessionCapabilities', way))
      agent.request(`session/${way}`, JSON.stringify({ sessionId: nativeId }), ignore);
}
