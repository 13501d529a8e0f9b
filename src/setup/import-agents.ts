// Converts the agents of an editor to entries of our configuration. Secrets become references; switchboard itself and entries without a command are skipped.

import path from 'node:path';
import { agentBehind, type Catalogue, findAgent, packageName } from '../agents/catalogue.ts';
import { AGENT_NAME } from '../agents/defaults.ts';
import { fields } from '../json-object.ts';
import type { EditorFile, Listed } from './editors.ts';
import { findProgram } from './find-program.ts';
import { looksSecret, secretArgs } from './hide-secrets.ts';
import { type Here, resolveStart, type Start } from './start-command.ts';

export type Taken = {
  readonly name: string;
  readonly source: string;
  readonly entry: Start & { readonly label?: string; readonly enabled?: false };
  /** Variables that the user must set before using the agent. */
  readonly missing: readonly string[];
  /** The program to start is not on this machine. */
  readonly isAbsent: boolean;
  readonly warnings: readonly string[];
};
export type Left = { readonly name: string; readonly source: string; readonly why: string };
export type TakenOver = { readonly taken: readonly Taken[]; readonly left: readonly Left[] };

/** `present` holds the agents that are already configured. */
export function takeOver(
  files: readonly EditorFile[],
  present: Readonly<Record<string, unknown>>,
  catalogue: Catalogue,
  here: Here,
): TakenOver {
  const taken: Taken[] = [];
  const left: Left[] = [];
  const known = new Map(Object.entries(present).map(([name, entry]) => [likeness(fields(entry), here), name]));
  const names = new Set(Object.keys(present));
  for (const { editor, file, agents } of files)
    for (const listed of agents) {
      const source = `${editor.title} (${file})`;
      const found = startOf(listed, catalogue, here);
      if (typeof found === 'string') {
        left.push({ name: listed.name, source, why: found });
        continue;
      }
      const { start, missing } = withoutSecrets(found.start, here.env);
      const twin = known.get(likeness(start, here));
      if (twin !== undefined) {
        const itsEnv = fields(fields(present[twin] ?? taken.find((one) => one.name === twin)?.entry).env);
        const variables = Object.keys(start.env ?? {}).filter((variable) => !Object.hasOwn(itsEnv, variable));
        const without = variables.length === 0 ? '' : `; not imported: its variables ${variables.join(', ')}`;
        left.push({ name: listed.name, source, why: `already configured as "${twin}"${without}` });
        continue;
      }
      const name = freeName(listed.name, editor.id, names);
      names.add(name);
      known.set(likeness(start, here), name);
      const label = found.label ?? (name === listed.name ? undefined : listed.name);
      const entry = { ...(label !== undefined && { label }), ...start, ...(missing.length > 0 && { enabled: false as const }) };
      const isAbsent = findProgram(start.command, here) === undefined;
      const warnings = [...found.warnings, ...drift(start, catalogue), ...leftBehind(listed.entry)];
      taken.push({
        name,
        source,
        entry,
        missing,
        isAbsent,
        warnings: isAbsent ? [`command not found: ${start.command}`, ...warnings] : warnings,
      });
    }
  return { taken, left };
}

/** Agents whose secrets are missing are disabled, unless there would be no other: a configuration needs one. */
export function withOneEnabled(taken: readonly Taken[], present: Readonly<Record<string, unknown>>): readonly Taken[] {
  const isAnyEnabled = [...Object.values(present), ...taken.map(({ entry }) => entry)].some((entry) => fields(entry).enabled !== false);
  if (isAnyEnabled) return taken;
  return taken.map(({ entry: { enabled: _, ...entry }, ...one }) => ({ ...one, entry }));
}

