// The fields that change in a frame on its way: the session id in both directions, and in an agent's error the name of the agent.
import type { Frame, Span } from '../wire/frame.ts';
import { memberAt, members, stringAt } from '../wire/json-path.ts';
import { briefOf, sessionIdOf } from '../wire/scanner/large-frame.ts';
import type { Patch } from '../wire/writer.ts';
import type { Agent } from './agents/agent.ts';
import type { ClientRequest } from './boundary.ts';
import type { Parts } from './parts.ts';
import type { Session } from './sessions/session.ts';

/** Shared: nearly every frame passes unchanged. */
const NO_PATCHES: readonly Patch[] = [];

const unchanged = (): readonly Patch[] => NO_PATCHES;

/** Puts the agent's own id in place of the public one. They differ only where the agent's id was taken. */
export function toNative(session: Session | undefined): (frame: Frame) => readonly Patch[] {
  if (!session || session.publicId === session.nativeId) return unchanged;
  const text = JSON.stringify(session.nativeId);
  return ({ sessionId: span }) => (span ? [{ span, text }] : NO_PATCHES);
}

/** Puts the public id in place of the agent's own, if the frame names this session: an agent's error may name another. */
export function toPublic(session: Session | undefined, frame: Frame): readonly Patch[] {
  if (!session || !frame.sessionId || session.publicId === session.nativeId) return NO_PATCHES;
  if (sessionIdOf(frame) !== session.nativeId) return NO_PATCHES;
  return [{ span: frame.sessionId, text: JSON.stringify(session.publicId) }];
}

/** Sends a request to the session's agent and its answer back. */
export function forward(proxy: Parts<'pool' | 'client'>, request: ClientRequest, session: Session, frame: Frame): void {
  request.session = session;
  const { agent } = session;
  agent.forward(frame, {
    method: request.method,
    request,
    patches: toNative(session),
    onAnswer: (answer) => passAnswer(proxy, request, session, answer, agent),
    onFail: (error) => proxy.client.fail(request, error),
  });
}

/** `agent` sent the answer: the session may have moved to another agent since. */
export function passAnswer(
  proxy: Parts<'pool' | 'client'>,
  request: ClientRequest,
  session: Session,
  answer: Frame,
  agent = session.agent,
): void {
  proxy.client.pass(request, answer, [...toPublic(session, answer), ...errorPatches(proxy, agent, answer, session)]);
}

/** -32000: the client must learn which agent wants a login, and by which methods. */
const AUTH_REQUIRED = '-32000';

export function errorPatches(proxy: Parts<'pool'>, agent: Agent, answer: Frame, session?: Session): Patch[] {
  const { body, outcome } = answer;
  if (outcome !== 'error' || !body) return [];
  const { bytes } = answer;
  const patches: Patch[] = [];
  const named = memberAt(bytes, body, 'data', 'sessionId');
  if (session && named && session.publicId !== session.nativeId && stringAt(bytes, named) === session.nativeId)
    patches.push({ span: named, text: JSON.stringify(session.publicId) });
  if (isAuthRequired(answer)) patches.push(...loginPatches(proxy, agent, bytes, body));
  return patches;
}

/** The agent wants a login first, and would say so to any other request too. */
export function isAuthRequired({ bytes, body }: Frame): boolean {
  const code = memberAt(bytes, body, 'code');
  return code !== undefined && bytes.toString('utf8', code.start, code.end) === AUTH_REQUIRED;
}

/** Adds `data.agent` and `data.authMethods` to an error, unless there is a `data` that cannot take them. */
function loginPatches({ pool }: Parts<'pool'>, agent: Agent, bytes: Buffer, error: Span): Patch[] {
  const data = memberAt(bytes, error, 'data');
  const methods = (agent.handshake?.result.authMethods ?? []).map(({ id }) => (pool.single ? id : `${agent.name}/${id}`));
  const ours = `"agent":${JSON.stringify(agent.name)},"authMethods":${JSON.stringify(methods)}`;
  if (!data) return bytes[error.start] === 0x7b ? [{ span: at(error.start + 1), text: `"data":{${ours}},` }] : [];
  if (bytes[data.start] === 0x6e) return [{ span: data, text: `{${ours}}` }];
  if (bytes[data.start] !== 0x7b) return [];
  const present = members(bytes, data.start);
  if (present.some(({ key }) => key === 'agent' || key === 'authMethods')) return [];
  return [{ span: at(data.start + 1), text: present.length > 0 ? `${ours},` : ours }];
}

const at = (offset: number): Span => ({ start: offset, end: offset });

/**
 * The trace context in a prompt or a new session: that of telemetry, if agents get it. `baggage` is what the client's company says about
 * itself, so it does not go to remote agents.
 */
export function traceContextPatches(
  { context }: Parts<'context'>,
  { spec }: Agent,
  frame: Frame,
  request: ClientRequest,
): readonly Patch[] {
  const traced = context.activity?.patches(frame, request.idText) ?? NO_PATCHES;
  const brief = briefOf(frame);
  if (!spec.remote || !memberAt(brief.bytes, brief.body, '_meta', 'baggage')) return traced;
  const baggage = memberAt(frame.bytes, frame.body, '_meta', 'baggage') as Span;
  return [...traced, { span: baggage, text: '""' }];
}
