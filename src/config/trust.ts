// Which project files the user has vouched for. By content, not by path: the next commit may bring other content to the same path.
import { createHash, randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fields } from '../json-object.ts';
import { makeDirectory } from '../private-files.ts';
import { enabledNames, type Fields, type Layer } from './layer.ts';
import { ConfigError, fileProblem } from './problems.ts';
import { errorCode, readForeign } from './watch-files.ts';

type Trusted = Readonly<Record<string, { readonly file: string; readonly at: string }>>;

/** Whether the user has trusted this very text. */
export async function isTrusted(stateDir: string, text: string): Promise<boolean> {
  return Object.hasOwn(await readTrusted(stateDir), hashOf(text));
}

/** Trusts the content the file has now, and returns it with its hash. */
export async function trust(stateDir: string, file: string): Promise<{ readonly hash: string; readonly text: string }> {
  const text = await textOf(file);
  return { hash: await trustText(stateDir, file, text), text };
}

/** The same for a text that has been read already: what is trusted is then what was looked at. */
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

// Read the way the search reads it: what could never be loaded is not worth trusting.
async function textOf(file: string): Promise<string> {
  try {
    return (await readForeign(file)).text;
  } catch (error) {
    throw new ConfigError([fileProblem(file, `cannot be read (${errorCode(error)})`)]);
  }
}

// A list that cannot be read trusts nothing.
async function readTrusted(stateDir: string): Promise<Trusted> {
  try {
    const parsed: unknown = JSON.parse(await readFile(trustedFile(stateDir), 'utf8'));
    return typeof parsed === 'object' && parsed !== null ? (parsed as Trusted) : {};
  } catch {
    return {};
  }
}

/** Where trust is kept. */
export function trustedFile(stateDir: string): string {
  return path.join(stateDir, 'trusted.json');
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

// What a configuration can start: whoever is asked to trust it should see that, and not have to find it in the file.
export type Program = {
  /** `agent "x"`, `MCP server "x"`, `tool "x"`, `tools within the switchboard`. */
  readonly for: string;
  /** Its command line as written, or the module that is loaded. */
  readonly words: readonly string[];
};

export function programsOf(layer: Layer): readonly Program[] {
  const { agents, mcpServers, hostTools } = layer;
  const { commands, modules } = fields(hostTools?.value);
  return [
    ...enabledNames(layer).flatMap((name) => commandLine(`agent "${name}"`, fields(agents.get(name)?.value))),
    ...[...mcpServers].flatMap(([name, { value }]) => commandLine(`MCP server "${name}"`, fields(value))),
    ...listed(commands).flatMap((tool) => commandLine(`tool "${fields(tool).name}"`, fields(tool))),
    ...listed(modules).map((file) => ({ for: 'tools within the switchboard', words: [String(file)] })),
  ];
}

function commandLine(whose: string, { command, args }: Fields): Program[] {
  return command === undefined ? [] : [{ for: whose, words: [command, ...listed(args)].map(String) }];
}

const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
