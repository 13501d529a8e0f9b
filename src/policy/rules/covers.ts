// Whether an allow rule covers one part of an action: everything about that part must match.

import type { Action, Command } from '../actions/action.ts';
import { isEvident, type Subject } from '../actions/subjects.ts';
import { ANY_COMMAND, type CommandPattern, fitsExactly, isFree } from '../commands/command-pattern.ts';
import { dangerousOptionReason } from '../commands/dangerous-options.ts';
import { interpreterOf, WRAPPERS } from '../commands/programs.ts';
import { isInside } from '../paths/path.ts';
import { argsMatch } from './args-test.ts';
import type { Rule } from './rule.ts';

/** `blocked` receives the reason if only a dangerous option keeps the rule from covering the command. */
export function covers(rule: Rule, subject: Subject, action: Action, blocked: (reason: string) => void): boolean {
  if (rule.actions && !rule.actions.has(('as' in subject ? subject.as : undefined) ?? action.kind)) return false;
  if (subject.kind === 'command' && rule.mcp) return false;
  if (rule.agents && !rule.agents.some((agent) => agent.matches(action.agent))) return false;
  if (rule.interactive !== undefined && rule.interactive !== action.interactive) return false;
  if (rule.evidence && !rule.evidence.has(action.evidence)) return false;
  if (rule.tools && !rule.tools.some((tool) => action.tool !== undefined && tool.matches(action.tool))) return false;
  if (!isEvident(subject, action)) return false;
  if (rule.isExactly) return rule.isExactly(action);
  switch (subject.kind) {
    case 'command':
      return coversCommand(rule, subject.command, action, blocked);
    case 'mcp': {
      if (rule.commands || rule.paths || rule.hosts || !isAt(rule, [action.cwd], action)) return false;
      const name = `${subject.call.server}:${subject.call.tool}`;
      if (rule.mcp && !rule.mcp.some((wanted) => wanted.matches(name))) return false;
      return rule.args === undefined || argsMatch(rule.args, subject.call.args);
    }
    case 'path':
      if (rule.commands || rule.mcp || rule.hosts || !isAt(rule, [action.cwd], action)) return false;
      return rule.paths === undefined || rule.paths.some((glob) => glob.matches(subject.path.path, action));
    case 'host':
      if (rule.commands || rule.mcp || rule.paths || !isAt(rule, [action.cwd], action)) return false;
      return rule.hosts === undefined || rule.hosts.some((wanted) => wanted.matches(subject.host));
    case 'whole':
      return !rule.commands && !rule.mcp && !rule.paths && !rule.hosts && isAt(rule, [action.cwd], action);
  }
}

function isAt({ cwds }: Rule, at: readonly string[], action: Action): boolean {
  return cwds === undefined || at.every((cwd) => cwds.some((glob) => glob.matches(cwd, action)));
}

function coversCommand(rule: Rule, command: Command, action: Action, blocked: (reason: string) => void): boolean {
  if (!command.isLiteral || !isAt(rule, command.cwds, action)) return false;
  const { argv } = command;
  return (rule.commands ?? [ANY_COMMAND]).some((pattern) => {
    if (!fitsExactly(pattern, argv)) return false;
    const free = (index: number) => isFree(pattern, index);
    if (rule.paths && !operandsFit(rule, command, action, free)) return false;
    if (rule.hosts && !(command.hosts.length > 0 && command.hosts.every((host) => rule.hosts?.some((wanted) => wanted.matches(host)))))
      return false;
    const reason = hiddenRisk(pattern, command, action, rule.cwds !== undefined) ?? dangerousOptionReason(argv, free);
    if (reason !== undefined) blocked(reason);
    return reason === undefined;
  });
}

// Every file that the command names in a word the rule leaves open. A word that the rule spells out is approved.
function operandsFit(rule: Rule, { operands }: Command, action: Action, free: (index: number) => boolean): boolean {
  return operands.every(({ word, path }) => (word >= 0 && !free(word)) || rule.paths?.some((glob) => glob.matches(path, action)));
}

// A word after the program that is not an option and starts as the rule says: `scripts/build.mjs`, `scripts/*.mjs`.
function namesScript({ tokens }: CommandPattern): boolean {
  return tokens.slice(1).some(({ choices }) => choices.every(({ source }) => !/^[-*]/.test(source)));
}

/** What a harmless-looking allow would let in: another program, other code, another directory. */
function hiddenRisk(
  pattern: CommandPattern,
  { argv, program, cwds, operands }: Command,
  action: Action,
  isPlaced: boolean,
): string | undefined {
  const name = argv[0] ?? '';
  const isSpelledOut = !pattern.isOpen && argv.every((_, index) => !isFree(pattern, index));
  const wrapper = WRAPPERS.get(program);
  if (wrapper && !isSpelledOut && (!wrapper.subcommands || argv.some((word) => wrapper.subcommands?.includes(word))))
    return `${program} starts another command; only a rule that spells out every word covers it`;
  const isInterpreter = interpreterOf(program) !== undefined || interpreterOf(name) !== undefined;
  if (isInterpreter && !isSpelledOut && !namesScript(pattern)) return `${program} runs code; a rule must name what it runs`;
  // With paths outside its repository, `git diff` compares any two files even without `--no-index`.
  if (program === 'git' && operands.some(({ word, path }) => isFree(pattern, word) && !isInside(action.cwd, path)))
    return 'git reads a file outside the session directory';
  if (isPlaced) return undefined;
  if (!cwds.every((cwd) => isInside(action.cwd, cwd))) return 'it runs outside the session directory';
  // A repository in a subdirectory has its own hooks and configuration, and a relative script is a different file there.
  const isBound = program === 'git' || isInterpreter || name.includes('/');
  return isBound && cwds.some((cwd) => cwd !== action.cwd) ? `in another directory, ${program} may be or run something else` : undefined;
}
