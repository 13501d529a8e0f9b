// Delegation: one agent gives another a task, in a session of one turn that the client does not know. Its requests (permissions, files,
// terminals) appear in the parent session, its output in the parent's tool call, and its messages are the result.
import { randomUUID } from 'node:crypto';
import { type Delegated, type Delegation, ToolFailure } from '../../mcp/server/tool.ts';
import type { Frame } from '../../wire/frame.ts';
import { memberAt, stringAt } from '../../wire/json-path.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import type { Agent } from '../agents/agent.ts';
import type { Parts, ProxyParts } from '../parts.ts';
import { rootsFor } from '../requests/serve-workspace.ts';
import { discardSession } from '../sessions/close-session.ts';
import { beginOpening, notOpened, openedId, openingLimitMs, releaseEarly } from '../sessions/early-frames.ts';
import type { Session } from '../sessions/session.ts';
import { releaseTerminals } from '../turns/tool-calls.ts';
import { createDelegationView } from './delegation-view.ts';
import { serversFor } from './session-servers.ts';
import { revokeAttachment } from './session-tools.ts';

/** A delegated agent may delegate once more; the one after it may not. */
const MAX_DEPTH = 2;
/** On one connection. Each is an agent at work, with costs of its own. */
const MAX_AT_ONCE = 4;

/** The delegation that a session belongs to. */
export type DelegatedSession = {
  /** The chain of agents that delegated, the user's own first. */
  readonly agents: readonly string[];
  /** Identifies the session in its calls of host tools. */
  readonly id: string;
  onUpdate(frame: Frame): void;
  /** The parent no longer waits for the result. */
  cancel(): void;
};

export type Delegate = (
  proxy: ProxyParts,
  parent: Session,
  task: Delegation,
  signal: AbortSignal,
  onProgress: (text: string) => void,
) => Promise<Delegated>;

export const delegate: Delegate = async (proxy, parent, { agent, prompt }, signal, onProgress) => {
  const target = targetOf(proxy, parent, agent);
  const view = createDelegationView(proxy, parent, target, prompt, onProgress);
  const cancelled = new AbortController();
  const taken = AbortSignal.any([signal, cancelled.signal]);
  const delegation = { cancel: () => cancelled.abort() };
  const running = proxy.tools.attachments?.running;
  running?.add(delegation);
  parent.delegations.add(delegation);
  const id = `delegated-${randomUUID()}`;
  const ended = proxy.context.activity?.delegated(parent.delegation?.id ?? parent.publicId, id, agent);
  try {
    const child = await opened(proxy, parent, target, { id, onUpdate: view.onUpdate, ...delegation }, taken);
    try {
      if (child.isClosed) throw new ToolFailure(usedByClient(target)); // a list in the same chunk as the answer may have shown it
      const stopReason = await turn(proxy, child, prompt, taken);
      view.end(stopReason !== 'cancelled');
      ended?.(stopReason);
      return { agent, sessionId: child.nativeId, text: view.text(), stopReason };
    } finally {
      end(proxy, child);
    }
  } catch (error) {
    view.end(false);
    ended?.(undefined);
    throw error;
  } finally {
    running?.delete(delegation);
    parent.delegations.delete(delegation);
  }
};

const usedByClient = ({ name }: Agent): string => `the editor uses the session that ${name} has opened`;

/** The named agent, if the parent may delegate to it. */
function targetOf(proxy: Parts<'pool' | 'tools'>, parent: Session, agent: string): Agent {
  const before = [...(parent.delegation?.agents ?? []), parent.agent.name];
  const others = proxy.pool.choice.agents.filter((name) => !before.includes(name));
  const target = proxy.pool.get(agent);
  const named = others.length > 0 ? `; there are ${others.join(', ')}` : '';
  if (!target) throw new ToolFailure(`there is no agent "${agent}"${named}`);
  if (before.includes(agent)) throw new ToolFailure(`"${agent}" waits for this answer (${before.join(' asked ')})${named}`);
  if (before.length > MAX_DEPTH) throw new ToolFailure(`an agent at the end of a chain of ${MAX_DEPTH} delegations may not delegate`);
  if ((proxy.tools.attachments?.running.size ?? 0) >= MAX_AT_ONCE)
    throw new ToolFailure(`${MAX_AT_ONCE} delegations are already running; wait for one to end`);
  if (parent.cwd === undefined) throw new ToolFailure('this session has no directory that another agent could work in');
  return target;
}

