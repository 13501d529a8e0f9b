// What a user's approval of a permission request covers besides the request itself: exactly the files and the command it showed.

import { actionPath } from '../commands/operands.ts';
import { isAbsolute } from '../paths/path.ts';
import { type Action, type ActionPath, directoryIn, type Place } from './action.ts';
import { permissionAction } from './permission.ts';
import { rawFacts } from './raw-input.ts';
import type { TerminalRequest } from './surfaces.ts';
import { list, record, string } from './tool-call.ts';

export type Grant =
  /** `path` is canonical. `text` is the new content of the file, undefined if none was shown. */
  | { readonly of: 'read' | 'edit'; readonly path: string; readonly text?: string | undefined }
  | { readonly of: 'execute'; readonly words: string; readonly cwd: string };

/**
 * Reads only the request: what the agent reported about the call at other times may never have been shown to the user. If it is unclear
 * what was shown, there is no grant and the user is asked again.
 */
export function grantsIn(place: Place, request: unknown): readonly Grant[] {
  const call = record(record(request).toolCall);
  const action = permissionAction(place, request);
  if (action.isUnreadable || action.mcp || action.evidence !== 'raw') return [];
  const raw = rawFacts(call.rawInput);
  if (action.kind === 'execute') {
    const commands = [...raw.lines, ...raw.argvs];
    const [command] = commands;
    if (commands.length !== 1 || command === undefined || raw.doubts.length > 0) return [];
    return run(place, typeof command === 'string' ? command : wordsOf(command), raw.workdir);
  }
  const diffs = list(call.content).filter((entry) => record(entry).type === 'diff');
  if (action.kind === 'edit' && diffs.length > 0) {
    const shown = edits(place, diffs);
    // The input may name another file than the diffs that were shown.
    return action.paths.every(({ path, evidence }) => evidence !== 'raw' || shown.some((grant) => grant.path === path)) ? shown : [];
  }
  if ((action.kind !== 'edit' && action.kind !== 'read') || action.opaque.length > 0) return [];
  const [first, ...others] = action.paths;
  if (first?.evidence !== 'raw' || others.some(({ path }) => path !== first.path)) return [];
  if (action.kind === 'read') return [{ of: 'read', path: first.path }];
  // Without a diff, the request may hold the whole text. A replacement (old by new) cannot be compared with what is written.
  const fields = Object.entries(record(call.rawInput)).filter(([, value]) => !(typeof value === 'string' && raw.paths.includes(value)));
  const isClear = fields.every(([key, value]) => (key === 'content' ? typeof value === 'string' : !isTelling(value)));
  return isClear ? [{ of: 'edit', path: first.path, text: fields.find(([key]) => key === 'content')?.[1] as string | undefined }] : [];
}

/** The grant that a `terminal/create` needs. Environment variables are never part of a command line that was shown. */
export function terminalUse(place: Place, { command, args = [], env = [], cwd }: TerminalRequest): Grant | undefined {
  if (env.length > 0) return undefined;
  return run(place, args.length === 0 ? command : wordsOf([command, ...args]), cwd ?? undefined)[0];
}

/** The grant that a file access needs, for the path as it was evaluated. */
export function fileUse(of: 'read' | 'edit', file: ActionPath | undefined, text?: string): Grant | undefined {
  return file === undefined || file.isUnfollowed ? undefined : { of, path: file.path, text };
}

export function covers(grant: Grant, use: Grant): boolean {
  if (grant.of === 'execute') return use.of === 'execute' && use.words === grant.words && use.cwd === grant.cwd;
  return use.of === grant.of && use.path === grant.path && (grant.text === undefined || use.text === grant.text);
}

/** Whether every command of an action is among those of another. */
export function runsWithin(done: Action, asked: Action): boolean {
  const known = new Set(asked.commands.map(({ argv }) => argv.join('\0')));
  return done.commands.length > 0 && done.commands.every(({ argv }) => known.has(argv.join('\0')));
}

/**
 * Whether an action that an agent reports goes beyond the one it asked permission for: another tool, a command or a file besides. A request
 * without facts leaves open what was asked for.
 */
export function goesBeyond(done: Action, asked: Action): boolean {
  if (done.mcp && asked.mcp) return done.mcp.server !== asked.mcp.server || done.mcp.tool !== asked.mcp.tool;
  if (asked.commands.length > 0 && done.commands.length > 0) return !runsWithin(done, asked);
  const isNamed = asked.commands.length > 0 || asked.paths.length > 0;
  if (isNamed && done.commands.length > 0) return true;
  const known = new Set(asked.paths.map(({ path }) => path));
  return asked.paths.length > 0 && done.paths.some(({ path, access }) => access !== 'read' && !known.has(path));
}

function run(place: Place, words: string, directory: string | undefined): readonly Grant[] {
  const { cwd, opaque } = directoryIn(place, directory ?? '.');
  return opaque.length > 0 ? [] : [{ of: 'execute', words, cwd }];
}

/** An argv of plain words is the line they form; any other argv stays an argv. */
function wordsOf(argv: readonly string[]): string {
  const isPlain = argv.every((word, index) => (index === 0 ? /^[\w@%+:,./-]+$/ : /^[\w@%+=:,./-]+$/).test(word));
  return isPlain ? argv.join(' ') : JSON.stringify(argv);
}

// A diff may show a part of a file, but a write replaces all of it: it is covered only if both are equal.
function edits(place: Place, diffs: readonly unknown[]): readonly (Grant & { readonly of: 'edit' })[] {
  const found = diffs.flatMap((entry) => {
    const { path, newText } = record(entry);
    const file = string(path);
    if (file === undefined || !isAbsolute(file) || file.includes('..') || typeof newText !== 'string') return [];
    const { path: real, isUnfollowed } = actionPath(file, place.cwd, place, 'write', 'raw');
    return isUnfollowed ? [] : [{ of: 'edit' as const, path: real, text: newText }];
  });
  return found.filter(({ path }) => found.filter((other) => other.path === path).length === 1);
}

const isTelling = (value: unknown): boolean => typeof value === 'string' || (typeof value === 'object' && value !== null);
