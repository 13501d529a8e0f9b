// One agent asks another: a session of the other's that the editor does not know of, for one turn. What that agent asks for (permissions, files,
// terminals) is asked in the session it works for; what it says is shown in the tool call that sent it, and its last words are the answer.
import { randomUUID } from 'node:crypto';
import { type Delegated, type Delegation, ToolFailure } from '../../mcp/server/tool.ts';
import type { Frame } from '../../wire/frame.ts';
import { memberAt, stringAt } from '../../wire/json-path.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import type { Agent } from '../agents/agent.ts';
import type { ProxyParts } from '../parts.ts';
import { rootsFor } from '../requests/serve-workspace.ts';
import { discardSession } from '../sessions/change-agent.ts';
import { releaseTerminals } from '../sessions/cut-off.ts';
import { release, releaseAll } from '../sessions/early-frames.ts';
import { notOpened, openingLimitMs } from '../sessions/opening-limit.ts';
import type { Session } from '../sessions/session.ts';
import { createDelegationView } from './delegation-view.ts';
import { revokeAttachment } from './host-tools.ts';
import { serversFor } from './session-servers.ts';

/** An agent that was asked may ask another, and that one nobody. */
const MAX_DEPTH = 2;
/** On one connection. Each is an agent at work, with costs of its own. */
const MAX_AT_ONCE = 4;

/** What a session of another's making is for. */
export type DelegatedSession = {
  /** The agents on the way here, the first that was asked by the user first. */
  readonly agents: readonly string[];
  /** What its calls of lent tools are known by. */
  readonly id: string;
  hear(frame: Frame): void;
  /** Nobody waits for it any more. */
  cancel(): void;
};

const underWay = new WeakMap<ProxyParts, Set<object>>();

export type Delegate = (
  proxy: ProxyParts,
  parent: Session,
  task: Delegation,
  signal: AbortSignal,
  onProgress: (text: string) => void,
) => Promise<Delegated>;

export const delegate: Delegate = async (proxy, parent, { agent, prompt }, signal, onProgress) => {
  const target = mayAsk(proxy, parent, agent);
  const view = createDelegationView(proxy, parent, target, prompt, onProgress);
  const cancelled = new AbortController();
  const taken = AbortSignal.any([signal, cancelled.signal]);
  const delegation = { cancel: () => cancelled.abort() };
  const atWork = underWay.get(proxy) ?? new Set();
  underWay.set(proxy, atWork.add(delegation));
  parent.delegations.add(delegation);
  try {
    const child = await opened(proxy, parent, target, { hear: view.hear, ...delegation }, taken);
    try {
      const stopReason = await turn(proxy, child, prompt, taken);
      view.over(stopReason !== 'cancelled');
      return { agent, sessionId: child.nativeId, text: view.text(), stopReason };
    } finally {
      end(proxy, child);
    }
  } catch (error) {
    view.over(false);
    throw error;
  } finally {
    atWork.delete(delegation);
    parent.delegations.delete(delegation);
  }
};

/** The agent that is meant, when it may be asked. */
function mayAsk(proxy: ProxyParts, parent: Session, agent: string): Agent {
  const before = [...(parent.delegation?.agents ?? []), parent.agent.name];
  const others = proxy.pool.choice.agents.filter((name) => !before.includes(name));
  const target = proxy.pool.get(agent);
  const named = others.length > 0 ? `; there are ${others.join(', ')}` : '';
  if (!target) throw new ToolFailure(`there is no agent "${agent}"${named}`);
  if (before.includes(agent)) throw new ToolFailure(`"${agent}" waits for this very answer (${before.join(' asked ')})${named}`);
  if (before.length > MAX_DEPTH) throw new ToolFailure(`an agent that was asked through ${MAX_DEPTH} others may not ask another`);
  if ((underWay.get(proxy)?.size ?? 0) >= MAX_AT_ONCE)
    throw new ToolFailure(`${MAX_AT_ONCE} agents are already at work for others; wait for one`);
  if (parent.cwd === undefined) throw new ToolFailure('this session has no directory that another agent could work in');
  return target;
}

/** A session of the other agent's, in the directory of the one it works for. One that nobody waits for any more is closed when it comes. */
function opened(
  proxy: ProxyParts,
  parent: Session,
  target: Agent,
  delegation: Pick<DelegatedSession, 'hear' | 'cancel'>,
  signal: AbortSignal,
): Promise<Session> {
  const agent = proxy.pool.place(target);
  const openParams = JSON.stringify({ cwd: parent.cwd, mcpServers: [] });
  agent.openings++;
  const over = () => {
    agent.openings--;
    releaseAll(proxy, agent);
    proxy.pool.vacate(agent);
  };
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
      over();
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
              const nativeId = answer.outcome === 'result' ? stringAt(answer.bytes, answer.sessionId) : undefined;
              if (nativeId === undefined) {
                servers.revoke();
                const words = stringAt(answer.bytes, memberAt(answer.bytes, answer.body, 'message'));
                return failed(`${target.name} did not open a session: ${words ?? 'its answer cannot be used'}`);
              }
              if (!isWanted) {
                servers.revoke();
                discardSession(proxy, agent, nativeId);
                return over();
              }
              const discovered = agent.sessions.get(nativeId);
              if (discovered && !discovered.isDiscovered) {
                servers.revoke();
                return failed(`the editor uses the session that ${target.name} has opened`);
              }
              abandon();
              signal.removeEventListener('abort', cancel);
              // The editor knows only the session it is for, so what the agent asks is asked there.
              const agents = [...(parent.delegation?.agents ?? []), parent.agent.name];
              const by = { openParams, roots: rootsFor(proxy, openParams), agentLocked: true };
              const delegated = { ...delegation, agents, id: `delegated-${randomUUID()}` };
              const child = proxy.registry.openDelegated(parent, agent, nativeId, by, delegated);
              servers.bind(child);
              release(proxy, agent, nativeId);
              over();
              resolve(child);
            },
          }),
        ),
      (error) => failed(error.message),
    );
  });
}

/** How the turn ended. One that is taken back has its time to end, like any other that is cancelled. */
function turn(proxy: ProxyParts, child: Session, prompt: string, signal: AbortSignal): Promise<string> {
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
    agent.request('session/prompt', JSON.stringify({ sessionId, prompt: [{ type: 'text', text: prompt }] }), {
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

/** From now on nobody hears what the agent says there, and nobody answers it or works for it. */
function leave(proxy: ProxyParts, child: Session): void {
  proxy.requests.endOf(child);
  revokeAttachment(child); // and with it what others do for it
  proxy.registry.leave(child);
}

function end(proxy: ProxyParts, child: Session): void {
  const { agent, nativeId } = child;
  releaseTerminals(proxy, child);
  proxy.context.workspace?.endOf(child);
  leave(proxy, child);
  discardSession(proxy, agent, nativeId);
  proxy.pool.vacate(agent);
}
