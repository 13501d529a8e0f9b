// Resolves `${env:X}` and `${file:P}` in the settings of agents and servers, so that secrets stay out of the configuration.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fields } from '../json-object.ts';
import type { Placed } from './layer.ts';
import { type Path, type Problem, showPath } from './problems.ts';

const REFERENCE = /\$\{(env|file):([^}]*)\}/g;
const KEYS = ['command', 'args', 'env', 'cwd', 'url', 'ssh', 'headers', 'endpoint'] as const;

const NOT_SET = 'desktop programs lack the variables of your shell';
/** Only agents can be disabled. */
const NOT_SET_FOR_AGENT = `${NOT_SET}; to ignore this entry, set "enabled": false`;

/** The environment variables that the settings of an agent or server refer to, anywhere in them. */
export function variablesIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [...value.matchAll(REFERENCE)].flatMap(([, kind, name]) => (kind === 'env' && name ? [name] : []));
  if (Array.isArray(value)) return value.flatMap(variablesIn);
  return Object.values(fields(value)).flatMap(variablesIn);
}

export type Resolved = { readonly options: unknown; readonly problems: readonly Problem[] };

/** Replaces every reference. File paths are relative to the configuration file. */
export async function resolveReferences(given: Placed, env: NodeJS.ProcessEnv): Promise<Resolved> {
  const problems: Problem[] = [];
  const report = (at: Path, message: string, hint?: string) =>
    problems.push(given.document.problem(at, `${showPath(at)}: ${message}`, hint));

  async function lookUp(kind: string, target: string, at: Path): Promise<string> {
    if (kind === 'env') {
      const hint = given.path[0] === 'agent_servers' ? NOT_SET_FOR_AGENT : NOT_SET;
      if (env[target] === undefined) report(at, `environment variable "${target}" is not set`, hint);
      return env[target] ?? '';
    }
    try {
      const text = await readFile(path.resolve(path.dirname(given.document.file), target), 'utf8');
      return text.replace(/\r?\n$/, '');
    } catch (error) {
      report(at, `cannot read file "${target}" (${(error as NodeJS.ErrnoException).code})`);
      return '';
    }
  }

  async function resolve(value: unknown, at: Path): Promise<unknown> {
    if (typeof value === 'string') return replaceAsync(value, (kind, target) => lookUp(kind, target, at));
    if (Array.isArray(value)) return Promise.all(value.map((item, index) => resolve(item, [...at, index])));
    if (typeof value !== 'object') return value;
    const entries = Object.entries(fields(value)).map(async ([key, item]) => [key, await resolve(item, [...at, key])] as const);
    return Object.fromEntries(await Promise.all(entries));
  }

  const options: Record<string, unknown> = { ...fields(given.value) };
  for (const key of KEYS) {
    if (options[key] === undefined) continue;
    const wasEmpty = options[key] === '';
    options[key] = await resolve(options[key], [...given.path, key]);
    if (options[key] === '' && !wasEmpty && problems.length === 0) report([...given.path, key], 'empty after resolving its references');
  }
  return { options, problems };
}

// Resolved values are not scanned again: a secret may contain "${".
async function replaceAsync(text: string, replace: (kind: string, target: string) => Promise<string>): Promise<string> {
  let result = '';
  let end = 0;
  for (const match of text.matchAll(REFERENCE)) {
    result += text.slice(end, match.index) + (await replace(match[1] ?? '', match[2] ?? ''));
    end = match.index + match[0].length;
  }
  return result + text.slice(end);
}
