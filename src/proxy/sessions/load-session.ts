// session/load and session/resume.
import { isDeepStrictEqual } from 'node:util';
import { failure, ProxyError } from '../../errors.ts';
import { type ReopenMethod, reopenMethods } from '../../router/capabilities.ts';
import { detach, type Frame, textOf } from '../../wire/frame.ts';
import { memberAt, stringAt } from '../../wire/json-path.ts';
import type { Patch } from '../../wire/writer.ts';
import type { Agent } from '../agents/agent.ts';
import { withServerList } from '../agents/legacy-frames.ts';
import type { ClientRequest } from '../boundary.ts';
import type { Parts, ProxyParts } from '../parts.ts';
import { rootsFor } from '../requests/serve-workspace.ts';
import { errorPatches, isAuthRequired, toNative } from '../rewrite.ts';
import { serversFor } from '../tools/session-servers.ts';
import { expectLateReplay } from '../turns/late-replay.ts';
import { restartShown } from '../turns/shown-history.ts';
import { closeAt, discardSession } from './close-session.ts';
import { announceCommand, restoreSettings } from './config-options.ts';
import { beginOpening, openedId, releaseEarly } from './early-frames.ts';
import { findOwner, hasAnotherPublicId } from './find-session.ts';
import {
  capabilityMissing,
  directoriesIn,
  isCwdUsable,
  missingFor,
  moreDirectories,
  noteServers,
  paramsForNew,
  record,
} from './open-params.ts';
import { openedPatches } from './open-session.ts';
import { loadFromRecord, replayTranscript } from './replay-transcript.ts';
import type { Session } from './session.ts';
import {
  beginLoad,
  type Load,
  type LoadEnd,
  loadAnswered,
  loadable,
  loaded,
  loadFailed,
  loadSent,
  mayOpenAnew,
  namedByClient,
  openedAnew,
} from './session-state.ts';

/** For a session whose agent is known. Prompts wait for the load; a replay passes at once. */
export function loadSession(proxy: ProxyParts, request: ClientRequest, session: Session, frame: Frame): void {
  loadAt(proxy, request, session, withServerList(detach(frame)), {
    failed: (error) => proxy.client.fail(request, error),
    refused: (answer) => proxy.client.pass(request, answer, errorPatches(proxy, session.agent, answer, session)),
  });
}

type Otherwise = { readonly failed: (error: ProxyError) => void; readonly refused: (answer: Frame) => void };

