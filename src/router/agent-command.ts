// `/agent NAME`: the same choice as the config option, for editors that show commands but no options.
import type { AvailableCommand } from '../acp/shapes.ts';

export const COMMAND_NAME = 'agent';

export function agentCommand(agents: readonly string[]): AvailableCommand {
  return {
    name: COMMAND_NAME,
    description: 'Show or choose the agent of this session (until its first prompt)',
    input: { hint: agents.join(' | ') },
  };
}

/** The argument of `/agent` when the prompt is that command and nothing else ('' without one); undefined for any other prompt. */
export function readAgentCommand(prompt: unknown): string | undefined {
  if (!Array.isArray(prompt) || prompt.length !== 1) return undefined;
  const [block] = prompt as readonly { readonly type?: unknown; readonly text?: unknown }[];
  if (block?.type !== 'text' || typeof block.text !== 'string') return undefined;
  const found = /^\s*\/agent(?:\s+(\S+))?\s*$/.exec(block.text);
  return found ? (found[1] ?? '') : undefined;
}
