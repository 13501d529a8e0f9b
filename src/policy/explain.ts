// A request in a person's words, put into the form that rules are held against: a command line, a file, a tool.
import { ACTIONS, type Action, type ActionKind, type Place } from './actions/action.ts';
import { commandAction, mcpAction, pathAction, toolAction } from './actions/surfaces.ts';

export type Described = {
  readonly command?: string | undefined;
  readonly path?: string | undefined;
  /** `server:tool` for one of an MCP server. */
  readonly tool?: string | undefined;
  /** What is done with the file, or with the tool. */
  readonly action?: ActionKind | undefined;
};

/** One of command, path and tool. */
export function describedAction(place: Place, { command, path, tool = '', action }: Described): Action {
  if (command !== undefined) return commandAction(place, command);
  if (path !== undefined) return pathAction(place, action ?? 'edit', path);
  const [server = '', ...name] = tool.split(':');
  if (name.length > 0) return mcpAction(place, { server, tool: name.join(':'), args: {} });
  return toolAction(place, action ?? 'other', tool);
}

export const isAction = (word: string): word is ActionKind => ACTIONS.some((known) => known === word);
