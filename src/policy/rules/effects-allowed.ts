// Whether a rule that names a command allows all its effects.
import type { Action, Command, Operand } from '../actions/action.ts';
import type { Effect, FileEffect, Meaning } from '../commands/effect.ts';
import type { Fit } from '../commands/pattern-fit.ts';
import { isInside } from '../paths/path.ts';
import { executableConfig } from '../paths/path-glob.ts';
import type { DeniedNames } from './denied-names.ts';
import type { Rule } from './rule.ts';

/** What other rules allow: files by `read`, `edit` and `delete` rules, hosts by `fetch` rules. */
export type Permits = {
  path(as: 'read' | 'edit' | 'delete', file: Operand): boolean;
  /** Only rules that name the file itself, or `$executable-config`. */
  config(as: 'edit' | 'delete', file: Operand): boolean;
  host(host: string): boolean;
  readonly denied: DeniedNames;
};

type Judgement = { readonly rule: Rule; readonly filesOf: FilesOf; readonly action: Action; readonly permits: Permits };

/** The files of a command by what is done to them: an effect has one for each directory that the command may run in. */
export type FilesOf = ReadonlyMap<Effect, readonly Operand[]>;

export function filesByEffect({ operands }: Command): FilesOf {
  const files = new Map<Effect, Operand[]>();
  for (const operand of operands) {
    if (operand.effect === undefined) continue;
    const known = files.get(operand.effect);
    if (known === undefined) files.set(operand.effect, [operand]);
    else known.push(operand);
  }
  return files;
}

/** The first effect that nothing allows, as the end of a sentence; undefined if all are allowed. */
export function refusedEffect(meaning: Meaning, fit: Fit, judgement: Judgement): string | undefined {
  if (!meaning.isUnderstood) return `${meaning.word}: ${meaning.reason}`;
  for (const effect of meaning.effects) {
    const reason = 'path' in effect ? refusedFile(effect, meaning, fit, judgement) : refusedOther(effect, meaning, fit, judgement);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

type Other = Exclude<Effect, FileEffect>;

function refusedOther(effect: Other, meaning: Meaning & { isUnderstood: true }, fit: Fit, judgement: Judgement): string | undefined {
  const isNamed = fit.isSpelledOut || fit.named.has(effect.word);
  const isMeant = effect.by === 'unasked' && fit.isCommandNamed;
  switch (effect.kind) {
    case 'command': {
      const inner = fit.nested.get(effect);
      if (inner === undefined)
        return `${meaning.parsed.path[0]} starts ${effect.argv[0] ?? 'another command'}, which the rule does not name`;
      return refusedEffect(effect.meaning, inner, judgement);
    }
    case 'run':
      return isNamed || isMeant ? undefined : `it runs ${effect.program}`;
    case 'project':
      // The tests and the build of the project are what the rule is about; a script that is named in a word is any code.
      if (effect.by === 'unasked' ? fit.isProgramNamed : !effect.isCode || fit.matched.has(effect.word)) return undefined;
      return `it runs ${effect.name}; a rule must name what it runs`;
    case 'connect': {
      if (isNamed || isMeant) return undefined;
      const { host } = effect;
      const isAllowed =
        host !== undefined && (judgement.rule.hosts?.some((wanted) => wanted.matches(host)) ?? judgement.permits.host(host));
      return isAllowed ? undefined : `it connects to ${host ?? 'another machine'}`;
    }
    case 'environment':
      return isNamed ? undefined : 'it shows variables of the environment';
  }
}

function refusedFile(effect: FileEffect, meaning: Meaning & { isUnderstood: true }, fit: Fit, judgement: Judgement): string | undefined {
  if (fit.isSpelledOut) return undefined;
  if (effect.by === 'unasked') return fit.isCommandNamed || isReading(effect) ? undefined : `it writes ${effect.path}`;
  if (fit.named.has(effect.word)) return undefined;
  for (const file of judgement.filesOf.get(effect) ?? []) {
    const reason = isReading(effect) ? refusedRead(file, effect, judgement) : refusedWrite(file, effect, meaning, fit, judgement);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

const isReading = ({ kind }: FileEffect): boolean => kind === 'read' || kind === 'names' || kind === 'walk';

function refusedRead(file: Operand, effect: FileEffect, { rule, action, permits }: Judgement): string | undefined {
  if (effect.walks?.has('follows')) return 'it follows links out of the directory';
  const isAllowed = rule.paths
    ? rule.paths.some((glob) => glob.matches(file.path, action))
    : isInside(action.cwd, file.path) || permits.path('read', file);
  if (isAllowed && effect.walks?.has('links')) {
    const found = action.findBelow?.(file.path, true, (_, kind) => kind !== 'file');
    if (found !== undefined)
      return found === 'too many' ? `there are more files below ${effect.path} than are looked at` : `it may read through ${found.file}`;
  }
  if (!isAllowed) return `it reads ${effect.path}, which ${rule.paths ? 'the rule does not cover' : 'is outside the session directory'}`;
  return permits.denied.reachedBy(file, action);
}

function refusedWrite(
  file: Operand,
  effect: FileEffect,
  { parsed }: Meaning & { isUnderstood: true },
  fit: Fit,
  { rule, action, permits }: Judgement,
): string | undefined {
  const isWriter = parsed.entry.data.isWriter === true && effect.by === 'operand';
  const isRemoval = effect.kind === 'delete' || effect.kind === 'move';
  const what = `it ${effect.kind === 'delete' ? 'deletes' : effect.kind === 'move' ? 'moves' : 'writes'} ${effect.path}`;
  const reached = permits.denied.reachedBy(file, action);
  if (reached !== undefined) return reached;
  if (effect.kind === 'unpack') return `it unpacks files into ${effect.path}`;
  // A place where one does not expect a file to be written.
  const isPlain = isWriter || effect.kind === 'modify' || isRemoval || (effect.option !== undefined && fit.options.has(effect.option));
  if (!isPlain) return what;
  if (rule.paths && !rule.paths.some((glob) => glob.matches(file.path, action))) return `${what}, which the rule does not cover`;
  const as = isRemoval ? 'delete' : 'edit';
  if (executableConfig().touches(file, action)) return permits.config(as, file) ? undefined : `${what}, which makes programs run something`;
  if (isWriter && (rule.paths !== undefined || isInside(action.cwd, file.path))) return undefined;
  return permits.path(as, file) ? undefined : `${what}, which no ${as} rule allows`;
}

/** A redirection is a read or a write like any other. */
export function refusedRedirect(file: Operand, action: Action, permits: Permits): string | undefined {
  if (file.access === 'read')
    return isInside(action.cwd, file.path) || permits.path('read', file) ? undefined : 'it reads a file outside the session directory';
  if (executableConfig().touches(file, action))
    return permits.config('edit', file) ? undefined : `it writes ${file.written}, which makes programs run something`;
  return permits.path('edit', file) ? undefined : `it writes ${file.written}, which no edit rule allows`;
}
