// Under `default: allow`: whether a command could do what a rule denies without a word that says so.
import type { Action } from '../actions/action.ts';
import type { Effect, FileEffect, Meaning } from '../commands/effect.ts';
import { resolvePath } from '../paths/path.ts';
import type { Rule } from './rule.ts';

type Denials = { readonly rules: readonly Rule[]; readonly cwds: readonly string[]; readonly action: Action };

export function isClear(meaning: Meaning, denials: Denials): boolean {
  return meaning.isUnderstood && meaning.effects.every((effect) => isClearEffect(effect, denials));
}

function isClearEffect(effect: Effect, denials: Denials): boolean {
  switch (effect.kind) {
    case 'command':
      return isClear(effect.meaning, denials);
    case 'run':
      return effect.by === 'unasked';
    case 'project':
      return !effect.isCode;
    case 'connect':
      // A host that a word names is met by rules about hosts.
      return effect.host !== undefined || !denials.rules.some(({ actions, hosts }) => hosts !== undefined || actions?.has('fetch'));
    case 'environment':
      return true;
    default:
      return isClearChange(effect, denials);
  }
}

/** git's own book-keeping. */
const BOOKKEEPING = /^\$repository\/\.git\/(?!config|hooks|info)/;

// Files that a word names are met by rules about paths.
function isClearChange(effect: FileEffect, { rules, cwds, action }: Denials): boolean {
  if (effect.kind === 'read' || effect.kind === 'names' || effect.kind === 'walk' || BOOKKEEPING.test(effect.path)) return true;
  const changes = rules.filter(({ actions, paths }) => paths !== undefined && isAboutChanges(actions));
  if (effect.kind === 'unpack') return changes.length === 0;
  if (effect.by !== 'unasked') return true;
  const text = effect.path.replace(/^\$repository(?=\/|$)/, action.cwd).replace(/^~(?=\/)/, action.home ?? '~');
  return cwds.every((cwd) => {
    const path = resolvePath(cwd, text);
    const file = { path, written: path, folded: [path.toLowerCase()], access: 'write', evidence: 'raw' } as const;
    return !changes.some(({ paths }) => paths?.some((glob) => glob.touches(file, action)));
  });
}

const isAboutChanges = (actions: Rule['actions']): boolean =>
  actions === undefined || actions.has('edit') || actions.has('delete') || actions.has('move');
