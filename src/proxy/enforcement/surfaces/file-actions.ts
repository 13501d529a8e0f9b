// fs/* and terminal/create as actions, and as the user sees them. Params that are not exactly as the protocol has them give undefined: a client may
// read them more generously.
import path from 'node:path';
import { escapeControls } from '../../../control-characters.ts';
import type { Action, Place } from '../../../policy/actions/action.ts';
import { fileUse, type Grant, terminalUse } from '../../../policy/actions/grant.ts';
import { extensionAction, isTelling, pathAction, terminalAction } from '../../../policy/actions/surfaces.ts';
import type { Shown } from '../ask-user.ts';
import type { Params } from '../evaluate.ts';

export type Surface = {
  readonly ask: (place: Place) => Action;
  readonly shown: Shown;
  /** The grant that an earlier consent would have to cover. */
  readonly use?: (place: Place, action: Action) => Grant | undefined;
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

const WORDS_OF_FILES =
  /(^|[^a-z])(fs|files?|directory|folder|terminal|shell|exec|execute|command|process|spawn|run|read|write|edit|delete|open)s?([^a-z]|$)/i;

/** A method of a vendor that may use files or run something, by its name (`_zed.dev/fs/read`, `_x/readFile`) or by what it is given. */
export const isExtensionToEvaluate = (method: string, params: unknown): boolean =>
  WORDS_OF_FILES.test(method.replace(/([a-z])([A-Z])/g, '$1/$2')) || isTelling(params);

/** Anything else that a client would act on is not known to the policy. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  'fs/read_text_file': ['path', 'line', 'limit'],
  'fs/write_text_file': ['path', 'content'],
  'terminal/create': ['command', 'args', 'env', 'cwd', 'outputByteLimit'],
};

export function surfaceOfMethod(method: string, params: Params): Surface | undefined {
  if (!Object.hasOwn(SURFACES, method))
    return {
      ask: (place) => extensionAction(place, method, params),
      shown: { title: `Call ${method}`, kind: 'other', rawInput: params },
    };
  const surface = SURFACES[method]?.(params);
  const unknown = Object.keys(params).filter((name) => !['sessionId', '_meta', ...(MEMBERS[method] ?? [])].includes(name));
  if (surface === undefined || unknown.length === 0) return surface;
  const doubts = unknown.map((name) => `a member that the protocol does not have (${escapeControls(name.slice(0, 40))})`);
  const { title, rawInput } = surface.shown;
  return {
    ask: (place) => {
      const action = surface.ask(place);
      return { ...action, opaque: [...action.opaque, ...doubts] };
    },
    shown: {
      ...surface.shown,
      title: `${title}, with ${doubts.join(', ')}`,
      rawInput: { ...(rawInput as object), ...Object.fromEntries(unknown.map((name) => [name, params[name]])) },
    },
  };
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
