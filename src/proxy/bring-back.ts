// After a crash: the agent's sessions are lost until the next request on them, which brings them back. Never a fresh session in disguise.
import { failure, type ProxyError } from '../errors.ts';
import { type WayBack, waysBack } from '../router/ways-back.ts';
import type { Frame } from '../wire/frame.ts';
import { member, memberAt, stringAt } from '../wire/locate.ts';
import type { AgentLeg } from './agent-leg.ts';
import { cutOff } from './cut-off.ts';
import { isTracked } from './find-owner.ts';
import type { Hub } from './hub.ts';
import { revokeLoan } from './lend.ts';
import { isAuthRequired } from './pass-answer.ts';
import { type Session, withholdReplay } from './session.ts';
import { announceOptions, readOptions } from './session-options.ts';
import { serversFor } from './session-servers.ts';
import { forgetAllSetAside } from './set-aside.ts';
import { tell } from './tell.ts';

/** The agent has died: what hangs on it ends now, and its sessions wait to be brought back. */
export function loseSessions(hub: Hub, leg: AgentLeg): void {
  for (const session of leg.sessions.values()) {
    cutOff(hub, session);
    // Without what it was opened with it cannot be opened again; the agent may still know it by itself.
    session.isLost = session.openParams !== undefined;
    revokeLoan(session);
  }
  forgetAllSetAside(leg);
  leg.refused.clear(); // the next life begins in a mode of its own
}

/** Restarts the agent if need be and reopens the session there: by resume, else by load with the replay withheld. */
export function bringBack(hub: Hub, session: Session, done: (error: ProxyError | undefined) => void): void {
  const { leg, publicId } = session;
  const lost = (why: string) =>
    done(failure('SESSION_LOST', [publicId, leg.name, why], { sessionId: publicId, agent: leg.name, reason: 'session_lost' }));
  if (!leg.spec.restart.enabled) return done(failure('AGENT_NOT_RESTARTED', [leg.name], { sessionId: publicId, agent: leg.name }));
  const attempt = ([method, ...others]: readonly WayBack[]): void => {
    if (!isTracked(hub, session)) return lost('it was closed meanwhile'); // to be opened by nobody
    if (method === undefined) return lost('it offers neither session/resume nor session/load');
    const replayed = method === 'session/load' ? withholdReplay(session) : () => {};
    let isOver = false;
    const over = (then: () => void) => {
      if (isOver) return;
      isOver = true;
      callOff();
      then();
    };
    const { initializeMs } = leg.spec.timeouts;
    const callOff = hub.clock.after(initializeMs, () => over(() => lost(`no answer to ${method} within ${initializeMs} ms`)));
    serversFor(hub, leg, session.openParams, (servers) => {
      leg.request(method, servers.text(withSessionId(session.openParams ?? '{}', session.nativeId), method), {
        session,
        onFail(error) {
          servers.revoke();
          replayed();
          over(() => lost(error.message));
        },
        onAnswer(answer) {
          replayed();
          if (isOver || answer.outcome === 'error') servers.revoke();
          over(() => {
            if (answer.outcome !== 'error') {
              if (isTracked(hub, session)) servers.bind(session);
              else servers.revoke();
              return isBack(answer);
            }
            if (others.length > 0 && !isAuthRequired(answer) && !session.afterEnd.isHeld) return attempt(others);
            lost(stringAt(answer.bytes, memberAt(answer.bytes, answer.body, 'message')) ?? 'it refused');
          });
        },
      });
    });
  };
  const isBack = (answer: Frame): void => {
    session.isLost = false;
    session.withheldReplay = undefined;
    if (!isTracked(hub, session)) return done(undefined); // closed meanwhile, and nobody waits for it
    tell(
      hub,
      session,
      'warning',
      `${leg.title} had exited`,
      'It was started again and the session was brought back; what it was doing then is not repeated.',
    );
    if (!hub.alone) {
      session.options = readOptions(answer);
      announceOptions(hub, session);
    }
    done(undefined);
  };
  leg.whenReady(() => attempt(waysBack(leg.handshake?.result, 'session/resume')), done);
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
