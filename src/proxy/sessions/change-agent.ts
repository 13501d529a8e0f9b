// The proxy's own session settings: the `agent` option, the `/agent` command, and modes presented as options.
import { failure, type ProxyError, shown } from '../../errors.ts';
import { completeList, isAgentOption, standInFor } from '../../router/config-options.ts';
import type { Frame } from '../../wire/frame.ts';
import { memberAt, stringAt } from '../../wire/json-path.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import type { Agent } from '../agents/agent.ts';
import type { ClientRequest } from '../boundary.ts';
import { updateLine } from '../json-rpc-lines.ts';
import type { Parts, ProxyParts } from '../parts.ts';
import { errorPatches, forward, passAnswer, toNative, toPublic } from '../rewrite.ts';
import { serversFor } from '../tools/session-servers.ts';
import { CANCELLED } from '../turns/cancel.ts';
import { restartShown } from '../turns/shown-history.ts';
import { failToolCalls } from '../turns/tool-calls.ts';
import { closeAt, discardSession } from './close-session.ts';
import {
  announceCommand,
  announceOptions,
  ConfigOptions,
  choiceOf,
  keepSetting,
  modeChanged,
  modelChanged,
  withOurOptions,
} from './config-options.ts';
import { beginOpening, notOpened, openedId, openingLimitMs, releaseEarly } from './early-frames.ts';
import { directoriesIn, missingFor, noteServers, paramsForNew, record } from './open-params.ts';
import type { Session } from './session.ts';
import { beginChange, type Change, type ChangeEnd, changeable, changed, changeFailed, operationOf } from './session-state.ts';

/** `refusal` is the other agent's answer, if it gave one. */
type Done = {
  readonly changed: () => void;
  readonly failed: (error: ProxyError, refusal?: { readonly agent: Agent; readonly answer: Frame }) => void;
};

export function setConfigOption(proxy: ProxyParts, request: ClientRequest, session: Session, frame: Frame): void {
  request.session = session;
  if (proxy.pool.single) return forward(proxy, request, session, frame);
  const params = readBody(frame);
  if (!params.ok) return proxy.client.fail(request, failure('AMBIGUOUS', [params.reason]));
  const { configId, value } = (params.value ?? {}) as { configId?: unknown; value?: unknown };
  if (isAgentOption(session.options.agent, configId)) {
    const list = () => proxy.client.succeed(request, `{"configOptions":${completeList(session.options.agent, choiceOf(proxy, session))}}`);
    return changeAgent(proxy, request, session, value, {
      changed: list,
      failed: (error, refusal) =>
        refusal
          ? proxy.client.pass(request, refusal.answer, errorPatches(proxy, refusal.agent, refusal.answer))
          : proxy.client.fail(request, error),
    });
  }
  const standsFor = typeof configId === 'string' ? standInFor(session.options.agent, configId) : undefined;
  if (standsFor && typeof value === 'string') return setStandIn(proxy, request, session, standsFor, value);
  const { agent } = session;
  agent.forward(frame, {
    method: request.method,
    request,
    patches: toNative(session),
    onFail: (error) => proxy.client.fail(request, error),
    onAnswer(answer) {
      if (session.agent !== agent) return failMoved(proxy, request, session);
      if (answer.outcome !== 'result' || !answer.body) return passAnswer(proxy, request, session, answer);
      if (hasOptions(answer)) session.options.readList(answer.bytes, answer.body);
      if (typeof configId === 'string' && (typeof value === 'string' || typeof value === 'boolean'))
        keepSetting(proxy, session, { options: { [configId]: value } });
      proxy.client.pass(request, answer, [...toPublic(session, answer), ...withOurOptions(proxy, session, answer.bytes, answer.body)]);
    },
  });
}

/** The session moved to another agent before the answer came. */
function failMoved(proxy: Parts<'client'>, request: ClientRequest, session: Session): void {
  const data = { agent: session.agent.name, sessionId: session.publicId };
  proxy.client.fail(request, failure('PARAMS', [request.method, `the session has since moved to agent "${session.agent.name}"`], data));
}

/** The answer has a list of options. Without one, the list is as before. */
const hasOptions = ({ bytes, body }: Frame): boolean => {
  const list = memberAt(bytes, body, 'configOptions');
  return list !== undefined && bytes[list.start] === 0x5b;
};

