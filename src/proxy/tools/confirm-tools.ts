// Whether the tools we lend arrive. An agent that ignores a server says nothing, so we look: has it connected by the time it works?
import { takenTransports } from '../../mcp/server/offer.ts';
import type { ToolServer } from '../../mcp/server/tool-server.ts';
import { capabilityKey } from '../../store/capability-cache.ts';
import type { AgentLeg } from '../agents/agent.ts';
import type { Hub } from '../hub.ts';
import { tell } from '../sessions/attachments.ts';
import { record } from '../sessions/open-params.ts';
import type { Session } from '../sessions/session.ts';

/** Some agents connect in the background (qwen), while the first turn is under way. */
const GRACE_MS = 10_000;

/** What an agent was seen to do is kept beside what it answered to initialize. */
export const memoryKey = (hub: Hub, leg: AgentLeg): string => capabilityKey(leg.spec, hub.greeting?.clientCapabilities);

/** The agent has come further with the server of its session. One that was deleted meanwhile, perhaps by another process, stays so. */
export function stateReached(hub: Hub, session: Session, toolServer: ToolServer): void {
  noteTransport(hub, session, toolServer);
  if (!hub.log.wasHiddenLately(session.leg.name, session.nativeId)) record(hub, session);
}

/** An agent that has spoken to the server takes that way. */
export function noteTransport(hub: Hub, { leg }: Session, { transport, state }: ToolServer): void {
  if (state !== 'offered') hub.lending?.memory?.note(memoryKey(hub, leg), transport, 'connected');
}

/** Called when the agent uses a tool or ends a turn: by then it has its servers, if it wants them. */
export function lookForTools(hub: Hub, session: Session): void {
  const { loan } = session;
  if (!loan?.toolServer || loan.isLookedFor) return;
  loan.isLookedFor = true;
  const look = () => {
    if (session.loan === loan && loan.toolServer?.state === 'offered') missed(hub, session, loan.toolServer);
  };
  hub.clock.after(Math.max(0, GRACE_MS - (hub.clock.monotonicMs() - loan.sinceMs)), look);
}

function missed(hub: Hub, session: Session, { transport }: ToolServer): void {
  const { lending } = hub;
  const { leg } = session;
  if (!lending) return;
  const key = memoryKey(hub, leg);
  const before = lending.memory?.seen(key) ?? {};
  const offered = takenTransports(leg.handshake?.result.agentCapabilities?.mcpCapabilities);
  lending.memory?.note(key, transport, 'ignored');
  // Once for each agent; and one that is known to ignore every way need not be spoken of again.
  if (lending.toldOf.has(leg.name) || offered.every((one) => before[one] === 'ignored')) return;
  lending.toldOf.add(leg.name);
  const others = offered.filter((one) => one !== transport && before[one] !== 'ignored');
  const setting = `agent_servers.${leg.name}.mcp_transport`;
  const next =
    leg.spec.mcpTransport !== 'auto'
      ? `Set ${setting} to ${['auto', ...offered.filter((one) => one !== transport)].join(', ')} or off.`
      : others.length > 0
        ? `The next session offers them by ${others[0]}.`
        : `Every way it says it takes has been tried; ${setting} may be set to another of acp, http and stdio, or to off.`;
  tell(
    hub,
    session,
    'warning',
    `${leg.title} does not use the tools it was lent`,
    `They were offered by ${transport}, and it never connected. ${next}`,
  );
  hub.notice(`agent "${leg.name}" never connected to the tools it was offered by ${transport}. ${next}`);
}
