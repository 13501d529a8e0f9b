// `switchboard agents`: what is configured, how it is doing in the proxies that run now, and whether it starts at all.
import type { InitializeResult } from '../acp/shapes.ts';
import type { AgentSpec } from '../agents/defaults.ts';
import { isRunning, newMark, readRunningRecords } from '../agents/running-record.ts';
import { isSame, PLAIN, type Tongue } from '../dialects/tongue.ts';
import type { ProxyError } from '../errors.ts';
import type { Secrets } from '../log/redact.ts';
import { redactJson } from '../log/redact-json.ts';
import { systemClock } from '../proxy/clock.ts';
import { agentOf } from '../proxy/isolation.ts';
import { startAgent } from '../proxy/start-agent.ts';
import { launchAgent, secretsOf } from '../switchboard/launch.ts';
import type { Limits } from '../wire/limits.ts';
import { printJson, printTable } from './output.ts';
import { type ConfigFlags, resolveConfig } from './resolve-config.ts';

export type AgentsFlags = ConfigFlags & { readonly json?: boolean };

type Health = {
  readonly state?: string;
  readonly pid?: number;
  readonly since?: string;
  readonly restarts?: number;
  readonly sessions?: number;
  readonly inFlight?: number;
  readonly lastError?: string;
  /** In words, cleaned of secrets. */
  readonly lastErrorText?: string;
  readonly unavailable?: string;
  readonly stderrTail?: readonly string[];
};

export async function listAgents(flags: AgentsFlags): Promise<number> {
  const { config, stateDir, switchedOff } = await resolveConfig({ ...flags, isOnlyShown: true });
  const { redact } = await secretsOf(config);
  const running = readRunningRecords(stateDir).flatMap(({ record }) => (record && isRunning(record.owner) ? [record] : []));
  const agents = config.agents.map(({ name, label, command }) => ({
    name,
    label,
    command: redact(command),
    isDefault: name === config.defaultAgent,
    // An agent with a process for each session shows up as name#1, name#2, …
    processes: running.flatMap(({ owner, health }) =>
      Object.entries(health as Record<string, Health>)
        .filter(([id, { state, lastError }]) => agentOf(id) === name && (state !== 'idle' || lastError !== undefined))
        .map(([id, about]) => ({ id, proxy: owner.pid, ...about })),
    ),
  }));
  if (flags.json) printJson({ agents, switchedOff });
  else {
    printTable(
      ['AGENT', 'STATE', 'PID', 'SINCE', 'SESSIONS', 'OPEN', 'RESTARTS', 'LAST ERROR', 'COMMAND'],
      [...agents.flatMap(rowsOf), ...switchedOff.map((name) => [name, 'switched off', '', '', '', '', '', '', ''])],
    );
    for (const { processes } of agents) for (const one of processes) process.stdout.write(explain(one));
  }
  return 0;
}

/** What went wrong with it, and its own last words on that; nothing for an agent that is well. */
function explain({ id, state, lastErrorText, unavailable, stderrTail = [] }: Health & { readonly id: string }): string {
  const why = unavailable ?? lastErrorText;
  if (why === undefined && state !== 'unhealthy') return '';
  const words = why ?? 'it sends lines that are no messages';
  return `\n${[`${id}: ${words}`, ...stderrTail.slice(-STDERR_LINES).map((line) => `  | ${line}`)].join('\n')}\n`;
}

const STDERR_LINES = 10;

function rowsOf(agent: { name: string; isDefault: boolean; command: string; processes: readonly Health[] }): string[][] {
  const name = agent.isDefault ? `${agent.name} *` : agent.name;
  if (agent.processes.length === 0) return [[name, 'not running', '', '', '', '', '', '', agent.command]];
  return agent.processes.map(({ state, pid, since, sessions, inFlight, restarts, lastError }) =>
    [name, state, pid, since, sessions, inFlight, restarts, lastError, agent.command].map((cell) => String(cell ?? '')),
  );
}