/** Sets an option that stands in for the agent's modes or models by their own method. */
function setStandIn(
  proxy: Parts<'context' | 'pool' | 'client'>,
  request: ClientRequest,
  session: Session,
  standsFor: 'mode' | 'model',
  value: string,
): void {
  const { nativeId: sessionId } = session;
  const [method, params] =
    standsFor === 'mode'
      ? (['session/set_mode', { sessionId, modeId: value }] as const)
      : (['session/set_model', { sessionId, modelId: value }] as const);
  const { agent } = session;
  agent.request(method, JSON.stringify(params), {
    onFail: (error) => proxy.client.fail(request, error),
    onAnswer(answer) {
      if (session.agent !== agent) return failMoved(proxy, request, session);
      if (answer.outcome === 'error') return proxy.client.pass(request, answer, errorPatches(proxy, session.agent, answer, session));
      if (standsFor === 'mode') session.options.setMode(value);
      else session.options.setModel(value);
      keepSetting(proxy, session, standsFor === 'mode' ? { mode: value } : { model: value });
      proxy.client.succeed(request, `{"configOptions":${completeList(session.options.agent, choiceOf(proxy, session))}}`);
    },
  });
}

/** session/set_mode and set_model: the option that stands in for them follows. */
export function setModeOrModel(proxy: Parts<'context' | 'pool' | 'client'>, request: ClientRequest, session: Session, frame: Frame): void {
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
      if (session.agent !== agent) return failMoved(proxy, request, session);
      passAnswer(proxy, request, session, answer);
      if (answer.outcome !== 'result') return;
      if (typeof modeId === 'string') modeChanged(proxy, session, modeId);
      if (typeof modelId === 'string') modelChanged(proxy, session, modelId);
      keepSetting(proxy, session, {
        ...(typeof modeId === 'string' && { mode: modeId }),
        ...(typeof modelId === 'string' && { model: modelId }),
      });
    },
  });
}

