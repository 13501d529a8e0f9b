// What the tests of lent tools share: agents that use MCP servers, and what they have to say.
import { fixture, type Json, type Peer, prompt, type Server } from '../e2e/harness.ts';

export type Takes = 'stdio' | 'http' | 'acp' | 'acp-old' | 'none';

export const mcpAgent = (takes: Takes, name = 'mcp-agent'): Server => fixture('mcp-agent', '--takes', takes, '--name', name);

/** Tools are lent in these tests, unlike in those of everything else. */
export const HOST_TOOLS = { host_tools: { enabled: true } };

/** What the agent says to a prompt, as it is JSON. */
export async function told(client: Peer, sessionId: string, words: string): Promise<Json> {
  const before = client.agentText(sessionId).length;
  const answer = await prompt(client, sessionId, words);
  if (answer.result?.stopReason !== 'end_turn') throw new Error(`the turn ended with ${JSON.stringify(answer)}`);
  return JSON.parse(client.agentText(sessionId).slice(before));
}

/** Calls a tool of ours as the agent does. */
export const called = (client: Peer, sessionId: string, tool: string, args: Json = {}): Promise<Json> =>
  told(client, sessionId, `call ${tool} ${JSON.stringify(args)}`);

export const wordsOf = (outcome: Json): string => outcome.content?.[0]?.text ?? JSON.stringify(outcome);
