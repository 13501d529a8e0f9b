// After a crash: the agent's sessions are lost until the next request on them, which brings them back. Never a fresh session in disguise.
import { failure, type ProxyError } from '../../errors.ts';
import { type WayBack, waysBack } from '../../router/capabilities.ts';
import type { Frame } from '../../wire/frame.ts';
import { member, memberAt, stringAt } from '../../wire/json-path.ts';
import type { Agent } from '../agents/agent.ts';
import type { ProxyParts } from '../parts.ts';
import { isAuthRequired } from '../rewrite.ts';
import { revokeAttachment } from '../tools/host-tools.ts';
import { type SessionServers, serversFor } from '../tools/session-servers.ts';
import { tell } from './attachments.ts';
import { closeAt } from './change-agent.ts';
import { forgetAllParked } from './close-session.ts';
import { announceOptions, readOptions } from './config-options.ts';
import { failOpenToolCalls } from './cut-off.ts';
import { isTracked } from './find-session.ts';
import { type Session, withholdReplay } from './session.ts';

/** The agent has died: what hangs on it ends now, and its sessions wait to be brought back. */
export function loseSessions(proxy: ProxyParts, agent: Agent): void {
  for (const session of agent.sessions.values()) {
    failOpenToolCalls(proxy, session);
    session.wasInTurn = (session.isLost && session.wasInTurn) || session.turns.size > 0;
    // Without what it was opened with it cannot be opened again; the agent may still know it by itself.
    session.isLost = session.openParams !== undefined;
    revokeAttachment(session);
  }
  forgetAllParked(agent);
  agent.refused.clear(); // the next life begins in a mode of its own
}

type Done = (error: ProxyError | undefined) => void;

/** An attempt to bring a session back. Its answer counts however late it comes, unless another attempt has begun since. */
export type Return = {
  readonly agent: Agent;
  /** The agent has told something of the session since the last look: it is at work. */
  isActive: boolean;
  /** It has been waited for in vain more than once: whoever comes next begins another. */
  isGivenUp: boolean;
  wait(done: Done): void;
};

/** A history takes longer to load than `initialize` to answer, so that a short limit for that one is not meant for this one. */
const LEAST_MS = 30_000;
/** An agent that is slow is waited for again; one that has forgotten the request is asked again. */
const WAITS = 2;

/** Restarts the agent if need be and reopens the session there: by resume, else by load with the replay withheld. */
export function recoverSession(proxy: ProxyParts, session: Session, done: Done): void {
  const { agent, publicId, returning } = session;
  if (!agent.spec.restart.enabled) return done(failure('AGENT_NOT_RESTARTED', [agent.name], { sessionId: publicId, agent: agent.name }));
  if (returning?.agent === agent && !returning.isGivenUp) returning.wait(done);
  else beginReturn(proxy, session, done);
}

function beginReturn(proxy: ProxyParts, session: Session, first: Done): void {
  const { agent, publicId } = session;
  const about = { sessionId: publicId, agent: agent.name, reason: 'session_lost' };
  const limitMs = Math.max(agent.spec.timeouts.initializeMs, LEAST_MS);
  let waiting: Done[] = [first];
  let waits = 0;
  let asked: WayBack | undefined;
  let abandon = () => {};
  const self: Return = {
    agent,
    isActive: false,
    isGivenUp: false,
    wait(done) {
      waiting.push(done);
      if (waiting.length === 1) giveTime();
    },
  };
  const settle = (error: ProxyError | undefined): void => {
    abandon();
    const all = waiting;
    waiting = [];
    for (const done of all) done(error);
  };
  const over = (error: ProxyError | undefined): void => {
    if (session.returning === self) session.returning = undefined;
    settle(error);
  };
  const lost = (why: string) => over(failure('SESSION_LOST', [publicId, agent.name, why], about));
  const giveTime = (): void => {
    abandon();
    self.isActive = false;
    abandon = proxy.context.clock.after(limitMs, () => {
      if (self.isActive) return giveTime();
      self.isGivenUp = ++waits === WAITS;
      settle(failure('SESSION_NOT_BACK', [publicId, agent.name, asked ?? '', limitMs], about));
    });
  };
  const attempt = ([method, ...others]: readonly WayBack[]): void => {
    if (!isTracked(proxy, session)) return lost('it was closed meanwhile'); // to be opened by nobody
    if (method === undefined) return lost('it offers neither session/resume nor session/load');
    const replayed = method === 'session/load' ? withholdReplay(session) : () => {};
    asked = method;
    giveTime();
    serversFor(proxy, agent, session.openParams, (servers) => {
      agent.request(method, servers.text(withSessionId(session.openParams ?? '{}', session.nativeId), method), {
        session,
        onActivity: replayed, // a change of mode may follow, and what is said meanwhile is of today
        onFail(error) {
          servers.revoke();
          replayed();
          lost(error.message);
        },
        onAnswer(answer) {
          if (answer.outcome !== 'error') return answered(answer, servers);
          servers.revoke();
          if (others.length > 0 && waiting.length > 0 && !isAuthRequired(answer) && !session.afterEnd.isHeld) return attempt(others);
          lost(stringAt(answer.bytes, memberAt(answer.bytes, answer.body, 'message')) ?? 'it refused');
        },
      });
    });
  };
  const answered = (answer: Frame, servers: SessionServers): void => {
    // Late, it may have been asked for again, loaded by the editor, moved to another agent, or closed.
    const isCurrent = session.returning === self && session.agent === agent && session.isLost;
    if (isCurrent && isTracked(proxy, session)) {
      servers.bind(session);
      isBack(proxy, session, answer);
    } else {
      servers.revoke();
      // Closed while nobody waited for it, the agent has not heard of that, or not behind this.
      if (!isTracked(proxy, session) && !agent.sessions.has(session.nativeId)) closeAt(agent, session.nativeId, ['close']);
    }
    over(undefined);
  };
  session.returning = self;
  agent.whenReady(() => attempt(waysBack(agent.handshake?.result, 'session/resume')), over);
}

function isBack(proxy: ProxyParts, session: Session, answer: Frame): void {
  session.isLost = false;
  session.withheldReplay = undefined;
  tell(
    proxy,
    session,
    'warning',
    `${session.agent.title} had exited`,
    `It was started again and the session was brought back${session.wasInTurn ? '; what it was doing then is not repeated' : ''}.`,
  );
  if (proxy.pool.single) return;
  session.options = readOptions(answer);
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
