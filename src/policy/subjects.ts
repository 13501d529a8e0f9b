// What a request consists of, as far as allowing goes: each of these must be allowed on its own.
import type { Asked, AskedPath, Command, McpCall } from './asked.ts';

export type Subject =
  | { readonly kind: 'command'; readonly command: Command }
  | { readonly kind: 'path'; readonly path: AskedPath }
  | { readonly kind: 'host'; readonly host: string }
  | { readonly kind: 'mcp'; readonly call: McpCall }
  | { readonly kind: 'whole' };

export function subjectsOf(asked: Asked): readonly Subject[] {
  const commands = asked.commands.filter(({ where }) => where === 'line');
  if (commands.length > 0) return commands.map((command) => ({ kind: 'command', command }));
  // An execution whose command is not known has nothing that could be allowed.
  if (asked.action === 'execute') return [];
  if (asked.mcp !== undefined) return [{ kind: 'mcp', call: asked.mcp }];
  const parts: Subject[] = [
    ...asked.paths.map((path): Subject => ({ kind: 'path', path })),
    ...asked.hosts.map((host): Subject => ({ kind: 'host', host })),
  ];
  return parts.length > 0 ? parts : [{ kind: 'whole' }];
}

/** Whether enough is known of it for an allow. A title never is, and neither is a kind alone. */
export function isEvident(subject: Subject, asked: Asked): boolean {
  if (subject.kind === 'path') return subject.path.evidence === 'raw' || subject.path.evidence === 'locations';
  if (subject.kind === 'command') return subject.command.evidence === 'raw';
  return asked.evidence === 'raw';
}
