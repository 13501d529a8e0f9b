// Proposes a rule that covers one action and as little else as possible: the agent, the directory, and the exact command, file, tool or
// host.
import type { Action, Command } from '../actions/action.ts';
import { type Subject, subjectsOf } from '../actions/subjects.ts';
import { isInside } from '../paths/path.ts';

/** The keys of a rule in the order they are written. */
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

/** `cannot`: why no rule would cover it, as the end of a sentence. */
export function proposeRule(action: Action): ProposedRule | { readonly cannot: string } {
  if (action.isUnreadable) return { cannot: 'it is too long, or nested too deeply' };
  const [doubt] = action.opaque;
  if (doubt !== undefined) return { cannot: `it contains ${doubt}` };
  const subjects = subjectsOf(action);
  const kinds = new Set(subjects.map(({ kind }) => kind));
  const [kind] = kinds;
  if (kind === undefined) return { cannot: 'the agent does not describe it' };
  if (kinds.size > 1 || subjects.some((subject) => 'as' in subject && subject.as !== undefined))
    return { cannot: 'it combines several things, such as a command and a file outside the directory' };
  const who = { action: action.kind, agent: action.agent };
  const where = isPlain(action.cwd) ? { cwd: action.cwd } : {};
  const what = conditionsOf(subjects, action);
  return what === undefined ? { cannot: 'it contains characters that a rule reads as a pattern' } : { ...who, ...what, ...where };
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
        // `https://*/` parses as a URL, but its host matches every host in a rule.
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

/** Every word spelled out; undefined if a rule would read a word as a pattern. */
function patternOf({ argv, isLiteral }: Command): string | undefined {
  const spelled = argv.map((word) => {
    if (!isName(word) || word === '...' || /[\n\r]/.test(word)) return undefined;
    if (/^[^\s"']+$/.test(word)) return word;
    return word.includes('"') ? (word.includes("'") ? undefined : `'${word}'`) : `"${word}"`;
  });
  return isLiteral && spelled.every((word) => word !== undefined) ? spelled.join(' ') : undefined;
}

function pathOf(file: string, cwd: string): string | undefined {
  const below = isInside(cwd, file) && file !== cwd ? `$cwd/${file.slice(cwd === '/' ? 1 : cwd.length + 1)}` : file;
  return isPlain(below.replace(/^\$cwd\//, '/')) ? below : undefined;
}

const isName = (word: string): boolean => !/[*|]/.test(word);

/** A glob matches exactly this text. */
const isPlain = (file: string): boolean => file.startsWith('/') && !/[*?[\]{}()!+@\\$|]/.test(file);
