// The content of a prompt: MCP content blocks become ACP content blocks, as far as the agent takes them.

import type { AgentShown } from '../../client/agents-shown.ts';
import type { Block } from '../../client/turn-record.ts';
import { ToolFailure } from '../server/tool.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Throws if the prompt is empty or malformed, or has content that the agent does not take. */
export function promptBlocks(prompt: unknown, content: unknown, agent: AgentShown | undefined): readonly Block[] {
  const text = typeof prompt === 'string' && prompt !== '' ? [{ type: 'text', text: prompt }] : [];
  const blocks = [...text, ...(Array.isArray(content) ? content.map((block, index) => checked(block, index, agent)) : [])];
  if (blocks.length === 0) throw new ToolFailure('The prompt is empty; give prompt or content');
  return blocks;
}

const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  resource_link: ['uri'],
};

function checked(value: unknown, index: number, agent: AgentShown | undefined): Block {
  const block = value as Block;
  const missing = (REQUIRED[block.type] ?? []).find((key) => typeof block[key] !== 'string');
  if (missing !== undefined) throw new ToolFailure(`content[${index}] is not valid: a block of the type ${block.type} needs ${missing}`);
  if ((block.type === 'image' || block.type === 'audio') && agent?.takes[block.type] === false)
    throw new ToolFailure(
      `Agent "${agent.name}" takes no ${block.type === 'image' ? 'images' : 'audio'}; leave content[${index}] out, or use another agent (see list_agents)`,
    );
  if (block.type === 'resource_link') return { ...block, name: typeof block.name === 'string' ? block.name : String(block.uri) };
  return block.type === 'resource' ? resource(block, index, agent) : block;
}

/** An agent that takes no embedded resources gets the text of one as text. */
function resource(block: Block, index: number, agent: AgentShown | undefined): Block {
  const { uri, text, blob } = (block.resource ?? {}) as Fields;
  if (typeof uri !== 'string' || (typeof text !== 'string' && typeof blob !== 'string'))
    throw new ToolFailure(`content[${index}] is not valid: a resource needs uri, and text or blob`);
  if (agent?.takes.embedded !== false) return block;
  if (typeof text === 'string') return { type: 'text', text: `${uri}\n\n${text}` };
  throw new ToolFailure(`Agent "${agent.name}" takes no embedded files; send content[${index}] as a resource_link`);
}
