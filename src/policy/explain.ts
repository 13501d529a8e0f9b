// A request in a person's words, put into the form that rules are held against: a command line, a file, a tool.
import { ACTIONS, type Action, type Asked, type Place } from './actions/action.ts';
import { askedAction, askedCommand, askedMcp, askedPathUse } from './actions/surfaces.ts';

export type Described = {
  readonly command?: string | undefined;
  readonly path?: string | undefined;
  /** `server:tool` for one of an MCP server. */
  readonly tool?: string | undefined;
  /** What is done with the file, or with the tool. */
  readonly action?: Action | undefined;
};

/** One of command, path and tool. */
export function askedAbout(place: Place, { command, path, tool = '', action }: Described): Asked {
  if (command !== undefined) return askedCommand(place, command);
  if (path !== undefined) return askedPathUse(place, action ?? 'edit', path);
  const [server = '', ...name] = tool.split(':');
  if (name.length > 0) return askedMcp(place, { server, tool: name.join(':'), args: {} });
  return askedAction(place, action ?? 'other', tool);
}

export const isAction = (word: string): word is Action => ACTIONS.some((known) => known === word);
