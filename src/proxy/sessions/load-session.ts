// session/load and session/resume: how the editor comes back to a session.
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { failure, ProxyError } from '../../errors.ts';
import { type WayBack, waysBack } from '../../router/capabilities.ts';
import { detach, type Frame, textOf } from '../../wire/frame.ts';
import { memberAt, stringAt } from '../../wire/json-path.ts';
import type { Patch } from '../../wire/writer.ts';
import type { Agent } from '../agents/agent.ts';
import { withServerList } from '../agents/legacy-frames.ts';
import type { OpenRequest } from '../client/client-connection.ts';
import { contained } from '../failed-on.ts';
import type { ProxyParts } from '../parts.ts';
import { rootsFor } from '../requests/serve-workspace.ts';
import { errorPatches, isAuthRequired } from '../rewrite.ts';
import { serversFor } from '../tools/session-servers.ts';
import { closeAt } from './change-agent.ts';
import { announceCommand } from './config-options.ts';
import { release } from './early-frames.ts';
import { goesByAnotherName, isTracked, probe, track, untrack } from './find-session.ts';
import { lacking, missingFor, moreDirectories, noteServers, record } from './open-params.ts';
import { openedPatches } from './open-session.ts';
import { loadFromRecord, tellAgain } from './replay-transcript.ts';
import { createSession, type Session, toNative, waitsForEnd, withholdReplay } from './session.ts';

/** Of a session whose owner is known. Prompts wait behind it; a replay passes at once. */
export function loadSession(proxy: ProxyParts, request: OpenRequest, session: Session, frame: Frame): void {
  loadAt(proxy, request, session, proxy.pool.single ? detach(frame) : withServerList(detach(frame)), {
    failed: (error) => proxy.client.fail(request, error),
    refused: (answer) => proxy.client.pass(request, answer, errorPatches(proxy, session.agent, answer, session)),
  });
}

type Otherwise = { readonly failed: (error: ProxyError) => void; readonly refused: (answer: Frame) => void };

function loadAt(proxy: ProxyParts, request: OpenRequest, session: Session, frame: Frame, otherwise: Otherwise): void {
  const { agent } = session;
  const endedIn = agent.ended.get(session.nativeId);
  const params = frame.body && textOf(frame.bytes, frame.body);
  const roots = rootsFor(proxy, params);
  session.isDiscovered = false; // the editor knows it, whoever spoke of it first
  release(proxy, agent, session.nativeId); // what was held while nobody knew whose it was comes first
  session.toAgent.hold(request);
  session.isLoading = true;
  let replayed = () => {};
  const over = (then: () => void) => {
    session.isLoading = false;
    replayed();
    then();
    session.toAgent.release();
  };
  /** It is there, unless it was closed meanwhile, behind the load. */
  const opened = (instead: () => void, then: () => void) =>
    over(() => {
      if (isTracked(proxy, session)) return then();
      const { publicId: sessionId, nativeId } = session;
      instead();
      if (!agent.sessions.has(nativeId)) closeAt(agent, nativeId, ['close']); // the close may have overtaken it on its way to the agent
      otherwise.failed(failure('SESSION_UNKNOWN', [sessionId], { sessionId }));
    });
  /** One that did not come back is not kept, unless it was in use before. */
  const lost = (then: () => void) =>
    over(() => {
      if (session.openParams !== undefined) return then();
      if (session.isAgentsOwn) session.isDiscovered = true;
      else {
        untrack(proxy, session);
        // It was never left, since it was never there; what had ended before has still ended.
        if (endedIn === undefined) agent.ended.delete(session.nativeId);
        else agent.ended.set(session.nativeId, endedIn);
      }
      then();
    });
  const failed = (error: ProxyError) => lost(() => otherwise.failed(error));
  agent.whenReady(() => {
    if (request.isAnswered) return failed(failure('CANCELLED', [request.method])); // closed or taken back before it could be sent
    const problem =
      (proxy.pool.single ? undefined : whyNot(request, session, frame, params)) ??
      proxy.context.enforcement?.refusesServers(proxy, agent, params);
    if (problem) return failed(problem);
    const ways = waysOf(proxy, request, agent);
    if (ways.length === 0) return loadFromRecord(proxy, request, session, { opened: (then) => opened(() => {}, then), failed });
    noteServers(agent, params);
    session.roots ??= roots;
    send(ways);
  }, failed);

  function send([method = request.method, ...others]: readonly string[]): void {
    // A resume by way of load: the replay is not what was asked for. A load by way of resume: the replay is ours.
    const isOtherWay = method !== request.method;
    const isReplayed = method === 'session/load';
    replayed = isOtherWay && isReplayed ? withholdReplay(session) : () => {};
    if (isReplayed && !isOtherWay) session.withheldReplay = undefined;
    const native = toNative(session);
    serversFor(proxy, agent, params, (servers) => {
      agent.forward(frame, {
        method,
        request,
        session,
        patches: (mine) => [...native(mine), ...renamed(mine, method), ...servers.patches(mine, request.method)],
        onActivity: () => replayed(),
        onFail(error) {
          servers.revoke();
          failed(error);
        },
        onAnswer(answer) {
          if (answer.outcome === 'error') {
            servers.revoke();
            // Not behind a close that has gone past it.
            const isFinal = others.length === 0 || request.isAnswered || session.afterEnd.isHeld || isAuthRequired(answer);
            return isFinal ? lost(() => otherwise.refused(answer)) : send(others);
          }
          // Taken back while the agent was moved out of a refused mode: the editor has its answer, and would never know that it is open.
          if (request.isAnswered && isTracked(proxy, session) && session.openParams === undefined) {
            servers.revoke();
            return over(() => leave(proxy, session));
          }
          opened(servers.revoke, () => {
            release(proxy, agent, session.nativeId);
            agent.ended.delete(session.nativeId);
            session.isStarted = true;
            session.isLost = false;
            session.isRecord = false;
            session.withheldReplay = undefined;
            session.openParams = params;
            session.roots = roots ?? session.roots;
            remember(proxy, session, frame);
            if (isOtherWay && method === 'session/resume') tellAgain(proxy, session);
            proxy.client.pass(request, answer, openedPatches(proxy, session, answer));
            if (!proxy.pool.single) announceCommand(proxy, session);
            servers.bind(session);
          });
        },
      });
    });
  }
}

