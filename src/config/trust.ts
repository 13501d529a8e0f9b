// The project files that the user trusts. Trust is by content, not by path: the next commit may change the content.
import { createHash, randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fields, list } from '../json-object.ts';
import { makeDirectory } from '../private-files.ts';
import { enabledNames, type Fields, type Layer } from './layer.ts';
import { ConfigError, fileProblem } from './problems.ts';
import { errorCode, readForeign } from './watch-files.ts';

type Trusted = Readonly<Record<string, { readonly file: string; readonly at: string }>>;

/** Whether the user trusts this exact text. */
export async function isTrusted(stateDir: string, text: string): Promise<boolean> {
  return Object.hasOwn(await readTrusted(stateDir), hashOf(text));
}

/** Trusts the current content of the file, and returns it with its hash. */
export async function trust(stateDir: string, file: string): Promise<{ readonly hash: string; readonly text: string }> {
  const text = await textOf(file);
  return { hash: await trustText(stateDir, file, text), text };
}

/** Like `trust`, for a text that was already read and checked. */
export async function trustText(stateDir: string, file: string, text: string): Promise<string> {
  const hash = hashOf(text);
  const trusted = { ...(await readTrusted(stateDir)), [hash]: { file: path.resolve(file), at: new Date().toISOString() } };
  makeDirectory(stateDir);
  const target = trustedFile(stateDir);
  const draft = `${target}.${randomUUID()}`;
  try {
    await writeFile(draft, `${JSON.stringify(trusted, null, 2)}\n`, { mode: 0o600, flag: 'wx', flush: true });
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  return hash;
}

// Reads the file like the search does: a file that cannot be loaded cannot be trusted.
async function textOf(file: string): Promise<string> {
  try {
    return (await readForeign(file)).text;
  } catch (error) {
    throw new ConfigError([fileProblem(file, `cannot read the file (${errorCode(error)})`)]);
  }
}

// An unreadable list trusts nothing.
async function readTrusted(stateDir: string): Promise<Trusted> {
  try {
    const parsed: unknown = JSON.parse(await readFile(trustedFile(stateDir), 'utf8'));
    return typeof parsed === 'object' && parsed !== null ? (parsed as Trusted) : {};
  } catch {
    return {};
  }
}

/** The file with the trusted hashes. */
export function trustedFile(stateDir: string): string {
  return path.join(stateDir, 'trusted.json');
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

// The programs a configuration can start, to show them to the user who trusts it.
export type Program = {
  /** `agent "x"`, `MCP server "x"`, `tool "x"`, `tool module`. */
  readonly for: string;
  /** The command line as written, or the module path. */
  readonly words: readonly string[];
};

export function programsOf(layer: Layer): readonly Program[] {
  const { agents, mcpServers, hostTools } = layer;
  const { commands, modules } = fields(hostTools?.value);
  return [
    ...enabledNames(layer).flatMap((name) => commandLine(`agent "${name}"`, fields(agents.get(name)?.value))),
    ...[...mcpServers].flatMap(([name, { value }]) => commandLine(`MCP server "${name}"`, fields(value))),
    ...list(commands).flatMap((tool) => commandLine(`tool "${fields(tool).name}"`, fields(tool))),
    ...list(modules).map((file) => ({ for: 'tool module', words: [String(file)] })),
  ];
}

function commandLine(whose: string, { command, args }: Fields): Program[] {
  return command === undefined ? [] : [{ for: whose, words: [command, ...list(args)].map(String) }];
}
