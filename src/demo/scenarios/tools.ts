// Lists what the session's MCP servers offer. A server that fails is named and the others are still listed.

import type { Turn } from '../turn.ts';
import type { Scene } from './scenario.ts';
import { SceneFailure } from './scene-failure.ts';

export const tools: Scene = async (turn) => {
  const { names } = turn.session.mcp;
  if (names.length === 0) throw new SceneFailure('I was given no MCP servers.');
  const lines = await Promise.all(names.map((name) => linesFor(turn, name)));
  turn.signal.throwIfAborted();
  await turn.say(lines.flat().join('\n'));
};

async function linesFor(turn: Turn, name: string): Promise<string[]> {
  try {
    const offered = await turn.session.mcp.listTools(name, turn.signal);
    return offered.map((tool) => `- ${name} ${tool.name}: ${tool.description ?? ''}`);
  } catch (error) {
    if (!(error instanceof SceneFailure)) throw error;
    return [`- ${error.message}`];
  }
}
