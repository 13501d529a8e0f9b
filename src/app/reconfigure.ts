// What of a configuration can change while clients are served: the agents and which of them gets a session, for sessions to come, the policy,
// for all, and how much is said. The rest is part of what has been put together already.
import type { Config } from '../config/config.ts';
import type { Connection } from '../proxy/api.ts';

/** By key of the file: what holds from the next start on. */
const LATER: Readonly<Record<string, keyof Config>> = {
  limits: 'limits',
  timeouts: 'initializeWaitMs',
  workspace: 'workspace',
  host_tools: 'hostTools',
  mcp_servers: 'mcpServers',
  log: 'logging',
  store: 'store',
};

export type Reconfigured = {
  readonly isTaken: boolean;
  /** For people: what has changed, or why nothing has. */
  readonly said: string;
  /** Keys whose change holds from the next start on. */
  readonly later: readonly string[];
};

/** Whether anything at all is different. */
export const isAlike = (one: Config, other: Config): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Keys of the file that are different and cannot be taken over. */
export function changedForLater(before: Config, next: Config): string[] {
  const { level } = before.logging;
  const after = { ...next, logging: { ...next.logging, level } };
  return Object.entries(LATER).flatMap(([key, part]) => (JSON.stringify(before[part]) === JSON.stringify(after[part]) ? [] : [key]));
}

/** All connections are alike in what they can take, so that the answer of one is that of all. */
export function reconfigureAll(
  clients: readonly { readonly connection: Connection }[],
  next: Config,
): { readonly isTaken: boolean; readonly said: string } {
  const answers = clients.map(({ connection }) => connection.reconfigure(next));
  return answers.find(({ isTaken }) => !isTaken) ?? answers[0] ?? { isTaken: true, said: 'there are no clients' };
}
