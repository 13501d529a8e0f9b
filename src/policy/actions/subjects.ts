// The parts of an action. An allow must cover each of them on its own.

import { isInside } from '../paths/path.ts';
import type { Action, ActionKind, ActionPath, Command, McpCall } from './action.ts';

export type Subject =
  | { readonly kind: 'command'; readonly command: Command }
  /** `as`: the kind it must be allowed for, if that differs from the action's kind. */
  | { readonly kind: 'path'; readonly path: ActionPath; readonly as?: ActionKind }
  | { readonly kind: 'host'; readonly host: string; readonly as?: ActionKind }
  | { readonly kind: 'mcp'; readonly call: McpCall }
  | { readonly kind: 'whole' };

export function subjectsOf(action: Action): readonly Subject[] {
  const commands = action.commands.filter(({ where }) => where === 'line');
  if (commands.length > 0) return [...commands.map((command): Subject => ({ kind: 'command', command })), ...otherSubjects(action)];
  // An execution whose command is unknown has nothing that a rule could allow.
  if (action.kind === 'execute') return [];
  if (action.mcp !== undefined) return [{ kind: 'mcp', call: action.mcp }];
  // A file is not fetched and an address not read, whatever the agent calls it.
  const isConnection = action.kind === 'fetch' || action.kind === 'elicit';
  const parts: Subject[] = [
    ...action.paths.map((path): Subject => ({ kind: 'path', path, ...(isConnection && { as: 'read' }) })),
    ...action.hosts.map((host): Subject => ({ kind: 'host', host, ...(!isConnection && { as: 'fetch' }) })),
  ];
  return parts.length > 0 ? parts : [{ kind: 'whole' }];
}

// Paths and hosts next to a command are part of the request. Files inside the project are not: agents list those that a command is about.
function otherSubjects({ paths, hosts, commands, claims, cwd }: Action): readonly Subject[] {
  const isWrite = claims.includes('edit');
  return [
    ...paths
      .filter(({ path }) => isWrite || !isInside(cwd, path))
      .map((path): Subject => ({ kind: 'path', path, as: isWrite ? 'edit' : 'read' })),
    ...hosts
      .filter((host) => !commands.some((command) => command.hosts.includes(host)))
      .map((host): Subject => ({ kind: 'host', host, as: 'fetch' })),
  ];
}

/** Whether enough is known for an allow. A title is never enough, and neither is a kind without details. */
export function isEvident(subject: Subject, action: Action): boolean {
  if (subject.kind === 'path') return subject.path.evidence === 'raw' || subject.path.evidence === 'locations';
  if (subject.kind === 'command') return subject.command.evidence === 'raw';
  return action.evidence === 'raw';
}
