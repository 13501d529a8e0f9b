// The MCP servers a session is opened with, as its agent hears of them: the editor's, some of them bridged, and ours behind them.
import type { ToolServer } from '../../mcp/server/tool-server.ts';
import type { Frame } from '../../wire/frame.ts';
import { patchedText } from '../../wire/observer.ts';
import { inOrder, type Patch } from '../../wire/writer.ts';
import type { AgentLeg } from '../agents/agent.ts';
import type { Hub } from '../hub.ts';
import type { Session } from '../sessions/session.ts';
import { type BridgedServers, bridgeServers } from './bridge-servers.ts';
import { type Loan, lend } from './host-tools.ts';

/** From before the session is opened until it ends. */
export type SessionServers = {
  /** The changes to a frame that opens the session. */
  patches(frame: Frame, method: string): Patch[];
  /** The same to params at hand as text. */
  text(paramsText: string, method: string): string;
  /** What it will be lent. */
  readonly toolServer: ToolServer | undefined;
  /** The session is there. What it had of this before ends now. `isRecorded`: its record tells of the lease as it was. */
  bind(session: Session, isRecorded?: boolean): void;
  revoke(): void;
};

/** Calls back at once, unless a listener has to be opened first. */
export function serversFor(hub: Hub, leg: AgentLeg, paramsText: string | undefined, done: (servers: SessionServers) => void): void {
  bridgeServers(hub, leg, paramsText, (bridged) => lend(hub, leg, bridged.direct, (loan) => done(together(loan, bridged))));
}

function together(loan: Loan, bridged: BridgedServers): SessionServers {
  return {
    patches: (frame, method) => [...loan.patches(frame, method), ...bridged.patches(frame.bytes, frame.body)],
    text(paramsText, method) {
      const bytes = Buffer.from(paramsText);
      const whole = { start: 0, end: bytes.length };
      return loan.text(patchedText({ bytes, ...whole }, inOrder(bridged.patches(bytes, whole))), method);
    },
    toolServer: loan.toolServer,
    bind(session, isRecorded) {
      loan.bind(session, isRecorded);
      session.bridged = bridged;
      bridged.bind(session);
    },
    revoke() {
      loan.revoke();
      bridged.revoke();
    },
  };
}
