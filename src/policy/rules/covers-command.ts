// Whether an allow rule covers a command: it names the command, every word is understood, and every effect is allowed.
import type { Action, Command } from '../actions/action.ts';
import { ANY_COMMAND, type CommandPattern, fitsExactly, isFree } from '../commands/command-pattern.ts';
import { dangerousOptionReason } from '../commands/dangerous-options.ts';
import { fitByMeaning, fitsLooselyByMeaning } from '../commands/pattern-fit.ts';
import { interpreterOf, WRAPPERS } from '../commands/programs.ts';
import { isInside } from '../paths/path.ts';
import { type Permits, refusedEffect, refusedRedirect } from './effects-allowed.ts';
import type { Rule } from './rule.ts';

export function coversCommand(rule: Rule, command: Command, action: Action, permits: Permits, blocked: (reason: string) => void): boolean {
  if (!command.isLiteral) return false;
  return (rule.commands ?? [ANY_COMMAND]).some((pattern) => {
    const reason = refusal(rule, pattern, command, action, permits);
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
): string | undefined | typeof NOT_NAMED {
  const { argv, meaning } = command;
  const isSpelledOut = !pattern.isOpen && fitsExactly(pattern, argv) && argv.every((_, index) => !isFree(pattern, index));
  if (isSpelledOut || rule.isTrusted) {
    if (!fitsExactly(pattern, argv)) return NOT_NAMED;
  } else if (meaning.isUnderstood) {
    const fit = fitByMeaning(pattern, meaning);
    if (fit === undefined) return NOT_NAMED;
    const refused = refusedEffect(meaning, fit, { rule, command, action, permits });
    if (refused !== undefined) return refused;
  } else if (meaning.isKnown) {
    if (!fitsLooselyByMeaning(pattern, command.program, argv)) return NOT_NAMED;
    return `not understood: "${meaning.word}" (${meaning.reason}; the table is of ${meaning.manual})`;
  } else {
    const refused = unknownProgram(rule, pattern, command, action);
    if (refused !== undefined) return refused;
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
function elsewhere({ argv, program, cwds, meaning }: Command, action: Action): string | undefined {
  if (!cwds.every((cwd) => isInside(action.cwd, cwd))) return 'it runs outside the session directory';
  // A repository in a subdirectory has its own hooks and configuration, and a relative script is a different file there.
  const isCode = meaning.isUnderstood ? meaning.parsed.entry.parse === 'first' : interpreterOf(program) !== undefined;
  const isBound = program === 'git' || isCode || (argv[0] ?? '').includes('/');
  return isBound && cwds.some((cwd) => cwd !== action.cwd) ? `in another directory, ${program} may be or run something else` : undefined;
}

// Until every program is in the table: the words that the pattern leaves open must hold no option that is known to be dangerous.
function unknownProgram(rule: Rule, pattern: CommandPattern, command: Command, action: Action): string | undefined | typeof NOT_NAMED {
  const { argv, program, operands } = command;
  if (!fitsExactly(pattern, argv)) return NOT_NAMED;
  const free = (index: number) => isFree(pattern, index);
  const isFitting = operands.every(
    ({ word, path }) => word < 0 || !free(word) || (rule.paths ?? []).some((glob) => glob.matches(path, action)),
  );
  if (rule.paths && !isFitting) return NOT_NAMED;
  const wrapper = WRAPPERS.get(program);
  if (wrapper && (!wrapper.subcommands || argv.some((word) => wrapper.subcommands?.includes(word))))
    return `${program} starts another command; only a rule that spells out every word covers it`;
  const isInterpreter = interpreterOf(program) !== undefined || interpreterOf(argv[0] ?? '') !== undefined;
  if (isInterpreter && !namesScript(pattern)) return `${program} runs code; a rule must name what it runs`;
  if (program === 'git' && operands.some(({ word, path }) => free(word) && !isInside(action.cwd, path)))
    return 'git reads a file outside the session directory';
  return dangerousOptionReason(argv, free);
}

// A word after the program that is not an option and starts as the rule says: `scripts/build.mjs`, `scripts/*.mjs`.
function namesScript({ tokens }: CommandPattern): boolean {
  return tokens.slice(1).some(({ choices }) => choices.every(({ source }) => !/^[-*]/.test(source)));
}
