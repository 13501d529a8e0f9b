// Which agent a page means with `agentCmd`: a configured one, by name or by its command line, or a command of its own where that is allowed.
import path from 'node:path';
import { type AgentSpec, agentSpec } from '../agents/defaults.ts';
import { splitWords } from '../agents/shell-words.ts';
import type { SandboxSettings } from '../sandbox/settings.ts';
import { checkEnv } from './connect-env.ts';
import { refusals } from './refusal.ts';

export type AgentChoices = {
  readonly agents: readonly AgentSpec[];
  readonly defaultAgent: string;
  readonly allowsCommands: boolean;
  /** Variables of configured agents and servers; a command of a page does not inherit them. */
  readonly secretVariables: readonly string[];
  readonly sandbox: SandboxSettings | undefined;
};

export type Wanted = {
  readonly agentCmd?: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly proxy?: string | undefined;
  /** For a command of the page, also where it starts. A configured one starts where it always does: its words may be relative. */
  readonly cwd?: string | undefined;
};

/** `key` tells whether a running agent is the one that is meant. */
export type Chosen = { readonly spec: AgentSpec; readonly key: string };

export function chooseAgent(choices: AgentChoices, wanted: Wanted): Chosen {
  const configured = findConfigured(choices, wanted.agentCmd);
  checkEnv(wanted.env, configured);
  const proxy = wanted.proxy === undefined || wanted.proxy === '' ? undefined : checkProxy(wanted.proxy);
  const isChanged = Object.keys(wanted.env).length > 0 || proxy !== undefined;
  if (configured?.remote && isChanged) throw refusals.proxyOfRemote(configured.name);
  const base = configured ?? ownCommand(choices, wanted);
  const spec: AgentSpec = {
    ...base,
    env: { ...base.env, ...wanted.env },
    args: proxy === undefined ? base.args : [...base.args, '--proxy', proxy],
  };
  return { spec, key: JSON.stringify([spec.command, spec.args, Object.entries(spec.env).sort(), spec.cwd]) };
}

function findConfigured({ agents, defaultAgent }: AgentChoices, agentCmd: string | undefined): AgentSpec | undefined {
  const line = agentCmd?.trim() ?? '';
  if (line === '') return agents.find(({ name }) => name === defaultAgent);
  const named = agents.find(({ name }) => name === line);
  if (named) return named;
  const words = splitWords(line);
  if (!words) throw refusals.commandUnreadable();
  return agents.find((agent) => !agent.remote && isCommandOf(agent, words));
}

/** The program may be given without its directory. */
function isCommandOf({ command, args }: AgentSpec, [program = '', ...rest]: readonly string[]): boolean {
  const isProgram = program === command || program === path.basename(command);
  return isProgram && rest.length === args.length && rest.every((word, index) => word === args[index]);
}

/** Its name must not be that of a configured agent, because sessions are stored under it. */
function ownCommand({ agents, allowsCommands, secretVariables, sandbox }: AgentChoices, { agentCmd = '', cwd }: Wanted): AgentSpec {
  const [command = '', ...args] = splitWords(agentCmd) ?? [];
  if (!allowsCommands || command === '') throw refusals.commandRefused(agents.map(({ name }) => name));
  const program = path.basename(command).replace(/[^\w.-]+/g, '-');
  const spec = agentSpec(`web-app.${program}`, { command, args, ...(cwd !== undefined && { cwd }) }, secretVariables);
  return sandbox ? { ...spec, sandbox } : spec;
}

const PROXY_SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'socks4:', 'socks5:']);

function checkProxy(given: string): string {
  const url = parsed(given);
  if (!url || !PROXY_SCHEMES.has(url.protocol) || url.hostname === '' || /\s/.test(given)) throw refusals.proxyRefused();
  return given;
}

function parsed(given: string): URL | undefined {
  try {
    return new URL(given);
  } catch {
    return undefined;
  }
}