function loadAt(proxy: ProxyParts, request: ClientRequest, session: Session, frame: Frame, otherwise: Otherwise): void {
  const { agent } = session;
  const params = frame.body && textOf(frame.bytes, frame.body);
  const roots = rootsFor(proxy, params);
  if (agent.isContained) agent.confineTo(directoriesIn(params));
  session.advance(namedByClient);
  releaseEarly(proxy, agent, session.nativeId); // frames held while nobody had named the session come first
  const op: Load = { operation: 'load', abandon: () => proxy.client.fail(request, failure('CANCELLED', [request.method])) };
  session.advance((state) => beginLoad(loadable(state), op));
  /** The agent opened the session. If a close overtook the load on its way to the agent, the load is late. */
  const opened = (next: LoadEnd, instead: () => void, then: () => void) => {
    if (session.settle(op, next)) then();
    else {
      const { publicId: sessionId, nativeId } = session;
      instead();
      if (!agent.sessions.has(nativeId)) closeAt(agent, nativeId, ['close']);
      otherwise.failed(failure('SESSION_UNKNOWN', [sessionId], { sessionId }));
    }
    session.resume();
  };
  const notOpened = (then: () => void) => {
    let isUnwanted = false;
    const isSettled = session.settle(op, (now) => {
      isUnwanted = now.isUnwanted;
      // An agent that has a request open there is opening a session under that id.
      return loadFailed(now, proxy.requests.isAsking(session) ? 'agent' : session.origin);
    });
    if (isSettled && session.isClosed) proxy.registry.forgetUnopened(session);
    if (isUnwanted) discardSession(proxy, agent, session.nativeId);
    then();
    session.resume();
  };
  const failed = (error: ProxyError) => notOpened(() => otherwise.failed(error));
  agent.whenReady(() => {
    if (request.isAnswered) return failed(failure('CANCELLED', [request.method])); // closed or withdrawn before it could be sent
    const problem = loadProblem(proxy, request, session, frame, params) ?? proxy.context.enforcement?.refusesServers(agent, params);
    if (problem) return failed(problem);
    const ways = methodsFor(proxy, request, agent);
    if (ways.length === 0) {
      const fromRecord = () => loadFromRecord(proxy, request, session, { opened: (next, then) => opened(next, () => {}, then), failed });
      return canOpenAnew() ? openAnew(fromRecord) : fromRecord();
    }
    noteServers(agent, params);
    send(ways);
  }, failed);

  function send([method = request.method, ...others]: readonly string[]): void {
    // For a resume done by session/load the replay is withheld; for a load done by session/resume we replay the transcript.
    const isOtherWay = method !== request.method;
    const isReplayed = method === 'session/load';
    const replay = isReplayed ? (isOtherWay ? 'withheld' : 'shown') : undefined;
    session.settle(op, (now) => loadSent(now, replay, roots));
    const { shown } = session;
    if (isReplayed) restartShown(proxy, session);
    session.lateReplay = undefined; // of an earlier load
    const native = toNative(session);
    serversFor(proxy, agent, params, (servers) => {
      agent.forward(frame, {
        method,
        request,
        session,
        patches: (sent) => [...native(sent), ...renamed(sent, method), ...servers.patches(sent, request.method)],
        onActivity: () => void session.settle(op, loadAnswered),
        onFail(error) {
          servers.revoke();
          failed(error);
        },
        onAnswer(answer) {
          if (answer.outcome === 'error') {
            servers.revoke();
            // After a close has overtaken the load, no other method is tried.
            const isFinal = others.length === 0 || request.isAnswered || session.isClosing || isAuthRequired(answer);
            if (!isFinal) return send(others);
            if (isAuthRequired(answer) || !canOpenAnew()) return notOpened(() => otherwise.refused(answer));
            const kept = detach(answer);
            return openAnew(() => notOpened(() => otherwise.refused(kept)));
          }
          // The client withdrew the request while the agent was moved out of a refused mode: it has its answer and would never learn that
          // the session is open.
          if (request.isAnswered && !session.isClosed && session.openParams === undefined) {
            servers.revoke();
            session.settle(op, (now) => loadFailed(now, session.origin));
            if (session.isClosed) {
              closeAt(agent, session.nativeId, ['close']);
              proxy.registry.forget(session);
            }
            return session.resume();
          }
          opened(
            (now) => loaded(now, { openParams: params, roots }, () => isBegun(proxy, session)),
            servers.revoke,
            () => {
              if (!session.agentLocked) session.settings = recordOf(proxy, session)?.settings;
              releaseEarly(proxy, agent, session.nativeId);
              remember(proxy, session, frame);
              if (isReplayed) expectLateReplay(proxy, session, isOtherWay, shown);
              if (isOtherWay && method === 'session/resume') replayTranscript(proxy, session);
              proxy.client.pass(request, answer, openedPatches(proxy, session, answer));
              if (!proxy.pool.single) announceCommand(proxy, session);
              servers.bind(session);
            },
          );
        },
      });
    });
  }

  /** The client has not left it either: what it has closed stays closed. */
  function canOpenAnew(): boolean {
    const { state, isClosing } = session;
    if (state.kind !== 'loading' || isClosing || request.isAnswered || proxy.pool.single || params === undefined) return false;
    return mayOpenAnew(state, () => isBegun(proxy, session) || recordOf(proxy, session)?.isClosed === true);
  }

  /** The agent does not keep sessions before their first prompt: it opens another one, under the id that the client knows. */
  function openAnew(otherwiseRefused: () => void): void {
    const newParams = paramsForNew(params) as string;
    const settleOpening = beginOpening(proxy, agent);
    serversFor(proxy, agent, newParams, (servers) =>
      agent.request('session/new', servers.text(newParams, 'session/new'), {
        onFail() {
          servers.revoke();
          settleOpening(otherwiseRefused);
        },
        onAnswer: (answer) =>
          settleOpening(() => {
            const nativeId = openedId(answer);
            const taken = nativeId === undefined ? undefined : agent.sessions.get(nativeId);
            const isWanted = !session.isClosing && !request.isAnswered && (taken === undefined || taken === session);
            if (nativeId === undefined || !isWanted || !session.settle(op, (now) => openedAnew(now, { openParams: newParams, roots }))) {
              servers.revoke();
              if (nativeId !== undefined) discardSession(proxy, agent, nativeId);
              return otherwiseRefused();
            }
            const settings = recordOf(proxy, session)?.settings;
            proxy.registry.openedAnew(session, nativeId, directoriesIn(newParams)[0] ?? session.cwd);
            session.settings = settings;
            session.lateReplay = undefined;
            restartShown(proxy, session);
            record(proxy, session);
            proxy.client.pass(request, answer, openedPatches(proxy, session, answer));
            releaseEarly(proxy, agent, nativeId);
            announceCommand(proxy, session);
            servers.bind(session, true);
            restoreSettings(proxy, session);
            session.resume();
          }),
      }),
    );
  }
}

