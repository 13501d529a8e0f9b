// Whether an allow rule covers one part of an action: everything about that part must match.

import type { Action } from '../actions/action.ts';
import { isEvident, type Subject } from '../actions/subjects.ts';
import { argsMatch } from './args-test.ts';
import { coversCommand } from './covers-command.ts';
import type { Permits } from './effects-allowed.ts';
import type { Rule } from './rule.ts';

/** `blocked` receives the reason if a rule names the command but not what it does. */
export function covers(rule: Rule, subject: Subject, action: Action, permits: Permits, blocked: (reason: string) => void): boolean {
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
      return isAt(rule, subject.command.cwds, action) && coversCommand(rule, subject.command, action, permits, blocked);
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
