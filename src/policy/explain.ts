// Builds an action from a user's description: a command line, a file or a tool.
import { ACTIONS, type Action, type ActionKind, type Place } from './actions/action.ts';
import { commandAction, mcpAction, pathAction, toolAction } from './actions/surfaces.ts';

export type Described = {
  readonly command?: string | undefined;
  readonly path?: string | undefined;
  /** `server:tool` for a tool of an MCP server. */
  readonly tool?: string | undefined;
  /** What happens to the file, or what the tool does. */
  readonly action?: ActionKind | undefined;
};

/** Give one of command, path and tool. */
export function describedAction(place: Place, { command, path, tool = '', action }: Described): Action {
  if (command !== undefined) return commandAction(place, command);
  if (path !== undefined) return pathAction(place, action ?? 'edit', path);
  const [server = '', ...name] = tool.split(':');
  if (name.length > 0) return mcpAction(place, { server, tool: name.join(':'), args: {} });
  return toolAction(place, action ?? 'other', tool);
}

export const isAction = (name: string): name is ActionKind => ACTIONS.some((known) => known === name);
