// What a sandbox must know of the process that starts in it, and what the process can do through it.
import type { AgentSpec } from '../../agents/defaults.ts';
import type { Transport } from '../../transports/transport.ts';
import type { ContainCommand } from '../../workspace/terminal.ts';

export type ProcessContext = {
  /** Distinguishes the processes of one agent. */
  readonly process?: string | undefined;
  /** The session that an isolated process is started for, by the agent's id, if it exists already. */
  readonly sessionId?: string | undefined;
  /** The session's directories; empty for a process that serves none. */
  readonly directories: readonly string[];
  /** The layer of the session's changes, at the level `review`. */
  readonly layer: string | undefined;
  /** A login: the browser answers at a port that the process opens, so its network is open. */
  readonly isLogin?: boolean | undefined;
  /** Undefined: the connection is allowed. Otherwise the reason. `isListed`: the configuration or the catalogue names the host. */
  decideHost(host: string, port: number, isListed: boolean, signal: AbortSignal): Promise<string | undefined>;
};

/** The same for a command that the proxy starts for the agent. */
export type ContainServed = (spec: AgentSpec, context: ProcessContext) => ContainCommand | undefined;

export type LaunchDeps<A> = {
  readonly containCommand?: ContainServed | undefined;
  readonly launch: (spec: AgentSpec, context: ProcessContext) => Transport;
  /** Decides for a contained agent. */
  readonly decideHost?: ((agent: A, ...about: Parameters<ProcessContext['decideHost']>) => Promise<string | undefined>) | undefined;
};

/** Makes loopback ports reachable one by one, then calls back. */
export function reachAll(reach: Transport['reach'], [port, ...others]: readonly number[], then: () => void): void {
  if (port === undefined || !reach) return then();
  reach(port, () => reachAll(reach, others, then));
}
