// How an agent is best reached with a server: what it says it takes, corrected by what it was seen to take.

export type McpTransport = 'acp' | 'http' | 'stdio';
export type McpTransportSetting = 'auto' | McpTransport | 'off';

/** What is known of earlier sessions of the agent: which transports it has connected by, and which it left alone. */
export type SeenTransports = Readonly<Partial<Record<McpTransport, 'connected' | 'ignored'>>>;

/** The best first. Agents that take http are known to drop stdio servers (copilot), so stdio comes last, though every agent must take it. */
export function takenTransports(mcpCapabilities: unknown): readonly McpTransport[] {
  const { acp, http } = typeof mcpCapabilities === 'object' && mcpCapabilities !== null ? (mcpCapabilities as Record<string, unknown>) : {};
  return [...(isOffered(acp) ? (['acp'] as const) : []), ...(isOffered(http) ? (['http'] as const) : []), 'stdio'];
}

/** The first that has worked, else the first not known to fail; when all are, the first again, since the agent may have been changed. */
export function chooseTransport(setting: McpTransportSetting, mcpCapabilities: unknown, seen: SeenTransports): McpTransport | undefined {
  if (setting === 'off') return undefined;
  if (setting !== 'auto') return setting;
  const taken = takenTransports(mcpCapabilities);
  return taken.find((one) => seen[one] === 'connected') ?? taken.find((one) => seen[one] === undefined) ?? taken[0];
}

function isOffered(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false;
}