export function runAgentCommand(proxy: ProxyParts, request: ClientRequest, session: Session, named: string): void {
  const reply = (text: string) => {
    const content = JSON.stringify({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
    proxy.client.line(updateLine(session.publicId, content));
    proxy.client.succeed(request, '{"stopReason":"end_turn"}');
  };
  const others = proxy.pool.choice.agents.filter((name) => name !== session.agent.name).join(', ');
  if (named === '') {
    const canChange = !session.agentLocked;
    return reply(
      `This session's agent is ${session.agent.name}. ${canChange ? `Type /agent NAME to use another: ${others}.` : `Open a new session to use another: ${others}.`}`,
    );
  }
  session.turns.add(request); // a turn like any other, so that a cancel or a close ends it
  changeAgent(proxy, request, session, named, {
    failed: (error) => reply(error.message),
    changed() {
      announceOptions(proxy, session);
      reply(`This session's agent is now ${session.agent.name}.`);
    },
  });
}

/**
 * Opens the session at another agent under the id that the client knows. Later frames wait and go to the new agent. If the request is
 * cancelled or withdrawn, the session stays where it is, and the other agent's session is closed.
 */
function changeAgent(proxy: ProxyParts, request: ClientRequest, session: Session, wanted: unknown, done: Done): void {
  const chosen = typeof wanted === 'string' ? proxy.pool.get(wanted) : undefined;
  if (!chosen)
    return done.failed(
      failure('AGENT_UNKNOWN', [shown(wanted), proxy.pool.choice.agents.join(', ')], { agent: wanted, agents: proxy.pool.choice.agents }),
    );
  const { agent: before } = session;
  const openParams = paramsForNew(session.openParams);
  if (chosen.name === before.name) return done.changed(); // clients set saved values again, changed or not
  if (session.agentLocked || openParams === undefined)
    return done.failed(failure('AGENT_LOCKED', [before.name, chosen.name], { agent: before.name, sessionId: session.publicId }));
  const next = proxy.pool.processFor(chosen, directoriesIn(openParams));
  const settleOpening = beginOpening(proxy, next);
  const op: Change = {
    operation: 'change',
    abandon() {
      if (request.method === 'session/prompt') proxy.client.succeed(request, CANCELLED);
      else proxy.client.fail(request, failure('CANCELLED', [request.method]));
    },
  };
  session.advance((state) => beginChange(changeable(state), op));
  const isCurrent = () => operationOf(session.state, 'change')?.op === op;
  /** Settles the change; late once the session waits for it no longer. */
  const over = (end: ChangeEnd, then: () => void): boolean => {
    if (!session.settle(op, end)) return false;
    request.abandon = undefined;
    cancelTimer();
    then();
    session.resume();
    return true;
  };
  const giveUp = (then: () => void) => {
    const leaveNext = () => void (next.spec.isolation === 'session' && settleOpening(() => {})); // the process was for this session only
    const isCurrent = over(changeFailed, () => {
      then();
      leaveNext();
    });
    if (isCurrent) return;
    // A close has overtaken the change.
    request.abandon = undefined;
    cancelTimer();
    leaveNext();
  };
  const failed = (error: ProxyError) => settleOpening(() => over(changeFailed, () => done.failed(error)));
  const cancelTimer = proxy.context.clock.after(openingLimitMs(next), () => giveUp(() => done.failed(notOpened(next))));
  request.abandon = () => giveUp(() => {});
  next.whenReady(() => {
    if (!isCurrent()) return void settleOpening(() => {}); // abandoned while the agent was starting
    const missing = missingFor(next, openParams);
    if (missing) return void failed(failure('CAPABILITY_MISSING', ['session/new', next.name, missing], { agent: next.name }));
    const refused = proxy.context.enforcement?.refusesServers(next, openParams);
    if (refused) return void failed(refused);
    noteServers(next, openParams);
    serversFor(proxy, next, openParams, (servers) =>
      next.request('session/new', servers.text(openParams, 'session/new'), {
        onFail(error) {
          servers.revoke();
          failed(error);
        },
        onAnswer(answer) {
          const nativeId = openedId(answer);
          const isOpening = settleOpening(() => {
            if (nativeId !== undefined && isCurrent()) {
              const taken = next.sessions.get(nativeId);
              if (taken && isInUse(taken)) {
                servers.revoke();
                discardSession(proxy, next, nativeId);
                return void over(changeFailed, () => done.failed(inUse(next, taken)));
              }
              leaveAgent(proxy, session);
              over(changed, () => moveTo(proxy, session, next, nativeId, answer, done));
              return servers.bind(session);
            }
            servers.revoke();
            if (nativeId !== undefined) discardSession(proxy, next, nativeId);
            else over(changeFailed, () => refusedBy(next, answer, done));
          });
          if (!isOpening) servers.revoke();
        },
      }),
    );
  }, failed);
}

/**
 * The client knows the session by an id of its own, for example from a permission request that the agent sent before its answer. One session
 * must not have two ids: a load under that id would replay into this session. One that its agent no longer has gives way.
 */
const isInUse = ({ isDiscovered, isTranscript, isLost, isRecovering }: Session): boolean =>
  !isDiscovered && !isTranscript && (!isLost || isRecovering);

function inUse(next: Agent, { publicId }: Session): ProxyError {
  return failure('SESSION_IN_USE', [next.name, publicId], { agent: next.name, sessionId: publicId });
}

function refusedBy(next: Agent, answer: Frame, done: Done): void {
  const message = stringAt(answer.bytes, memberAt(answer.bytes, answer.body, 'message')) ?? 'it did not open the session';
  const error = failure('AGENT_REFUSED', [next.name, 'session/new', message], { agent: next.name });
  if (answer.outcome === 'error') done.failed(error, { agent: next, answer });
  else done.failed(error);
}

function moveTo(proxy: ProxyParts, session: Session, next: Agent, nativeId: string, answer: Frame, done: Done): void {
  proxy.registry.move(session, next, nativeId);
  session.options = new ConfigOptions();
  session.settings = undefined; // they name what the other agent has
  session.options.read(answer);
  restartShown(proxy, session);
  record(proxy, session);
  done.changed();
  releaseEarly(proxy, next, nativeId);
  announceCommand(proxy, session);
}

/** Ends the session at the agent it had; that agent's list no longer shows it. */
function leaveAgent(proxy: Parts<'context' | 'pool' | 'registry' | 'client' | 'requests'>, session: Session): void {
  const { agent, nativeId, recordId } = session;
  failToolCalls(proxy, session);
  proxy.requests.endOf(session);
  proxy.registry.leave(session);
  proxy.context.workspace?.endOf(session);
  proxy.context.log.append({ sessionId: recordId, agent: agent.name, nativeId, at: proxy.context.clock.now(), isGone: true });
  if (agent.isIsolated) proxy.pool.endIfUnused(agent); // the process ends with its session, unless a fork lives there
  closeAt(agent, nativeId);
}
