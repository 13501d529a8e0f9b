// Files of the session as the client has them, including unsaved changes.

import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { type CallContext, type HostTool, object, type SessionHost, type ToolArgs, ToolFailure, text } from '../server/tool.ts';

// A tool may name paths inside the session's roots, after following links. The workspace checks again when it opens the file.
const MAX_PATH_BYTES = 4096;

/** The absolute path that the agent means. */
export async function inside(host: SessionHost, given: string): Promise<string> {
  if (given === '' || given.includes('\0') || Buffer.byteLength(given) > MAX_PATH_BYTES) throw new ToolFailure('the path is not usable');
  if (host.cwd === undefined && !path.isAbsolute(given)) throw new ToolFailure('the path must be absolute: this session has no directory');
  const target = path.resolve(host.cwd ?? '/', given);
  const isLexical = host.roots.some((root) => contains(path.resolve(root), target));
  const real = await nearestReal(target);
  const roots = await Promise.all(host.roots.map((root) => realpath(root).catch(() => undefined)));
  if (!isLexical || !roots.some((root) => root !== undefined && contains(root, real)))
    throw new ToolFailure(`the path is outside the session's directories (${host.roots.join(', ') || 'it has none'})`);
  return target;
}

/** By whole names: `/a/bc` is not inside `/a/b`. */
function contains(root: string, target: string): boolean {
  const relative = path.relative(root, target);
  return relative === '' || (relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative));
}

/** The real path; for a missing file, the real path of its nearest existing part. */
async function nearestReal(target: string): Promise<string> {
  try {
    return await realpath(target);
  } catch {
    const parent = path.dirname(target);
    return parent === target ? target : path.join(await nearestReal(parent), path.basename(target));
  }
}

const TIMEOUT_MS = 60_000;
const MAX_HITS = 200;

const PATH = { type: 'string', description: "Absolute, or relative to the session's directory." };
const base = { timeoutMs: TIMEOUT_MS, server: 'switchboard' };