/** It is there, and the editor does not want it. What the agent has made itself it also keeps; nothing of it is deleted. */
function leave(proxy: ProxyParts, session: Session): void {
  if (session.isAgentsOwn) {
    session.isDiscovered = true;
    return;
  }
  closeAt(session.agent, session.nativeId, ['close']);
  untrack(proxy, session);
}

function whyNot(request: OpenRequest, session: Session, frame: Frame, params: string | undefined): ProxyError | undefined {
  const { agent } = session;
  const cwd = stringAt(frame.bytes, memberAt(frame.bytes, frame.body, 'cwd'));
  if (cwd !== undefined && !path.isAbsolute(cwd)) return failure('CWD_RELATIVE', [request.method]);
  const missing = missingFor(agent, params);
  return missing ? lacking(request, agent, missing) : undefined;
}

/** A load by way of resume only where there are transcripts: else nobody could say what was said. */
function waysOf(proxy: ProxyParts, { method }: OpenRequest, agent: Agent): readonly string[] {
  if (proxy.pool.single) return [method];
  const ways = waysBack(agent.handshake?.result, method as WayBack);
  return method === 'session/load' && !ways.includes(method) && !proxy.context.transcripts ? [] : ways;
}

function renamed(frame: Frame, method: string): Patch[] {
  if (frame.method === method) return [];
  let at = frame.start;
  while (frame.bytes[at] !== 0x7b) at++;
  const span = memberAt(frame.bytes, { start: at, end: frame.end }, 'method');
  return span ? [{ span, text: JSON.stringify(method) }] : [];
}

/** A session of before is in use again, perhaps from another folder, perhaps for the first time through us. */
function remember(proxy: ProxyParts, session: Session, frame: Frame): void {
  session.cwd = stringAt(frame.bytes, memberAt(frame.bytes, frame.body, 'cwd')) ?? session.cwd;
  const { publicId, nativeId, agent, cwd } = session;
  proxy.registry.table.claim(publicId, agent.id, nativeId, cwd);
  const kept = proxy.context.log.records().get(publicId);
  const isSame =
    kept?.agent === agent.name &&
    kept.cwd === cwd &&
    isDeepStrictEqual(kept.additionalDirectories ?? [], moreDirectories(session.openParams));
  if (!isSame) record(proxy, session);
}

/** Of an id that nobody here has heard of: ask the agents, then try those that can only be tried. */
export function loadUnknown(proxy: ProxyParts, request: OpenRequest, sessionId: string, frame: Frame): void {
  const owned = detach(frame);
  probe(proxy, sessionId, ({ owner, candidates }) => {
    if (request.isAnswered) return; // taken back meanwhile
    if (owner instanceof ProxyError) return proxy.client.fail(request, owner);
    if (owner) return loadInTurn(proxy, request, owner, owned);
    const next = ([agent, ...others]: readonly Agent[]): void => {
      if (request.isAnswered) return;
      // Another agent may have opened a session of that id meanwhile, and then it is that one.
      const opened = proxy.registry.sessions.get(sessionId);
      if (opened) return loadInTurn(proxy, request, opened, owned);
      if (!agent) return proxy.client.fail(request, failure('SESSION_UNKNOWN', [sessionId], { sessionId }));
      if (goesByAnotherName(proxy, agent, sessionId)) return next(others);
      const session = track(proxy, createSession(sessionId, proxy.pool.place(agent), sessionId, undefined));
      const onwards = () => next(others);
      loadAt(proxy, request, session, owned, { failed: onwards, refused: onwards });
    };
    next(candidates);
  });
}

/** Behind what holds the session, and never behind a close that is under way: the agent would have a session that nobody knows of. */
function loadInTurn(proxy: ProxyParts, request: OpenRequest, session: Session, frame: Frame): void {
  const run = () => {
    if (isTracked(proxy, session)) loadInTurn(proxy, request, session, frame);
    else loadUnknown(proxy, request, session.publicId, frame);
  };
  const step = { request, run: contained(proxy, request, request.method, run) };
  if (session.toAgent.isHeld) session.toAgent.wait(step);
  else if (!waitsForEnd(session, step)) loadSession(proxy, request, session, frame);
}
