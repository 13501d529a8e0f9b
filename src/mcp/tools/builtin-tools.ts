// Our own tools, and which of them the configuration has switched on.

import type { HostTool } from '../server/tool.ts';
import type { HostToolsSettings } from '../settings.ts';
import { askUserTool, sessionInfoTool } from './ask-user.ts';
import { delegateTool } from './delegate.ts';
import { fileTools } from './files.ts';
import { terminalTools } from './terminal.ts';
import { commandTool } from './user-command.ts';

export const allTools: readonly HostTool[] = [...fileTools, ...terminalTools, askUserTool, sessionInfoTool, delegateTool];

export function toolsFor({ files, terminal, askUser, delegate, without, commands }: HostToolsSettings): readonly HostTool[] {
  const own = [
    ...(files ? fileTools : []),
    ...(terminal ? terminalTools : []),
    ...(askUser ? [askUserTool] : []),
    sessionInfoTool,
    ...(delegate ? [delegateTool] : []),
  ];
  return [...own.filter(({ name }) => !without.includes(name)), ...commands.map(commandTool)];
}
