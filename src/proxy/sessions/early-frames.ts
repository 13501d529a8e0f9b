// A request under way at an agent whose answer opens a session. Clients drop frames of sessions they do not know, so frames that come before
// that answer are held until it has passed.

import { failure, type ProxyError } from '../../errors.ts';
import { summaryLine } from '../../transports/stderr-tail.ts';
import type { Frame } from '../../wire/frame.ts';
import { stringAt } from '../../wire/json-path.ts';
import type { Agent } from '../agents/agent.ts';
import { STDERR_LINES } from '../agents/agent-connection.ts';
import { fromAgent } from '../from-agent.ts';
import type { ProxyParts } from '../parts.ts';

/**
 * Counts from now on, also while the agent is still starting: an isolated process is taken. The returned function settles the opening with
 * `then`; false when it was settled before.
 */
export function beginOpening(proxy: ProxyParts, agent: Agent): (then: () => void) => boolean {
  let isSettled = false;
  agent.sessions.openingBegins();
  return (then) => {
    if (isSettled) return false;
    isSettled = true;
    agent.sessions.openingEnds();
    then();
    // With no opening left, frames still held belong to sessions that the agent made itself.
    if (!agent.sessions.isOpening) for (const nativeId of agent.sessions.earlyIds()) releaseEarly(proxy, agent, nativeId);
    proxy.pool.endIfUnused(agent);
    return true;
  };
}

/** The id of the session that an answer opens. */
export const openedId = (answer: Frame): string | undefined =>
  answer.outcome === 'result' ? stringAt(answer.bytes, answer.sessionId) : undefined;

/** Passes the frames held for one session, now that the client knows it. */
export function releaseEarly(proxy: ProxyParts, agent: Agent, nativeId: string): void {
  for (const frame of agent.sessions.takeEarly(nativeId)) fromAgent(proxy, agent, frame);
}

/** How long a change of agent or a delegation waits for the other agent, which may have to be started first. */
export const openingLimitMs = ({ spec }: Agent): number => 2 * spec.timeouts.initializeMs;

export function notOpened(agent: Agent): ProxyError {
  const limitMs = openingLimitMs(agent);
  const data = { agent: agent.name, reason: 'no_session', stderr: agent.health().stderrTail.slice(-STDERR_LINES) };
  // Earlier lines are about other sessions.
  return failure('SESSION_NOT_OPENED', [agent.name, limitMs, summaryLine(agent.connection?.stderrTail(limitMs) ?? [])], data);
}