const recordOf = ({ context }: Parts<'context'>, { recordId }: Session) => context.log.records().get(recordId);

/** A client may reload a session that it has only opened (acpx does). What we did not record from its beginning has begun. */
function isBegun(proxy: Parts<'context'>, session: Session): boolean {
  return recordOf(proxy, session)?.isUnprompted !== true || proxy.context.transcripts?.stats().has(session.recordId) === true;
}

function loadProblem(
  proxy: Parts<'pool' | 'context'>,
  request: ClientRequest,
  session: Session,
  frame: Frame,
  params: string | undefined,
): ProxyError | undefined {
  const { agent } = session;
  const cwd = stringAt(frame.bytes, memberAt(frame.bytes, frame.body, 'cwd'));
  if (cwd !== undefined && !isCwdUsable(proxy, cwd)) return failure('CWD_RELATIVE', [request.method]);
  const missing = proxy.pool.single ? undefined : missingFor(agent, params);
  return missing ? capabilityMissing(request, agent, missing) : undefined;
}

/** session/resume stands in for a load only if a transcript can be replayed. */
function methodsFor(proxy: Parts<'context' | 'pool'>, { method }: ClientRequest, agent: Agent): readonly string[] {
  if (proxy.pool.single) return [method];
  const ways = reopenMethods(agent.handshake?.result, method as ReopenMethod);
  return method === 'session/load' && !ways.includes(method) && !proxy.context.transcripts ? [] : ways;
}

function renamed(frame: Frame, method: string): Patch[] {
  if (frame.method === method) return [];
  let at = frame.start;
  while (frame.bytes[at] !== 0x7b) at++;
  const span = memberAt(frame.bytes, { start: at, end: frame.end }, 'method');
  return span ? [{ span, text: JSON.stringify(method) }] : [];
}

/** A stored session is in use again, perhaps from another directory, perhaps for the first time through this proxy. */
function remember(proxy: Parts<'context' | 'registry'>, session: Session, frame: Frame): void {
  proxy.registry.reopened(session, stringAt(frame.bytes, memberAt(frame.bytes, frame.body, 'cwd')) ?? session.cwd);
  const { recordId, agent, cwd } = session;
  const kept = proxy.context.log.records().get(recordId);
  const isSame =
    kept?.agent === agent.name &&
    kept.cwd === cwd &&
    isDeepStrictEqual(kept.additionalDirectories ?? [], moreDirectories(session.openParams));
  if (!isSame) record(proxy, session);
}

/** For an unknown id: asks the agents, then tries those that cannot list. `loadIn` takes the frame once its session is known. */
export function loadUnknown(
  proxy: ProxyParts,
  request: ClientRequest,
  sessionId: string,
  frame: Frame,
  loadIn: (session: Session, frame: Frame) => void,
): void {
  const owned = detach(frame);
  findOwner(proxy, sessionId, request, ({ owner, candidates }) => {
    if (request.isAnswered) return; // withdrawn meanwhile
    if (owner instanceof ProxyError) return proxy.client.fail(request, owner);
    if (owner) return loadIn(owner, owned);
    const next = ([agent, ...others]: readonly Agent[]): void => {
      if (request.isAnswered) return;
      // Another agent may have opened a session of that id meanwhile: then that session is meant.
      const opened = proxy.registry.get(sessionId);
      if (opened) return loadIn(opened, owned);
      if (!agent) return proxy.client.fail(request, failure('SESSION_UNKNOWN', [sessionId], { sessionId }));
      if (hasAnotherPublicId(proxy, agent, sessionId)) return next(others);
      const session = proxy.registry.use(sessionId, agent, undefined);
      const onwards = () => next(others);
      loadAt(proxy, request, session, owned, { failed: onwards, refused: onwards });
    };
    next(candidates);
  });
}
