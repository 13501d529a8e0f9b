// Which configuration changes apply while clients are connected: agents and routes to new sessions, the policy and the log level to
// everything. Other changes need a restart.
import type { Config } from '../config/config.ts';
import type { RunningProxy } from '../proxy/api.ts';

/** By key of the file: settings that need a restart. */
const LATER: Readonly<Record<string, keyof Config>> = {
  limits: 'limits',
  timeouts: 'initializeWaitMs',
  workspace: 'workspace',
  allow_cwd: 'network',
  network_clients: 'network',
  web_app: 'webApp',
  host_tools: 'hostTools',
  mcp_servers: 'mcpServers',
  audit: 'audit',
  log: 'logging',
  store: 'store',
  telemetry: 'telemetry',
};

export type Reconfigured = {
  readonly isTaken: boolean;
  /** For people: what has changed, or why nothing has. */
  readonly message: string;
  /** Changed keys that need a restart. */
  readonly later: readonly string[];
};

/** Whether the two configurations are equal. */
export const isAlike = (one: Config, other: Config): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Changed keys of the file that need a restart. */
export function changedForLater(before: Config, next: Config): string[] {
  const { level } = before.logging;
  const after = { ...next, logging: { ...next.logging, level } };
  return Object.entries(LATER).flatMap(([key, part]) => (JSON.stringify(before[part]) === JSON.stringify(after[part]) ? [] : [key]));
}

/** All connections accept the same changes, so one answer stands for all. */
export function reconfigureAll(
  clients: readonly { readonly connection: RunningProxy }[],
  next: Config,
): { readonly isTaken: boolean; readonly message: string } {
  const answers = clients.map(({ connection }) => connection.reconfigure(next));
  return answers.find(({ isTaken }) => !isTaken) ?? answers[0] ?? { isTaken: true, message: 'there are no clients' };
}