type Tested = {
  readonly agent: string;
  readonly ok: boolean;
  readonly startMs: number;
  readonly result?: InitializeResult;
  /** Where it is not ACP in lines. */
  readonly tongue?: Tongue;
  readonly error?: ProxyError;
};

const TEST_PARAMS = JSON.stringify({
  protocolVersion: 1,
  clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
  clientInfo: { name: 'acp-switchboard', version: '0' },
});

/** Starts each agent (or the one named), initializes it, says what it can do, ends it. */
export async function testAgents(name: string | undefined, flags: AgentsFlags): Promise<number> {
  const { config } = await resolveConfig({ ...flags, ...(name !== undefined && { agent: name }) });
  const secrets = await secretsOf(config);
  const tested: Tested[] = [];
  for (const spec of config.agents) tested.push(await testAgent(spec, config.limits, secrets));
  const agents = tested.map(({ error, ...rest }) => ({ ...rest, ...(error && { error: { code: error.key, message: error.message } }) }));
  if (flags.json) printJson(redactJson({ agents }, secrets.redact));
  else for (const one of tested) process.stdout.write(`${secrets.redact(describe(one))}\n`);
  const failed = tested.find(({ ok }) => !ok);
  if (!failed?.error) return 0;
  return failed.error.key === 'AGENT_SILENT' ? 3 : 7;
}

/** Starts it, initializes it, ends it. */
export function testAgent(spec: AgentSpec, limits: Limits, secrets: Secrets): Promise<Tested> {
  const from = performance.now();
  return new Promise((resolve) => {
    let isDone = false;
    const done = async (about: Pick<Tested, 'ok' | 'result' | 'error' | 'tongue'>, leaving: Promise<void>) => {
      if (isDone) return; // the end that we asked for ourselves
      isDone = true;
      const startMs = Math.round(performance.now() - from);
      await leaving;
      resolve({ agent: spec.name, startMs, ...about });
    };
    const run = startAgent(
      spec,
      {
        launch: (agent) => launchAgent(agent, newMark(), secrets),
        limits,
        clock: systemClock,
        initializeParams: () => TEST_PARAMS,
      },
      {
        ready: ({ result }, tongue) => void done({ ok: true, result, ...(!isSame(tongue, PLAIN) && { tongue }) }, run.stop()),
        over: (error, _, leaving) => void done({ ok: false, error }, leaving),
        frame: () => {},
        answer: () => {},
        refused: () => {},
        overlong: () => {},
      },
    );
  });
}

function describe({ agent, ok, startMs, result, error, tongue }: Tested): string {
  if (!ok) {
    const stderr = (error?.data?.stderr as readonly string[] | undefined) ?? [];
    return [`${agent}: FAILED. ${error?.message}`, ...stderr.map((line) => `  | ${line}`)].join('\n');
  }
  const info = result?.agentInfo;
  const methods = result?.authMethods ?? [];
  return [
    `${agent}: ok, initialized in ${startMs} ms`,
    `  is            ${info ? `${info.title ?? info.name} ${info.version ?? ''}`.trim() : 'unnamed'}`,
    `  capabilities  ${offered(result?.agentCapabilities ?? {}).join(', ') || 'the baseline only'}`,
    ...(tongue ? [`  speaks        ${tongue.dialect}, framed by ${tongue.framing}`] : []),
    `  logins        ${methods.map((method) => `${method.id} (${method.name})`).join(', ') || 'none'}`,
  ].join('\n');
}

/** Paths of what is offered: `loadSession`, `promptCapabilities.image`, … */
function offered(value: object, prefix = ''): string[] {
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === '_meta' || inner === false || inner === null) return [];
    const nested = typeof inner === 'object' ? offered(inner, `${prefix}${key}.`) : [];
    return nested.length > 0 ? nested : /Capabilities$/.test(key) ? [] : [`${prefix}${key}`];
  });
}