export const fileTools: readonly HostTool[] = [
  {
    ...base,
    name: 'read_file',
    title: 'Read a file',
    description: 'Reads a text file, or some of its lines, including unsaved changes in the editor.',
    inputSchema: object(
      {
        path: PATH,
        line: { type: 'integer', minimum: 1, description: 'The first line to read, counted from 1.' },
        limit: { type: 'integer', minimum: 1, description: 'How many lines at most.' },
      },
      ['path'],
    ),
    effect: 'read',
    needs: ['read'],
    async run(args, context) {
      const line = numberOf(args.line);
      const limit = numberOf(args.limit);
      const content = await read(await inside(context.host, stringOf(args.path)), context, line, limit);
      return text(content);
    },
  },
  {
    ...base,
    name: 'write_file',
    title: 'Write a file',
    description: 'Writes a whole text file: creates it or replaces its content.',
    inputSchema: object({ path: PATH, content: { type: 'string' } }, ['path', 'content']),
    effect: 'write',
    needs: ['write'],
    async run(args, context) {
      const target = await inside(context.host, stringOf(args.path));
      await write(target, stringOf(args.content), context);
      return text(`${target} was written.`);
    },
  },
  {
    ...base,
    name: 'edit_file',
    title: 'Edit a file',
    description: 'Replaces a part of a text file. `old_text` must occur exactly once, unless `replace_all` is set; include enough context.',
    inputSchema: object(
      { path: PATH, old_text: { type: 'string', minLength: 1 }, new_text: { type: 'string' }, replace_all: { type: 'boolean' } },
      ['path', 'old_text', 'new_text'],
    ),
    effect: 'write',
    needs: ['read', 'write'],
    async run(args, context) {
      const target = await inside(context.host, stringOf(args.path));
      const before = await read(target, context);
      const parts = before.split(stringOf(args.old_text));
      if (parts.length === 1) throw new ToolFailure('old_text does not occur in the file; read it again, it may have changed');
      if (parts.length > 2 && args.replace_all !== true)
        throw new ToolFailure(`old_text occurs ${parts.length - 1} times; include more context, or set replace_all`);
      await write(target, parts.join(stringOf(args.new_text)), context);
      return text(`${target}: ${parts.length - 1} ${parts.length === 2 ? 'place was' : 'places were'} changed.`);
    },
  },
  {
    ...base,
    name: 'list_directory',
    title: 'List a directory',
    description: "Lists a directory. Without a path: the session's directory.",
    inputSchema: object({ path: PATH }),
    effect: 'read',
    needs: ['list'],
    async run(args, context) {
      const target = await inside(context.host, args.path === undefined ? '.' : stringOf(args.path));
      const found = await context.host.workspace.listDirectory?.({ path: target }, context.signal).catch(asToolFailure);
      if (!found) throw new ToolFailure('directories cannot be listed here');
      const lines = found.entries.map(
        ({ name, kind, bytes }) => `${name}${kind === 'directory' ? '/' : ''}${bytes === undefined ? '' : `  ${bytes}`}`,
      );
      return text([...lines, ...(found.truncated ? ['[more entries were omitted]'] : [])].join('\n') || '[empty]');
    },
  },
  {
    ...base,
    name: 'search_files',
    title: 'Search files',
    description: 'Finds files by a glob over their paths (`name`), by their content (`text`, literal), or both.',
    inputSchema: {
      ...object({ path: PATH, name: { type: 'string', minLength: 1 }, text: { type: 'string', minLength: 1 } }),
      anyOf: [{ required: ['name'] }, { required: ['text'] }],
    },
    effect: 'read',
    needs: ['search'],
    async run(args, context) {
      const target = await inside(context.host, args.path === undefined ? '.' : stringOf(args.path));
      const name = optionalString(args.name);
      if (name !== undefined && !isPlainGlob(name)) throw new ToolFailure('a glob may have at most four "*" and no groups');
      const wanted = { path: target, name, text: optionalString(args.text), limit: MAX_HITS };
      const found = await context.host.workspace.searchFiles?.(wanted, context.signal).catch(asToolFailure);
      if (!found) throw new ToolFailure('files cannot be searched here');
      const lines = found.hits.map(
        (hit) => `${path.relative(target, hit.path)}${hit.line === undefined ? '' : `:${hit.line}: ${hit.text ?? ''}`}`,
      );
      return text([...lines, ...(found.truncated ? ['[more entries were omitted]'] : [])].join('\n') || '[no matches]');
    },
  },
];

/** Globs become regular expressions, and some of those take minutes to match. */
const isPlainGlob = (glob: string): boolean => glob.length <= 200 && !/[()[\]{}|]/.test(glob) && (glob.match(/\*+/g) ?? []).length <= 4;

async function read(target: string, { host, signal, evaluatedPath }: CallContext, line?: number, limit?: number): Promise<string> {
  const read = await host.workspace.readTextFile?.({ path: target, line, limit, evaluatedPath }, signal).catch(asToolFailure);
  if (!read) throw new ToolFailure('files cannot be read here');
  return read.content;
}

async function write(target: string, content: string, { host, signal, evaluatedPath }: CallContext): Promise<void> {
  if (!host.workspace.writeTextFile) throw new ToolFailure('files cannot be written here');
  await host.workspace.writeTextFile({ path: target, content, evaluatedPath }, signal).catch(asToolFailure);
}

/** A workspace's error messages are written for agents. */
function asToolFailure(error: unknown): never {
  throw new ToolFailure(error instanceof Error ? error.message : String(error), { cause: error });
}

// The arguments are already validated against the schema.
const stringOf = (value: ToolArgs[string]): string => String(value);
const optionalString = (value: ToolArgs[string]): string | undefined => (value === undefined ? undefined : String(value));
const numberOf = (value: ToolArgs[string]): number | undefined => (typeof value === 'number' ? value : undefined);
