// fs/* and terminal/create as actions, and as the user sees them. Params that are not exactly as the protocol has them give undefined: a client may
// read them more generously.
import path from 'node:path';
import type { Action, Place } from '../../policy/actions/action.ts';
import { fileUse, type Grant, terminalUse } from '../../policy/actions/grant.ts';
import { pathAction, terminalAction, toolAction } from '../../policy/actions/surfaces.ts';
import type { Shown } from './ask-user.ts';
import type { Params } from './evaluate.ts';

export type Surface = {
  readonly ask: (place: Place) => Action;
  readonly shown: Shown;
  /** The grant that an earlier consent would have to cover. */
  readonly use?: (place: Place, asked: Action) => Grant | undefined;
};

/** How much of a file the user sees before it is written. */
const MAX_SHOWN = 64 * 1024;

const SURFACES: Readonly<Record<string, (params: Params) => Surface | undefined>> = {
  'fs/read_text_file': ({ path: file }) =>
    isPath(file)
      ? {
          ask: (place) => pathAction(place, 'read', file),
          use: (_, { paths: [read] }) => fileUse('read', read),
          shown: { title: `Read ${file}`, kind: 'read', locations: [{ path: file }], rawInput: { path: file } },
        }
      : undefined,
  'fs/write_text_file': ({ path: file, content }) =>
    isPath(file) && isText(content)
      ? {
          ask: (place) => pathAction(place, 'edit', file),
          use: (_, { paths: [edited] }) => fileUse('edit', edited, content),
          shown: {
            title: `Write ${file}`,
            kind: 'edit',
            locations: [{ path: file }],
            rawInput: { path: file },
            content: [written(file, content)],
          },
        }
      : undefined,
  'terminal/create': ({ command, args, env, cwd }) => {
    const words = args ?? [];
    const variables = env ?? [];
    if (!isText(command) || !isListOf(words, isText) || !isListOf(variables, isVariable)) return undefined;
    if (cwd !== undefined && cwd !== null && !isPath(cwd)) return undefined;
    const settings = variables.map(({ name, value }) => `${name}=${value}`);
    return {
      ask: (place) => terminalAction(place, { command, args: words, env: variables, cwd }),
      use: (place) => terminalUse(place, { command, args: words, env: variables, cwd }),
      shown: {
        title: `Run ${[...settings, command, ...words].join(' ')}`,
        kind: 'execute',
        rawInput: { command: [command, ...words], ...(cwd && { cwd }), ...(settings.length > 0 && { env: settings }) },
      },
    };
  },
};

/** They name a terminal that was evaluated when it was created. */
const FOLLOWING = new Set(['terminal/output', 'terminal/wait_for_exit', 'terminal/kill', 'terminal/release']);

/** Every method with the prefix of files or terminals, known or not. */
export const isEvaluated = (method: string): boolean => /^_?(fs|terminal)\//i.test(method) && !FOLLOWING.has(method);

export function surfaceOfMethod(method: string, params: Params): Surface | undefined {
  if (Object.hasOwn(SURFACES, method)) return SURFACES[method]?.(params);
  return { ask: (place) => toolAction(place, 'other', method), shown: { title: `Call ${method}`, kind: 'other', rawInput: params } };
}

function written(file: string, content: string): unknown {
  if (content.length <= MAX_SHOWN) return { type: 'diff', path: file, newText: content };
  const note = `The first ${MAX_SHOWN} of ${content.length} characters:\n\n${content.slice(0, MAX_SHOWN)}`;
  return { type: 'content', content: { type: 'text', text: note } };
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** Absolute and without `..`, which leads elsewhere behind a link: the policy, the disk and the client must mean the same file. */
const isPath = (value: unknown): value is string =>
  isText(value) && path.isAbsolute(value) && !value.includes('\0') && !value.split(/[\\/]/).includes('..');

const isVariable = (value: unknown): value is { readonly name: string; readonly value: string } => {
  const { name, value: text } = (value ?? {}) as { name?: unknown; value?: unknown };
  return isText(name) && isText(text);
};

function isListOf<T>(value: unknown, isOne: (item: unknown) => item is T): value is T[] {
  return Array.isArray(value) && value.every(isOne);
}
