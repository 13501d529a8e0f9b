// The MCP servers a session is opened with, as its agent hears of them: the editor's, some of them bridged, and ours behind them.
import type { ToolServer } from '../../mcp/server/tool-server.ts';
import type { Frame } from '../../wire/frame.ts';
import { patchedText } from '../../wire/observer.ts';
import { inOrder, type Patch } from '../../wire/writer.ts';
import type { Agent } from '../agents/agent.ts';
import type { ProxyParts } from '../parts.ts';
import type { Session } from '../sessions/session.ts';
import { type BridgedServers, bridgeServers } from './bridge-servers.ts';
import { type Attachment, attach } from './host-tools.ts';

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
export function serversFor(proxy: ProxyParts, agent: Agent, paramsText: string | undefined, done: (servers: SessionServers) => void): void {
  bridgeServers(proxy, agent, paramsText, (bridged) =>
    attach(proxy, agent, bridged.direct, (attachment) => done(together(attachment, bridged))),
  );
}

function together(attachment: Attachment, bridged: BridgedServers): SessionServers {
  return {
    patches: (frame, method) => [...attachment.patches(frame, method), ...bridged.patches(frame.bytes, frame.body)],
    text(paramsText, method) {
      const bytes = Buffer.from(paramsText);
      const whole = { start: 0, end: bytes.length };
      return attachment.text(patchedText({ bytes, ...whole }, inOrder(bridged.patches(bytes, whole))), method);
    },
    toolServer: attachment.toolServer,
    bind(session, isRecorded) {
      attachment.bind(session, isRecorded);
      session.bridged = bridged;
      bridged.bind(session);
    },
    revoke() {
      attachment.revoke();
      bridged.revoke();
    },
  };
}
