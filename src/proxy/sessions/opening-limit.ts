// How long another agent is waited for that is to open a session: whoever wants it has a session already, and could go on there.

import { failure, type ProxyError } from '../../errors.ts';
import { summaryLine } from '../../transports/stderr-tail.ts';
import type { Agent } from '../agents/agent.ts';
import { STDERR_LINES } from '../agents/agent-connection.ts';

/** It may have to be started first, which has a limit of its own. */
export const openingLimitMs = ({ spec }: Agent): number => 2 * spec.timeouts.initializeMs;

/** Why it is not waited for any longer. */
export function notOpened(agent: Agent): ProxyError {
  const { stderrTail } = agent.health();
  const data = { agent: agent.name, reason: 'no_session', stderr: stderrTail.slice(-STDERR_LINES) };
  return failure('SESSION_NOT_OPENED', [agent.name, openingLimitMs(agent), summaryLine(stderrTail)], data);
}
