// The built-in tools, and which of them the configuration switches on.
import { type HostTool, object, ToolFailure, text } from '../server/tool.ts';
import { FORMER_NAMES, type HostToolsSettings } from '../settings.ts';
import { askUserTool, sessionInfoTool } from './ask-user.ts';
import { fileTools } from './files.ts';
import { terminalTools } from './terminal.ts';
import { commandTool } from './user-command.ts';

// One agent prompts another. Off by default; the proxy decides which agents may delegate, and how deep.
export const delegateTool: HostTool = {
  name: 'delegate',
  title: 'Ask another agent',
  description:
    'Sends a task to another agent in a session of its own and returns its answer. The other agent knows only what the prompt says.',
  inputSchema: object({ agent: { type: 'string', minLength: 1 }, prompt: { type: 'string', minLength: 1 } }, ['agent', 'prompt']),
  effect: 'delegate',
  needs: ['delegate'],
  timeoutMs: undefined,
  server: 'switchboard',
  async run(args, { host, signal, progress }) {
    if (!host.delegate) throw new ToolFailure('this session cannot delegate to other agents');
    const done = await host.delegate({ agent: String(args.agent), prompt: String(args.prompt) }, signal, progress);
    const structuredContent = { agent: done.agent, session_id: done.sessionId, stop_reason: done.stopReason };
    return { ...text(done.text === '' ? `[${done.agent} ended with ${done.stopReason} and no text]` : done.text), structuredContent };
  },
};

export const allTools: readonly HostTool[] = [...fileTools, ...terminalTools, askUserTool, sessionInfoTool, delegateTool];

/** `environment` is for the programs of `commands`. */
export function toolsFor(
  { files, terminal, askUser, delegate, without, commands }: HostToolsSettings,
  environment: () => Readonly<Record<string, string>>,
): readonly HostTool[] {
  const own = [
    ...(files ? fileTools : []),
    ...(terminal ? terminalTools : []),
    ...(askUser ? [askUserTool] : []),
    sessionInfoTool,
    ...(delegate ? [delegateTool] : []),
  ];
  const omitted = without.map((name) => FORMER_NAMES[name] ?? name);
  return [...own.filter(({ name }) => !omitted.includes(name)), ...commands.map((settings) => commandTool(settings, environment))];
}
