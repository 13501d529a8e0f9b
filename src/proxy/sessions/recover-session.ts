// After a crash an agent's sessions are lost until the next request recovers them. A new session never takes their place.
import { failure, type ProxyError } from '../../errors.ts';
import { type ReopenMethod, reopenMethods } from '../../router/capabilities.ts';
import type { Frame } from '../../wire/frame.ts';
import { member, memberAt, stringAt } from '../../wire/json-path.ts';
import type { Agent } from '../agents/agent.ts';
import type { Parts, ProxyParts } from '../parts.ts';
import { isAuthRequired } from '../rewrite.ts';
import { type SessionServers, serversFor } from '../tools/session-servers.ts';
import { revokeAttachment } from '../tools/session-tools.ts';
import { expectLateReplay } from '../turns/late-replay.ts';
import { notifyInSession } from '../turns/notify-in-session.ts';
import { endOpenWork } from '../turns/tool-calls.ts';
import { closeAt } from './close-session.ts';
import { announceOptions } from './config-options.ts';
import type { Session } from './session.ts';
import {
  beginRecovery,
  lose,
  mayRecover,
  type Recovery,
  recovered,
  recoveryAnswered,
  recoveryFailed,
  recoveryRequested,
  recoveryWait,
  replayEnded,
} from './session-state.ts';

/** The agent has died: its open work ends, and its sessions are lost until they are recovered. */
export function loseSessions(proxy: Parts<'context' | 'registry' | 'client' | 'requests'>, agent: Agent): void {
  for (const session of agent.sessions.values()) {
    endOpenWork(proxy, session);
    session.advance((state) => lose(state, session.turns.size > 0));
    revokeAttachment(session);
  }
  agent.sessions.processEnded();
}

type Done = Parameters<Recovery['join']>[0];

/** Loading a history takes longer than initialize, so a short limit for that does not apply here. */
const LEAST_MS = 30_000;
/** After so many timeouts the agent has probably dropped the request, and the next attempt sends another. */
const WAITS = 2;

/** Restarts the agent if need be and reopens the session there: by resume, else by load with the replay withheld. */
export function recoverSession(proxy: ProxyParts, session: Session, done: Done): void {
  const { agent, publicId, state } = session;
  if (!agent.spec.restart.enabled) return done(failure('AGENT_NOT_RESTARTED', [agent.name], { sessionId: publicId, agent: agent.name }));
  if (state.kind === 'recovering' && state.wait !== 'overdue') state.op.join(done);
  else if (mayRecover(state)) attemptRecovery(proxy, session, state, done);
  else done(undefined);
}

