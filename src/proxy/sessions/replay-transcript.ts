// Loads a session at an agent that cannot replay it: the transcript replaces the agent's replay and is marked as such. An agent that cannot
// load at all continues what its process still has; other sessions are read-only.
import { META_KEY } from '../../acp/shapes.ts';
import { failure, type ProxyError } from '../../errors.ts';
import { completeList } from '../../router/config-options.ts';
import type { Update } from '../../store/transcripts/transcript-updates.ts';
import type { ClientRequest } from '../boundary.ts';
import { notificationLine } from '../json-rpc-lines.ts';
import type { Parts } from '../parts.ts';
import { notifyInSession } from '../turns/notify-in-session.ts';
import { unpark } from './close-session.ts';
import { announceCommand, choiceOf } from './config-options.ts';
import type { Session } from './session.ts';
import { type LoadEnd, loadedFromTranscript, resumedInProcess } from './session-state.ts';

const FROM_RECORD = { replay: 'transcript' } as const;

/** `opened` ends the load if the session exists, `failed` with an error. */
export function loadFromRecord(
  proxy: Parts<'context' | 'pool' | 'client'>,
  request: ClientRequest,
  session: Session,
  { opened, failed }: { readonly opened: (next: LoadEnd, then: () => void) => void; readonly failed: (error: ProxyError) => void },
): void {
  const { agent, publicId: sessionId } = session;
  const held = unpark(session);
  const isHeld = held !== undefined;
  const updates = request.method === 'session/load' ? proxy.context.transcripts?.updates(sessionId) : undefined;
  if (!isHeld && !updates)
    return failed(failure('SESSION_NOT_LOADABLE', [sessionId, agent.name, request.method], { sessionId, agent: agent.name }));
  const next: LoadEnd = held ? (now) => resumedInProcess(now, held) : loadedFromTranscript;
  opened(next, () => {
    if (!isHeld) session.options.clear();
    sendUpdates(proxy, sessionId, updates ?? []);
    if (!isHeld) notifyInSession(proxy, session, 'warning', 'This session is read-only', readOnly(agent.title));
    proxy.client.succeed(request, resultText(proxy, session, isHeld));
    if (isHeld) announceCommand(proxy, session);
  });
}

const readOnly = (agent: string): string =>
  `${agent} cannot reopen sessions, so this is the stored transcript. Open a new session to continue.`;

/** Called before the response to a load without a replay by the agent. */
export function replayTranscript(proxy: Parts<'context' | 'pool' | 'client'>, session: Session): void {
  const updates = proxy.context.transcripts?.updates(session.publicId);
  if (updates) return sendUpdates(proxy, session.publicId, updates);
  const why = `${session.agent.title} continues the session but cannot replay it, and there is no transcript of it.`;
  notifyInSession(proxy, session, 'warning', 'The history of this session is not shown', why);
}

function sendUpdates(proxy: Parts<'client'>, sessionId: string, updates: readonly Update[]): void {
  const _meta = { [META_KEY]: FROM_RECORD };
  for (const update of updates) proxy.client.line(notificationLine('session/update', JSON.stringify({ sessionId, update, _meta })));
}

function resultText(proxy: Parts<'pool'>, session: Session, isHeld: boolean): string {
  const { modes } = session.options.agent;
  const meta = { [META_KEY]: { agent: session.agent.name, ...FROM_RECORD, canContinue: isHeld } };
  const list = completeList(session.options.agent, choiceOf(proxy, session));
  return `{"configOptions":${list}${modes ? `,"modes":${JSON.stringify(modes)}` : ''},"_meta":${JSON.stringify(meta)}}`;
}
