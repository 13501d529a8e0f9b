// The login methods that agents offer.
import type { AuthMethod } from '../../acp/shapes.ts';

/** `agent`: the agent handles the login. `terminal`: a command in a terminal. `variable`: a key in the environment. */
export type MethodKind = 'agent' | 'terminal' | 'variable';

export type Variable = { readonly name: string; readonly isOptional: boolean };

export type MethodShown = {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly kind: MethodKind;
  readonly variables: readonly (Variable & { readonly isSet: boolean })[];
};

export function kindOf(method: AuthMethod): MethodKind {
  if (method.type === 'terminal' || ownCommand(method) !== undefined) return 'terminal';
  return method.type === 'env_var' ? 'variable' : 'agent';
}

export function shownMethod(method: AuthMethod, env: NodeJS.ProcessEnv): MethodShown {
  const { id, name, description } = method;
  return {
    id,
    name,
    ...(typeof description === 'string' && { description }),
    kind: kindOf(method),
    variables: variablesOf(method).map((variable) => ({ ...variable, isSet: Boolean(env[variable.name]) })),
  };
}

/** Supports both protocol drafts: one `varName`, or a list of `vars`. */
export function variablesOf(method: AuthMethod): readonly Variable[] {
  if (method.type !== 'env_var') return [];
  if (typeof method.varName === 'string') return [{ name: method.varName, isOptional: false }];
  const vars = Array.isArray(method.vars) ? (method.vars as { name?: unknown; optional?: unknown }[]) : [];
  return vars.flatMap(({ name, optional }) => (typeof name === 'string' ? [{ name, isOptional: optional === true }] : []));
}

export type OwnCommand = { readonly command: string; readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> };

/** Older agents put the command in `_meta` (claude-code-acp 0.16, gemini 0.61). */
export function ownCommand({ _meta }: AuthMethod): OwnCommand | undefined {
  const given = (_meta as { 'terminal-auth'?: { command?: unknown; args?: unknown; env?: unknown } } | null | undefined)?.['terminal-auth'];
  if (typeof given?.command !== 'string') return undefined;
  return { command: given.command, args: Array.isArray(given.args) ? given.args.map(String) : [], env: textsOf(given.env) };
}

/** The string entries of an object. */
export function textsOf(value: unknown): Readonly<Record<string, string>> {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return Object.fromEntries(entries.flatMap(([key, text]) => (typeof text === 'string' ? [[key, text]] : [])));
}
