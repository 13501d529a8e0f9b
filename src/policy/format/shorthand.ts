// `execute(npm test ...)`, `edit($cwd/src/**)`, `mcp(github:get_*)`, `fetch`: a whole rule in one string.
import { ACTIONS, type Action } from '../actions/action.ts';
import { didYouMean } from './nearest.ts';

/** The key that the words in brackets belong to. */
const INSIDE: Readonly<Record<Action, 'command' | 'path' | 'host' | 'mcp' | 'tool'>> = {
  read: 'path',
  edit: 'path',
  delete: 'path',
  move: 'path',
  search: 'path',
  execute: 'command',
  fetch: 'host',
  elicit: 'host',
  mcp: 'mcp',
  think: 'tool',
  switch_mode: 'tool',
  mode: 'tool',
  other: 'tool',
  delegate: 'tool', // the agent that is asked
};

export type Shorthand = { readonly action: Action; readonly key?: 'command' | 'path' | 'host' | 'mcp' | 'tool'; readonly inside?: string };

export function parseShorthand(text: string): Shorthand | { readonly wrong: string; readonly hint?: string | undefined } {
  const found = /^\s*([A-Za-z_]+)\s*(?:\((.*)\))?\s*$/s.exec(text);
  if (!found) return { wrong: 'expected a rule such as execute(npm test ...), edit($cwd/src/**) or mcp(server:tool)' };
  const [, name = '', inside] = found;
  const action = ACTIONS.find((known) => known === name);
  if (action === undefined)
    return { wrong: `expected an action before the bracket: ${ACTIONS.join(', ')}`, hint: didYouMean(name, ACTIONS) };
  if (inside === undefined) return { action };
  if (inside.trim() === '') return { wrong: 'there is nothing in the brackets', hint: `leave them out to mean every ${action}` };
  return { action, key: INSIDE[action], inside: inside.trim() };
}
