// Answers the user gave with "always": what a request is, to the letter, and the lowest layer of a policy made of such answers.
import type { Action } from '../actions/action.ts';
import { isEvident, subjectsOf } from '../actions/subjects.ts';
import type { Layer } from './layers.ts';
import { NO_CONDITIONS, type Rule } from './rule.ts';

/** As far as the policy looks at a kept answer. `key` is the hash of `keyOf` the request. */
export type Remembered = { readonly id: string; readonly verdict: 'allow' | 'deny'; readonly key: string; readonly at: string };

/**
 * Everything that makes this request the one it is: who asks and where, the command line to the letter with the files it names, the
 * canonical paths, the MCP tool, the address. Undefined when an answer to it must not be kept: something in it is not understood, is known
 * from words alone, or is nothing but a kind of action, so that another request could hide behind the same key.
 */
export function keyOf(asked: Action): string | undefined {
  const subjects = subjectsOf(asked);
  if (asked.opaque.length > 0 || asked.isUnreadable || asked.agent === '' || asked.cwd === '') return undefined;
  if (!subjects.every((subject) => isEvident(subject, asked) && subject.kind !== 'whole') || subjects.length === 0) return undefined;
  if (asked.commands.some(({ where }) => where === 'line') && asked.texts.length === 0) return undefined;
  if (subjects.some(({ kind }) => kind === 'host') && asked.texts.length === 0) return undefined;
  return JSON.stringify([
    'v1',
    asked.agent,
    asked.cwd,
    asked.action,
    asked.tool ?? null,
    asked.mcp === undefined ? null : [asked.mcp.server, asked.mcp.tool, asked.mcp.schema ?? null],
    asked.texts,
    asked.commands
      .filter(({ evidence }) => evidence === 'raw')
      .map(({ argv, where, cwds, operands }) => [argv, where, cwds, operands.map(({ path }) => path)]),
    asked.paths.map(({ path, access }) => [path, access]),
    asked.hosts,
  ]);
}

/** One rule for each answer; strictest wins among them as among all. `hash` makes a key into what the answers hold. */
export function rememberedLayer(answers: readonly Remembered[], file: string, hash: (key: string) => string): Layer {
  const seen = new WeakMap<Action, string | undefined>();
  const hashOf = (asked: Action): string | undefined => {
    if (seen.has(asked)) return seen.get(asked);
    const key = keyOf(asked);
    const hashed = key === undefined ? undefined : hash(key);
    seen.set(asked, hashed);
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
      isExactly: (asked) => hashOf(asked) === key,
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