/** Opens a session at the other agent, in the parent's directory. If the parent gives up first, the session is closed as soon as it opens. */
function opened(
  proxy: ProxyParts,
  parent: Session,
  target: Agent,
  delegation: Pick<DelegatedSession, 'id' | 'onUpdate' | 'cancel'>,
  signal: AbortSignal,
): Promise<Session> {
  const agent = proxy.pool.processFor(target, parent.cwd === undefined ? [] : [parent.cwd]);
  const openParams = JSON.stringify({ cwd: parent.cwd, mcpServers: [] });
  const settleOpening = beginOpening(proxy, agent);
  return new Promise((resolve, reject) => {
    let isWanted = true;
    const giveUp = (why: string) => {
      isWanted = false;
      abandon();
      signal.removeEventListener('abort', cancel);
      reject(new ToolFailure(why));
    };
    const cancel = () => giveUp('it was cancelled');
    const abandon = proxy.context.clock.after(openingLimitMs(agent), () => giveUp(notOpened(agent).message));
    signal.addEventListener('abort', cancel, { once: true });
    const failed = (why: string) => {
      settleOpening(() => {});
      giveUp(why);
    };
    agent.whenReady(
      () =>
        serversFor(proxy, agent, openParams, (servers) =>
          agent.request('session/new', servers.text(openParams, 'session/new'), {
            onFail(error) {
              servers.revoke();
              failed(error.message);
            },
            onAnswer(answer) {
              const nativeId = openedId(answer);
              if (nativeId === undefined) {
                servers.revoke();
                const words = stringAt(answer.bytes, memberAt(answer.bytes, answer.body, 'message'));
                return failed(`${target.name} did not open a session: ${words ?? 'its answer cannot be used'}`);
              }
              if (!isWanted) {
                servers.revoke();
                return void settleOpening(() => discardSession(proxy, agent, nativeId));
              }
              const discovered = agent.sessions.get(nativeId);
              if (discovered && !discovered.isDiscovered) {
                servers.revoke();
                discardSession(proxy, agent, nativeId);
                return failed(usedByClient(target));
              }
              abandon();
              signal.removeEventListener('abort', cancel);
              // The client knows only the parent session, so requests appear there.
              const agents = [...(parent.delegation?.agents ?? []), parent.agent.name];
              const by = { openParams, roots: rootsFor(proxy, openParams), agentLocked: true };
              const delegated = { ...delegation, agents };
              const child = proxy.registry.openDelegated(parent, agent, nativeId, by, delegated);
              servers.bind(child);
              settleOpening(() => releaseEarly(proxy, agent, nativeId));
              resolve(child);
            },
          }),
        ),
      (error) => failed(error.message),
    );
  });
}

/** Runs the turn and returns its stop reason. A cancelled turn has time to end. */
function turn(proxy: Parts<'context' | 'registry' | 'requests'>, child: Session, prompt: string, signal: AbortSignal): Promise<string> {
  const { agent, nativeId: sessionId } = child;
  if (signal.aborted) return Promise.resolve('cancelled');
  return new Promise((resolve, reject) => {
    let abandon = () => {};
    const over = (then: () => void) => {
      signal.removeEventListener('abort', cancel);
      abandon();
      then();
    };
    const cancel = () => {
      agent.notifyLine('session/cancel', JSON.stringify({ sessionId }));
      leave(proxy, child);
      abandon = proxy.context.clock.after(agent.spec.timeouts.cancelMs, () => over(() => resolve('cancelled')));
    };
    const traceparent = proxy.context.activity?.traceparent(child.delegation?.id ?? '');
    const params = { sessionId, prompt: [{ type: 'text', text: prompt }], ...(traceparent !== undefined && { _meta: { traceparent } }) };
    agent.request('session/prompt', JSON.stringify(params), {
      session: child,
      onFail: (error) => over(() => reject(new ToolFailure(error.message))),
      onAnswer(answer) {
        const body = readBody(answer);
        const { stopReason, message } = ((body.ok ? body.value : undefined) ?? {}) as { stopReason?: unknown; message?: unknown };
        if (answer.outcome === 'result') return over(() => resolve(String(stopReason)));
        over(() => reject(new ToolFailure(`${agent.name} refused the prompt: ${String(message ?? 'its answer cannot be used')}`)));
      },
    });
    signal.addEventListener('abort', cancel, { once: true });
  });
}

/** From now on the session's frames are dropped, its requests refused and its tools revoked. */
function leave(proxy: Parts<'registry' | 'requests'>, child: Session): void {
  proxy.requests.endOf(child);
  revokeAttachment(child); // also revokes its own delegations
  proxy.registry.leave(child);
}

function end(proxy: Parts<'context' | 'pool' | 'registry' | 'requests'>, child: Session): void {
  const { agent, nativeId } = child;
  releaseTerminals(proxy, child);
  proxy.context.workspace?.endOf(child);
  leave(proxy, child);
  discardSession(proxy, agent, nativeId);
  proxy.pool.endIfUnused(agent);
}
