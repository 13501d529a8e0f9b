// Answers the user gave with "always": the exact key of an action, and the lowest layer of a policy built from such answers.
import type { Action } from '../actions/action.ts';
import { isEvident, subjectsOf } from '../actions/subjects.ts';
import type { Layer } from './layers.ts';
import { NO_CONDITIONS, type Rule } from './rule.ts';

/** The part of a stored answer that the policy needs. `key` is the hash of the action's `keyOf`. */
export type Remembered = { readonly id: string; readonly verdict: 'allow' | 'deny'; readonly key: string; readonly at: string };

/**
 * Everything that identifies the action: agent and directory, the exact command line with the files it names, the canonical paths, the MCP
 * tool, the address. Undefined if an answer must not be remembered: a part is not understood, is known from a title only, or is nothing but
 * a kind, so that another action could share the key.
 */
export function keyOf(action: Action): string | undefined {
  const subjects = subjectsOf(action);
  if (action.opaque.length > 0 || action.isUnreadable || action.agent === '' || action.cwd === '') return undefined;
  if (!subjects.every((subject) => isEvident(subject, action) && subject.kind !== 'whole') || subjects.length === 0) return undefined;
  if (action.commands.some(({ where }) => where === 'line') && action.texts.length === 0) return undefined;
  if (subjects.some(({ kind }) => kind === 'host') && action.texts.length === 0) return undefined;
  return JSON.stringify([
    'v1',
    action.agent,
    action.cwd,
    action.kind,
    action.tool ?? null,
    action.mcp === undefined ? null : [action.mcp.server, action.mcp.tool, action.mcp.schema ?? null],
    action.texts,
    action.commands
      .filter(({ evidence }) => evidence === 'raw')
      .map(({ argv, where, cwds, operands }) => [argv, where, cwds, operands.map(({ path }) => path)]),
    action.paths.map(({ path, access }) => [path, access]),
    action.hosts,
  ]);
}

/** One rule for each answer; the strictest wins as everywhere. `hash` turns a key into the form the answers store. */
export function rememberedLayer(answers: readonly Remembered[], file: string, hash: (key: string) => string): Layer {
  const seen = new WeakMap<Action, string | undefined>();
  const hashOf = (action: Action): string | undefined => {
    if (seen.has(action)) return seen.get(action);
    const key = keyOf(action);
    const hashed = key === undefined ? undefined : hash(key);
    seen.set(action, hashed);
    return hashed;
  };
  const rules = answers.map(
    ({ id, verdict, key, at }, index): Rule => ({
      ...NO_CONDITIONS,
      verdict,
      id: `remembered:${id}`,
      file,
      line: index + 1,
      column: 1,
      reason: `your answer of ${at}`,
      isExactly: (action) => hashOf(action) === key,
    }),
  );
  return {
    name: 'remembered',
    policy: {
      file,
      default: undefined,
      layer: 'remembered',
      rules,
      agents: new Map(),
      mcp: { expose: undefined, pin: undefined },
      remember: { allowAlways: undefined, ttlMs: undefined, maxScope: undefined },
      limits: { permissionTimeoutMs: undefined, maxPendingPermissions: undefined },
    },
  };
}
