// What a request consists of, as far as allowing goes: each of these must be allowed on its own.

import { isInside } from '../paths/path.ts';
import type { Action, ActionKind, ActionPath, Command, McpCall } from './action.ts';

export type Subject =
  | { readonly kind: 'command'; readonly command: Command }
  /** `as` is the action it must be allowed for, where that is not the action of the whole. */
  | { readonly kind: 'path'; readonly path: ActionPath; readonly as?: ActionKind }
  | { readonly kind: 'host'; readonly host: string; readonly as?: ActionKind }
  | { readonly kind: 'mcp'; readonly call: McpCall }
  | { readonly kind: 'whole' };

export function subjectsOf(action: Action): readonly Subject[] {
  const commands = action.commands.filter(({ where }) => where === 'line');
  if (commands.length > 0) return [...commands.map((command): Subject => ({ kind: 'command', command })), ...otherSubjects(action)];
  // An execution whose command is not known has nothing that could be allowed.
  if (action.kind === 'execute') return [];
  if (action.mcp !== undefined) return [{ kind: 'mcp', call: action.mcp }];
  const parts: Subject[] = [
    ...action.paths.map((path): Subject => ({ kind: 'path', path })),
    ...action.hosts.map((host): Subject => ({ kind: 'host', host })),
  ];
  return parts.length > 0 ? parts : [{ kind: 'whole' }];
}

// What is told beside a command is a part of the request as well; but agents also list files of the project that a command is about.
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

/** Whether enough is known of it for an allow. A title never is, and neither is a kind alone. */
export function isEvident(subject: Subject, action: Action): boolean {
  if (subject.kind === 'path') return subject.path.evidence === 'raw' || subject.path.evidence === 'locations';
  if (subject.kind === 'command') return subject.command.evidence === 'raw';
  return action.evidence === 'raw';
}
