// For `policy explain`: an action from a user's description, and what a command does in words.
import { ACTIONS, type Action, type ActionKind, type Operand, type Place } from './actions/action.ts';
import { commandAction, mcpAction, pathAction, toolAction } from './actions/surfaces.ts';
import type { Effect, FileEffect, FileEffectKind, Meaning } from './commands/effect.ts';

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

export type DescribedEffect = { readonly does: string; readonly what: string; readonly unasked: boolean };
export type DescribedMeaning = {
  readonly effects?: readonly DescribedEffect[];
  readonly notUnderstood?: { readonly word: string; readonly reason: string; readonly manual?: string | undefined };
};

const DOES: Readonly<Record<FileEffectKind, string>> = {
  read: 'reads',
  names: 'lists',
  walk: 'reads',
  write: 'writes',
  modify: 'edits',
  append: 'writes',
  delete: 'deletes',
  move: 'moves',
  unpack: 'writes',
};

/** What a command reads, writes, runs and connects to, in the order of its words, or the word that is not understood. */
export function describedMeaning(meaning: Meaning, redirects: readonly Operand[]): DescribedMeaning {
  const shell = redirects.map(({ access, written }) => ({
    does: access === 'read' ? 'reads' : 'writes',
    what: `${written} (redirection)`,
    unasked: false,
  }));
  if (!meaning.isUnderstood) {
    const { word, reason, manual } = meaning;
    return { effects: shell, notUnderstood: { word, reason: manual === undefined ? reason : `${reason}; table of ${manual}`, manual } };
  }
  const seen = new Set<string>();
  const all = [...meaning.effects.flatMap(inWords), ...shell].filter(({ does, what }) => {
    const key = `${does} ${what}`;
    return !seen.has(key) && seen.add(key);
  });
  return { effects: all };
}

function inWords(effect: Effect): readonly DescribedEffect[] {
  const unasked = effect.by === 'unasked';
  switch (effect.kind) {
    case 'run':
      return [{ does: 'runs', what: effect.program, unasked }];
    case 'project':
      return [{ does: 'runs', what: `the project's code: ${effect.name}`, unasked }];
    case 'connect':
      return [{ does: 'connects', what: `to ${effect.host ?? 'a host that no word names'}`, unasked }];
    case 'environment':
      return [{ does: 'shows', what: 'variables of the environment', unasked }];
    case 'command': {
      const { effects = [], notUnderstood } = describedMeaning(effect.meaning, []);
      const rest =
        notUnderstood === undefined ? [] : [{ does: 'unclear', what: `${notUnderstood.word} (${notUnderstood.reason})`, unasked: false }];
      return [{ does: 'runs', what: effect.argv.join(' '), unasked }, ...effects, ...rest];
    }
    default:
      return [{ does: DOES[effect.kind], what: fileInWords(effect), unasked }];
  }
}

function fileInWords({ kind, path, entered, walks, isTracked, globs = [] }: FileEffect): string {
  const file = path.startsWith('any:') ? `any ${path.slice(4)}` : [...entered, path].join('/');
  if (kind === 'unpack') return `files that the input names, in ${file}`;
  if (kind !== 'walk') return `${file}${isTracked ? ' (tracked by git)' : ''}`;
  const seen = [...(walks ?? [])].map((modifier) => (modifier === 'follows' ? 'through links' : modifier));
  const how = [...seen, ...globs].join(', ');
  return `every file below ${file}${isTracked ? ' that git tracks' : ''}${how === '' ? '' : ` (${how})`}`;
}
