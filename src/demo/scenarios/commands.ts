// The table of commands: each one advertised has its scenario.
import type { AvailableCommand } from '@agentclientprotocol/sdk';
import { call } from './call.ts';
import { edit, read } from './files.ts';
import { run } from './run.ts';
import type { Scenario } from './scenario.ts';
import { chat, plan, slow, tools, whoami } from './talk.ts';

type Command = { readonly description: string; readonly hint?: string; readonly scenario: Scenario };

const commands: ReadonlyMap<string, Command> = new Map<string, Command>([
  ['plan', { description: 'Make a plan and follow it', hint: 'TOPIC', scenario: plan }],
  ['edit', { description: 'Add a line to a file', hint: 'PATH', scenario: edit }],
  ['run', { description: 'Run a command in a terminal', hint: 'COMMAND…', scenario: run }],
  ['read', { description: 'Read a file', hint: 'PATH', scenario: read }],
  ['tools', { description: 'List the tools of the MCP servers', scenario: tools }],
  ['call', { description: 'Call a tool of an MCP server', hint: 'SERVER TOOL JSON', scenario: call }],
  ['slow', { description: 'Speak slowly, to try cancelling', hint: 'SECONDS', scenario: slow }],
  ['whoami', { description: 'Tell about this agent and session as JSON', scenario: whoami }],
]);

export const availableCommands: AvailableCommand[] = [...commands].map(([name, { description, hint }]) => ({
  name,
  description,
  ...(hint === undefined ? {} : { input: { hint } }),
}));

/** `/plan a shed` and `plan a shed` pick the same scenario; `Plan` with a capital starts a sentence, not a command. */
export function pickScenario(text: string): { scenario: Scenario; rest: string } {
  const [, word = '', rest = ''] = /^\s*\/?(\S+)\s*(.*)$/s.exec(text) ?? [];
  const command = commands.get(word);
  return command === undefined ? { scenario: chat, rest: text.trim() } : { scenario: command.scenario, rest: rest.trim() };
}
