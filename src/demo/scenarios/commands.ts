// The one table of commands: what is advertised is what is played.
import type { AvailableCommand } from '@agentclientprotocol/sdk';
import { call } from './call.ts';
import { edit, read } from './files.ts';
import { run } from './run.ts';
import type { Scene } from './scenario.ts';
import { chat, plan, slow, tools, whoami } from './talk.ts';

type Command = { readonly description: string; readonly hint?: string; readonly scene: Scene };

const commands: ReadonlyMap<string, Command> = new Map<string, Command>([
  ['plan', { description: 'Make a plan and follow it', hint: 'TOPIC', scene: plan }],
  ['edit', { description: 'Add a line to a file', hint: 'PATH', scene: edit }],
  ['run', { description: 'Run a command in a terminal', hint: 'COMMAND…', scene: run }],
  ['read', { description: 'Read a file', hint: 'PATH', scene: read }],
  ['tools', { description: 'List the tools of the MCP servers', scene: tools }],
  ['call', { description: 'Call a tool of an MCP server', hint: 'SERVER TOOL JSON', scene: call }],
  ['slow', { description: 'Speak slowly, to try cancelling', hint: 'SECONDS', scene: slow }],
  ['whoami', { description: 'Tell about this agent and session as JSON', scene: whoami }],
]);

export const availableCommands: AvailableCommand[] = [...commands].map(([name, { description, hint }]) => ({
  name,
  description,
  ...(hint === undefined ? {} : { input: { hint } }),
}));

/** `/plan a shed` and `plan a shed` pick the same scene; `Plan` with a capital begins a sentence, not a command. */
export function pickScene(text: string): { scene: Scene; rest: string } {
  const [, word = '', rest = ''] = /^\s*\/?(\S+)\s*(.*)$/s.exec(text) ?? [];
  const command = commands.get(word);
  return command === undefined ? { scene: chat, rest: text.trim() } : { scene: command.scene, rest: rest.trim() };
}
