// Shared by the tests of host tools: agents that use MCP servers, and their output.
import { fixture, type Json, type Peer, prompt, type Server } from '../e2e/harness.ts';

export type Takes = 'stdio' | 'http' | 'acp' | 'acp-old' | 'none';

export const mcpAgent = (takes: Takes, name = 'mcp-agent'): Server => fixture('mcp-agent', '--takes', takes, '--name', name);

/** These tests enable host tools; most others do not. */
export const HOST_TOOLS = { host_tools: { enabled: true } };

/** The agent's answer to a prompt, parsed as JSON. */
export async function notified(client: Peer, sessionId: string, words: string): Promise<Json> {
  const before = client.agentText(sessionId).length;
  const answer = await prompt(client, sessionId, words);
  if (answer.result?.stopReason !== 'end_turn') throw new Error(`the turn ended with ${JSON.stringify(answer)}`);
  return JSON.parse(client.agentText(sessionId).slice(before));
}

/** Calls a host tool as the agent does. */
export const called = (client: Peer, sessionId: string, tool: string, args: Json = {}): Promise<Json> =>
  notified(client, sessionId, `call ${tool} ${JSON.stringify(args)}`);

export const wordsOf = (outcome: Json): string => outcome.content?.[0]?.text ?? JSON.stringify(outcome);
