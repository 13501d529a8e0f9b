// Calls one tool of one MCP server and shows the call like any other tool call.
import type { ToolCallContent } from '@agentclientprotocol/sdk';
import type { CallToolResult } from '@modelcontextprotocol/client';
import * as z from 'zod';
import { type Scenario, ScenarioFailure } from './scenario.ts';

const ARGUMENTS = z.record(z.string(), z.unknown());

export const call: Scenario = async (turn, { rest }) => {
  const [, server, tool, json = ''] = /^(\S+)\s+(\S+)\s*(.*)$/s.exec(rest) ?? [];
  if (server === undefined || tool === undefined) throw new ScenarioFailure('Which tool? Try /call SERVER TOOL {"name": "value"}.');
  const args = argumentsOf(json);

  const shown = await turn.toolCall({
    title: `${server}: ${tool}`,
    kind: 'other',
    status: 'in_progress',
    rawInput: { server, tool, args },
  });
  const result = await turn.session.mcp.callTool(server, tool, args, turn.signal);
  const status = result.isError === true ? 'failed' : 'completed';
  await shown.update({ status, content: contentOf(result), rawOutput: result });
  const text = result.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  await turn.send(`${tool} ${status === 'failed' ? 'failed' : 'answered'}: ${text}`);
};

function argumentsOf(json: string): Record<string, unknown> {
  try {
    return ARGUMENTS.parse(JSON.parse(json || '{}'));
  } catch {
    throw new ScenarioFailure('The arguments of a tool are a JSON object, such as {"text": "hello"}.');
  }
}

/** Text goes into the tool call; other kinds only into its rawOutput. */
function contentOf(result: CallToolResult): ToolCallContent[] {
  return result.content.flatMap((block) =>
    block.type === 'text' ? [{ type: 'content', content: { type: 'text', text: block.text } }] : [],
  );
}
