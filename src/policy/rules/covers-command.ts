// Whether an allow rule covers a command: it names the command, every word is understood, and every effect is allowed.
import type { Action, Command } from '../actions/action.ts';
import { ANY_COMMAND, type CommandPattern, fitsExactly, isFree } from '../commands/command-pattern.ts';
import { fitByMeaning, fitsLooselyByMeaning } from '../commands/pattern-fit.ts';
import { interpreterOf } from '../commands/wrappers.ts';
import { isInside } from '../paths/path.ts';
import { type FilesOf, filesByEffect, type Permits, refusedEffect, refusedRedirect } from './effects-allowed.ts';
import type { Rule } from './rule.ts';

export function coversCommand(rule: Rule, command: Command, action: Action, permits: Permits, blocked: (reason: string) => void): boolean {
  if (!command.isLiteral) return false;
  let files: FilesOf | undefined;
  const filesOf = (): FilesOf => {
    files ??= filesByEffect(command);
    return files;
  };
  return (rule.commands ?? [ANY_COMMAND]).some((pattern) => {
    const reason = refusal(rule, pattern, command, action, permits, filesOf);
    if (typeof reason === 'string') blocked(reason);
    return reason === undefined;
  });
}

/** The rule is not about this command. */
const NOT_NAMED = Symbol('not named');

function refusal(
  rule: Rule,
  pattern: CommandPattern,
  command: Command,
  action: Action,
  permits: Permits,
  filesOf: () => FilesOf,
): string | undefined | typeof NOT_NAMED {
  const { argv, meaning } = command;
  const isSpelledOut = !pattern.isOpen && fitsExactly(pattern, argv) && argv.every((_, index) => !isFree(pattern, index));
  if (isSpelledOut || rule.isTrusted) {
    if (!fitsExactly(pattern, argv)) return NOT_NAMED;
  } else if (meaning.isUnderstood) {
    const fit = fitByMeaning(pattern, meaning);
    if (fit === undefined) return NOT_NAMED;
    const refused = refusedEffect(meaning, fit, { rule, filesOf: filesOf(), action, permits });
    if (refused !== undefined) return refused;
  } else if (meaning.isKnown) {
    if (!fitsLooselyByMeaning(pattern, command.program, argv)) return NOT_NAMED;
    return `not understood: "${meaning.word}" (${meaning.reason}; the table is of ${meaning.manual})`;
  } else {
    if (!fitsExactly(pattern, argv)) return NOT_NAMED;
    return `"${argv[0]}" is not in the program table, so only a rule that spells out every word covers it; execute!(${argv[0]} ...) trusts it`;
  }
  if (rule.hosts && !(command.hosts.length > 0 && command.hosts.every((host) => rule.hosts?.some((wanted) => wanted.matches(host)))))
    return NOT_NAMED;
  for (const file of command.redirects) {
    const refused = refusedRedirect(file, action, permits);
    if (refused !== undefined) return refused;
  }
  return rule.cwds === undefined ? elsewhere(command, action) : undefined;
}

/** What a rule means in another directory than the session's is not what its author saw. */
function elsewhere({ argv, program, cwds, operands, meaning }: Command, action: Action): string | undefined {
  if (!cwds.every((cwd) => isInside(action.cwd, cwd))) return 'it runs outside the session directory';
  // A repository in a subdirectory has its own hooks and configuration, and a relative script is a different file there.
  const isCode = meaning.isUnderstood ? meaning.parsed.entry.parse === 'first' : interpreterOf(program) !== undefined;
  const isBound = program === 'git' || isCode || (argv[0] ?? '').includes('/');
  const hasEntered = operands.some(({ effect, path }) => effect !== undefined && effect.entered.length > 0 && path !== action.cwd);
  return isBound && (hasEntered || cwds.some((cwd) => cwd !== action.cwd))
    ? `in another directory, ${program} may be or run something else`
    : undefined;
}
