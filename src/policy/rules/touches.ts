// Whether a deny or ask rule applies to an action: one matching fact is enough.

import type { Access, Action, ActionKind, ActionPath, Command } from '../actions/action.ts';
import { fitsLoosely } from '../commands/command-pattern.ts';
import { fitsLooselyByMeaning } from '../commands/pattern-fit.ts';
import { GLOBAL_VALUES } from '../commands/wrappers.ts';
import { argsMatch } from './args-test.ts';
import type { Rule } from './rule.ts';

export function touches(rule: Rule, action: Action): boolean {
  if (rule.isExactly) return rule.isExactly(action);
  if (rule.agents && !rule.agents.some((agent) => agent.matches(action.agent))) return false;
  if (rule.interactive !== undefined && rule.interactive !== action.interactive) return false;
  if (rule.evidence && !rule.evidence.has(action.evidence)) return false;
  if (rule.tools && !rule.tools.some((tool) => action.tool !== undefined && tool.matches(action.tool))) return false;
  if (rule.cwds && !touchesDirectory(rule, action)) return false;
  if (rule.mcp && !touchesMcp(rule, action)) return false;
  if (rule.commands) return hasAction(rule, action) && action.commands.some((command) => touchesCommand(rule, command, action));
  if (rule.paths)
    return (
      action.paths.some((path) => touchesPath(rule, path, action)) ||
      action.commands.some((command) => touchesOperand(rule, command, action))
    );
  if (rule.hosts) return meansConnections(rule, action) && action.hosts.some((host) => rule.hosts?.some((wanted) => wanted.matches(host)));
  return hasAction(rule, action) || (action.commands.some(({ hosts }) => hosts.length > 0) && meansConnections(rule, action));
}

function hasAction({ actions }: Rule, { kind, claims }: Action): boolean {
  return actions === undefined || actions.has(kind) || claims.some((claim) => actions.has(claim));
}

/** `curl https://x` is not a `fetch`, but a rule about fetching means it too. */
const meansConnections = (rule: Rule, action: Action): boolean =>
  hasAction(rule, action) || (action.commands.length > 0 && (rule.actions?.has('fetch') ?? true));

function touchesMcp({ mcp, args }: Rule, { mcp: call }: Action): boolean {
  if (call === undefined || !mcp?.some((wanted) => wanted.matches(`${call.server}:${call.tool}`))) return false;
  return args === undefined || argsMatch(args, call.args);
}

function touchesDirectory({ cwds }: Rule, action: Action): boolean {
  const all = [action.cwd, ...action.commands.flatMap((command) => command.cwds)];
  return all.some((cwd) =>
    cwds?.some((glob) => glob.touches({ path: cwd, written: cwd, folded: [cwd.toLowerCase()], access: 'read', evidence: 'raw' }, action)),
  );
}

function touchesCommand(rule: Rule, command: Command, action: Action): boolean {
  const { program, argv } = command;
  const isNamed = rule.commands?.some(
    (pattern) => fitsLoosely(pattern, program, argv, GLOBAL_VALUES) || fitsLooselyByMeaning(pattern, program, argv),
  );
  if (!isNamed) return false;
  if (rule.paths && !command.operands.some((operand) => rule.paths?.some((glob) => glob.touches(operand, action)))) return false;
  return !rule.hosts || command.hosts.some((host) => rule.hosts?.some((wanted) => wanted.matches(host)));
}

function touchesPath(rule: Rule, path: ActionPath, action: Action): boolean {
  if (!rule.paths?.some((glob) => glob.touches(path, action))) return false;
  if (hasAction(rule, action)) return true;
  // The kind of an MCP call, a command or an unknown action does not tell what happens to the file.
  const isUnclear = action.kind === 'other' || action.kind === 'mcp' || action.kind === 'execute';
  return isUnclear && isMeant(rule.actions, path.access);
}

// `cat .env` is not a `read`, but a rule that denies reading `.env` means it too: an operand counts as what its program may do to it.
function touchesOperand({ actions, paths = [] }: Rule, { operands }: Command, action: Action): boolean {
  // The innermost loop of a decision: every glob against every file of every command.
  for (const operand of operands) {
    if (actions !== undefined && !actions.has('execute') && !isMeant(actions, operand.access)) continue;
    for (const glob of paths) if (glob.touches(operand, action)) return true;
  }
  return false;
}

const MEANT: Readonly<Record<Access, readonly ActionKind[]>> = {
  read: ['read', 'search'],
  write: ['edit', 'delete', 'move'],
  unknown: ['read', 'search', 'edit', 'delete', 'move'],
};

function isMeant(actions: ReadonlySet<ActionKind> | undefined, access: Access): boolean {
  return actions === undefined || MEANT[access].some((action) => actions.has(action));
}
