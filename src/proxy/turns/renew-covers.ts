// Before and after a turn of a contained agent: files that its sandbox must cover and does not, because another program has replaced them.
import { reopenMethods } from '../../router/capabilities.ts';
import type { Parts } from '../parts.ts';
import type { Session } from '../sessions/session.ts';
import { notifyInSession } from './notify-in-session.ts';

const MOST_NAMED = 5;

/** Reports them, and ends the process if the agent can bring the session back: the next one covers them. */
export function renewCovers(proxy: Parts<'context' | 'pool' | 'client'>, session: Session, isThorough: boolean): void {
  const { agent } = session;
  const paths = agent.connection?.uncovered?.(isThorough) ?? [];
  if (paths.length === 0) return;
  const named = `${paths.slice(0, MOST_NAMED).join(', ')}${paths.length > MOST_NAMED ? ` and ${paths.length - MOST_NAMED} more` : ''}`;
  const canReturn = agent.spec.restart.enabled && reopenMethods(agent.handshake?.result, 'session/resume').length > 0;
  const next = canReturn
    ? 'The agent is restarted before its next turn, and they are covered again.'
    : 'This agent cannot resume a session, so they stay uncovered until you open a new one.';
  const text = `Replaced or created since the agent started, so the agent may have read or written them: ${named}. ${next}`;
  notifyInSession(proxy, session, 'warning', 'The sandbox did not cover all files', text);
  proxy.context.report(`the sandbox of agent "${agent.name}" did not cover ${named}: replaced or created since the agent started. ${next}`);
  if (canReturn) proxy.pool.endProcess(agent);
}