/** The start command, or why there is none. */
function startOf({ name, entry, start, isUs }: Listed, catalogue: Catalogue, here: Here) {
  if (isUs) return 'it is switchboard itself';
  if (start) return { start, label: undefined, warnings: [] };
  if (typeof entry === 'string' || typeof fields(entry).url === 'string') return 'remote agents are not supported';
  // For agents that the editor installs itself, the file has only the name.
  const agent = findAgent(catalogue, name);
  if (!agent) return 'the editor manages this agent, and the catalogue does not contain it';
  const { command, args, env, warnings } = resolveStart(agent, here);
  const given = Object.entries(fields(fields(entry).env)).flatMap(([key, value]) =>
    typeof value === 'string' ? [[key, value] as const] : [],
  );
  const variables = { ...env, ...Object.fromEntries(given) };
  return { start: { command, args, ...(Object.keys(variables).length > 0 && { env: variables }) }, label: agent.name, warnings };
}

function withoutSecrets({ command, args, env }: Start, around: NodeJS.ProcessEnv): { start: Start; missing: string[] } {
  const missing = new Set<string>();
  const refer = (name: string): string => {
    if (around[name] === undefined) missing.add(name);
    return `\${env:${name}}`;
  };
  const secret = secretArgs(args);
  const words = args.map((arg, index) => {
    const found = secret.get(index);
    if (!found || /^\$\{/.test(found.value)) return arg;
    const reference = refer(found.flag.replace(/^-+/, '').replaceAll('-', '_').toUpperCase());
    return arg === found.value ? reference : `${found.flag}=${reference}`;
  });
  const variables = Object.entries(env ?? {}).map(([name, value]) => [name, looksSecret(name, value) ? refer(name) : value]);
  return {
    start: { command, args: words, ...(variables.length > 0 && { env: Object.fromEntries(variables) }) },
    missing: [...missing],
  };
}

/** Equal for two entries with the same command. `node SCRIPT` is the command that starts this script. */
function likeness({ command, args }: { readonly command?: unknown; readonly args?: unknown }, here: Here): string {
  const program = typeof command === 'string' ? (findProgram(command, here) ?? command) : command;
  const rest = Array.isArray(args) ? args : [];
  const [script] = rest;
  const isScript =
    typeof program === 'string' &&
    typeof script === 'string' &&
    path.isAbsolute(script) &&
    /^node(?:\.exe)?$/i.test(path.basename(program));
  return JSON.stringify(isScript ? rest : [program, ...rest]);
}

function freeName(wanted: string, editor: string, taken: ReadonlySet<string>): string {
  const slug = wanted
    .trim()
    .replace(/[^\w.-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+|-+$/g, '');
  const base = AGENT_NAME.test(slug) ? slug : `${editor}-agent`;
  if (!taken.has(base)) return base;
  if (!taken.has(`${base}-${editor}`)) return `${base}-${editor}`;
  for (let number = 2; ; number++) if (!taken.has(`${base}-${number}`)) return `${base}-${number}`;
}

/** Editor settings without an equivalent in our configuration. */
function leftBehind(entry: unknown): string[] {
  const keys = Object.keys(fields(entry)).filter((key) => !['type', 'command', 'args', 'env'].includes(key));
  return keys.length === 0 ? [] : [`not imported: ${keys.join(', ')}`];
}

/** Renamed packages and flags. Only reported, not changed: the old version may be the installed one. */
export function drift({ command, args }: Start, catalogue: Catalogue): string[] {
  const words = [command, ...args];
  const agent = agentBehind(words, catalogue);
  if (!agent) return [];
  const old = words.map(packageName).find((word) => agent.replaces?.includes(word));
  const flags = Object.entries(agent.renamedFlags ?? {}).filter(([flag]) => words.includes(flag));
  return [
    ...(old === undefined
      ? []
      : [`${old} is now ${packageName(agent.distribution.npx?.package ?? agent.id)}: switchboard agents add ${agent.id}`]),
    ...flags.map(([flag, now]) => `${flag} of ${agent.name} is now ${now}`),
  ];
}
