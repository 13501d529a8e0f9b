// How long another agent is waited for that is to open a session: whoever wants it has a session already, and could go on there.
import { lastWords } from '../../agents/stderr-tail.ts';
import { failure, type ProxyError } from '../../errors.ts';
import type { AgentLeg } from '../agents/agent.ts';
import { STDERR_LINES } from '../agents/agent-connection.ts';

/** It may have to be started first, which has a limit of its own. */
export const openingLimitMs = ({ spec }: AgentLeg): number => 2 * spec.timeouts.initializeMs;

/** Why it is not waited for any longer. */
export function notOpened(leg: AgentLeg): ProxyError {
  const { stderrTail } = leg.health();
  const data = { agent: leg.name, reason: 'no_session', stderr: stderrTail.slice(-STDERR_LINES) };
  return failure('SESSION_NOT_OPENED', [leg.name, openingLimitMs(leg), lastWords(stderrTail)], data);
}
