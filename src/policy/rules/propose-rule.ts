// A rule that covers one request and as little beside it as can be said: who asks, where, and the very command, file, tool or address.
import type { Action, Command } from '../actions/action.ts';
import { type Subject, subjectsOf } from '../actions/subjects.ts';
import { isInside } from '../paths/path.ts';

/** The keys of a rule, in the order in which they are written. */
export type ProposedRule = {
  readonly action: string;
  readonly agent: string;
  readonly tool?: string;
  readonly mcp?: string;
  readonly command?: string | readonly string[];
  readonly path?: string | readonly string[];
  readonly host?: string | readonly string[];
  readonly cwd?: string;
};

/** `cannot`: why no rule would cover it, in words that end a sentence. */
export function proposeRule(action: Action): ProposedRule | { readonly cannot: string } {
  if (action.isUnreadable) return { cannot: 'it is too long, or nested too deeply' };
  const [doubt] = action.opaque;
  if (doubt !== undefined) return { cannot: `it holds ${doubt}` };
  const subjects = subjectsOf(action);
  const kinds = new Set(subjects.map(({ kind }) => kind));
  const [kind] = kinds;
  if (kind === undefined) return { cannot: 'the agent does not say what it is about' };
  if (kinds.size > 1 || subjects.some((subject) => 'as' in subject && subject.as !== undefined))
    return { cannot: 'it is about several things at once, such as a command and a file outside the directory' };
  const who = { action: action.kind, agent: action.agent };
  const where = isPlain(action.cwd) ? { cwd: action.cwd } : {};
  const what = conditionsOf(subjects, action);
  return what === undefined ? { cannot: 'there are characters in it that mean something else in a rule' } : { ...who, ...what, ...where };
}

function conditionsOf(subjects: readonly Subject[], action: Action): Partial<ProposedRule> | undefined {
  const [first] = subjects;
  switch (first?.kind) {
    case 'command':
      return some(
        'command',
        subjects.map((subject) => subject.kind === 'command' && patternOf(subject.command)),
      );
    case 'path':
      return some(
        'path',
        subjects.map((subject) => subject.kind === 'path' && pathOf(subject.path.path, action.cwd)),
      );
    case 'host':
      return some(
        'host',
        // `https://*/` is an address to those who read addresses, and every host to a rule.
        subjects.map((subject) => subject.kind === 'host' && isName(subject.host) && subject.host),
      );
    case 'mcp':
      return isName(`${first.call.server}:${first.call.tool}`) ? { mcp: `${first.call.server}:${first.call.tool}` } : undefined;
    default:
      return action.tool === undefined ? {} : isName(action.tool) ? { tool: action.tool } : undefined;
  }
}

function some(key: 'command' | 'path' | 'host', values: readonly (string | undefined | false)[]): Partial<ProposedRule> | undefined {
  const all = [...new Set(values)];
  if (all.some((value) => typeof value !== 'string')) return undefined;
  return { [key]: all.length === 1 ? all[0] : all };
}

/** Every word spelled out. A word that is a pattern to a rule cannot be. */
function patternOf({ argv, isLiteral }: Command): string | undefined {
  const words = argv.map((word) => {
    if (!isName(word) || word === '...' || /[\n\r]/.test(word)) return undefined;
    if (/^[^\s"']+$/.test(word)) return word;
    return word.includes('"') ? (word.includes("'") ? undefined : `'${word}'`) : `"${word}"`;
  });
  return isLiteral && words.every((word) => word !== undefined) ? words.join(' ') : undefined;
}

function pathOf(file: string, cwd: string): string | undefined {
  const below = isInside(cwd, file) && file !== cwd ? `$cwd/${file.slice(cwd === '/' ? 1 : cwd.length + 1)}` : file;
  return isPlain(below.replace(/^\$cwd\//, '/')) ? below : undefined;
}

const isName = (word: string): boolean => !/[*|]/.test(word);

/** To a glob it is what it is to a reader. */
const isPlain = (file: string): boolean => file.startsWith('/') && !/[*?[\]{}()!+@\\$|]/.test(file);
