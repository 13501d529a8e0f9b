// The MCP servers of one session: its host tools and its bridges. Created on first use.

import { HostCalls } from './host-calls.ts';
import type { BridgedServers } from './session-servers.ts';
import type { Attachment } from './session-tools.ts';

export class ToolServers {
  attachment: Attachment | undefined = undefined;
  bridged: BridgedServers | undefined = undefined;
  /** Terminals that host tools have opened at the client. */
  readonly terminals = new Set<string>();
  /** Host tools that the user has allowed for the whole session. */
  readonly allowedTools = new Set<string>();

  /** The calls of host tools in this turn; undefined before the first. */
  hostCalls: HostCalls | undefined = undefined;

  get calls(): HostCalls {
    this.hostCalls ??= new HostCalls();
    return this.hostCalls;
  }
  /** The session is closed and may be reopened: until then no calls are possible. */
  suspend(): Pick<ToolServers, 'attachment' | 'bridged'> {
    const { attachment, bridged } = this;
    attachment?.suspend();
    bridged?.suspend();
    this.attachment = undefined;
    this.bridged = undefined;
    return { attachment, bridged };
  }
  revoke(): void {
    this.attachment?.revoke();
    this.attachment = undefined;
    this.bridged?.revoke();
    this.bridged = undefined;
  }
}