/** The answer of an attempt counts however late it comes, unless the session has recovered in another way or another attempt has begun. */
function attemptRecovery(proxy: ProxyParts, session: Session, from: Parameters<typeof beginRecovery>[0], first: Done): void {
  const { agent, publicId } = session;
  const about = { sessionId: publicId, agent: agent.name, reason: 'session_lost' };
  const limitMs = Math.max(agent.spec.timeouts.initializeMs, LEAST_MS);
  let waiting: Done | undefined = first;
  let waits = 0;
  let asked: ReopenMethod | undefined;
  let abandon = () => {};
  let isActive = false;
  const op: Recovery = {
    operation: 'recovery',
    noteActivity() {
      isActive = true;
    },
    join(done) {
      waiting = done;
      session.settle(op, (now) => recoveryWait(now, 'awaited'));
      restartTimer();
    },
  };
  const answerWaiting = (error: ProxyError | undefined): void => {
    abandon();
    const done = waiting;
    waiting = undefined;
    done?.(error);
  };
  const finish = (error: ProxyError | undefined): void => {
    session.settle(op, recoveryFailed);
    answerWaiting(error);
  };
  const replayed = () => void (session.settle(op, recoveryAnswered) || session.advance((state) => replayEnded(state, op)));
  const lost = (why: string) => finish(failure('SESSION_LOST', [publicId, agent.name, why], about));
  const restartTimer = (): void => {
    abandon();
    isActive = false;
    abandon = proxy.context.clock.after(limitMs, () => {
      if (isActive) return restartTimer();
      const wait = ++waits < WAITS ? 'unawaited' : 'overdue';
      session.settle(op, (now) => recoveryWait(now, wait));
      answerWaiting(failure('SESSION_NOT_BACK', [publicId, agent.name, asked ?? '', limitMs], { ...about, reason: 'session_not_back' }));
    });
  };
  const attempt = ([method, ...others]: readonly ReopenMethod[]): void => {
    if (session.isClosed) return lost('it was closed during the recovery');
    if (method === undefined) return lost('it offers neither session/resume nor session/load');
    const { openParams } = session;
    if (openParams === undefined || !session.settle(op, (now) => recoveryRequested(now, method))) return finish(undefined); // open by now
    asked = method;
    restartTimer();
    serversFor(proxy, agent, openParams, (servers) => {
      agent.request(method, servers.text(withSessionId(openParams, session.nativeId), method), {
        session,
        // Before the policy moves the agent to another mode: what comes meanwhile may be a late replay.
        onActivity() {
          if (!session.settle(op, recoveryAnswered)) session.advance((state) => replayEnded(state, op));
          else if (method === 'session/load') expectLateReplay(proxy, session, true, session.shown);
        },
        onFail(error) {
          servers.revoke();
          replayed();
          // Its agent may be well, on another machine that is away: the next request tries again.
          if (error.key === 'AGENT_DISCONNECTED') finish(error);
          else lost(error.message);
        },
        onAnswer(answer) {
          if (answer.outcome !== 'error') return answered(answer, servers);
          servers.revoke();
          if (others.length > 0 && waiting && !isAuthRequired(answer) && !session.isClosing) return attempt(others);
          lost(reasonIn(answer));
        },
      });
    });
  };
  const answered = (answer: Frame, servers: SessionServers): void => {
    let wasInTurn = false;
    const isCurrent = session.settle(op, (now) => {
      wasInTurn = now.from.wasInTurn;
      return recovered(now);
    });
    if (isCurrent) {
      servers.bind(session);
      reportRecovery(proxy, session, answer, wasInTurn);
    } else {
      servers.revoke();
      // The agent may have heard of the close before it heard of the recovery, or not at all.
      if (session.isClosed && !agent.sessions.has(session.nativeId)) closeAt(agent, session.nativeId, ['close']);
    }
    finish(undefined);
  };
  session.advance(() => beginRecovery(from, op));
  agent.whenReady(() => attempt(reopenMethods(agent.handshake?.result, 'session/resume')), finish);
}

/** The agent's own words. Many put the reason into `data.details`, under a message that says nothing. */
function reasonIn({ bytes, body }: Frame): string {
  const message = stringAt(bytes, memberAt(bytes, body, 'message'));
  const details = stringAt(bytes, memberAt(bytes, body, 'data', 'details')) ?? stringAt(bytes, memberAt(bytes, body, 'data'));
  return [message, details].filter((part) => part !== undefined).join(': ') || 'it refused';
}

function reportRecovery(proxy: Parts<'pool' | 'client'>, session: Session, answer: Frame, wasInTurn: boolean): void {
  notifyInSession(
    proxy,
    session,
    'warning',
    `${session.agent.title} had exited`,
    `It was restarted and the session was recovered${wasInTurn ? '; the interrupted turn is not repeated' : ''}.`,
  );
  if (proxy.pool.single) return;
  session.options.read(answer);
  announceOptions(proxy, session);
}

/** The params a session was opened with, byte for byte, naming the session. */
function withSessionId(paramsText: string, nativeId: string): string {
  const bytes = Buffer.from(paramsText);
  const named = member(bytes, 0, 'sessionId');
  const id = JSON.stringify(nativeId);
  if (named) return `${bytes.toString('utf8', 0, named.start)}${id}${bytes.toString('utf8', named.end)}`;
  const rest = paramsText.slice(paramsText.indexOf('{') + 1);
  return `{"sessionId":${id}${rest.trim() === '}' ? '' : ','}${rest}`;
}
