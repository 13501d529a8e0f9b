// Rows for the Agents screen: process state and capabilities.
import type { AgentSpec } from '../../agents/defaults.ts';
import { joinWords } from '../../agents/shell-words.ts';
import type { Config } from '../../config/config.ts';
import type { AgentLoad } from '../../console/protocol/agents.ts';
import type { AgentRow, RemoteRow } from '../../console/protocol/state.ts';
import { neutralise } from '../../control-characters.ts';
import { usageOf } from '../../processes/usage.ts';
import type { RunningProxy } from '../../proxy/api.ts';
import type { Redactor } from '../../redaction/redact.ts';
import { hideArgs } from '../../setup/hide-secrets.ts';
import { kindOf, variablesOf } from '../agents/login-methods.ts';

const STDERR_LINES = 50;

/** An agent's own strings may hold secrets and control characters. */
export function agentRows(
  connection: RunningProxy,
  { agents, defaultAgent }: Pick<Config, 'agents' | 'defaultAgent'>,
  redact: Redactor,
  sandboxOf: (name: string) => string | undefined,
): readonly AgentRow[] {
  const clean = (text: string) => neutralise(redact(text));
  const health = connection.health();
  return Object.entries(connection.described()).flatMap(([id, { name, title, answer, whileRunning, canSteer }]) => {
    const its = health[id];
    if (!its) return [];
    const { state, pid, uptimeMs, restarts, sessions, inFlight, lastError, unavailable, stderrTail } = its;
    const why = unavailable ?? lastError;
    return [
      {
        ...{ id, name, title: clean(title), isDefault: name === defaultAgent, state, pid, restarts, sessions, inFlight },
        ...{ whileRunning, canSteer },
        sandbox: sandboxOf(name),
        remote: remoteOf(
          agents.find((agent) => agent.name === name),
          clean,
        ),
        // Whole seconds: a change of milliseconds is not worth an update.
        since: uptimeMs === undefined ? undefined : Math.round((Date.now() - uptimeMs) / 1000) * 1000,
        version: answer?.agentInfo?.version === undefined ? undefined : clean(answer.agentInfo.version),
        lastError: why === undefined ? undefined : clean(why.message),
        stderr: stderrTail.slice(-STDERR_LINES).map(clean),
        capabilities: pathsOf(answer?.agentCapabilities, '').map(clean),
        authMethods: (answer?.authMethods ?? []).map((method) => ({
          id: method.id,
          name: clean(method.name),
          description: typeof method.description === 'string' ? clean(method.description) : undefined,
          ...(kindOf(method) === 'terminal' && { command: `switchboard auth ${name} ${clean(method.id)}` }),
          ...(kindOf(method) === 'variable' && { variables: variablesOf(method).map((variable) => clean(variable.name)) }),
        })),
      },
    ];
  });
}

/** Where an agent runs, as `agents list` has it. */
function remoteOf(spec: AgentSpec | undefined, clean: (text: string) => string): RemoteRow | undefined {
  if (!spec?.remote) return undefined;
  const { command, args, remote } = spec;
  const { kind, address, files } = remote;
  return {
    transport: kind === 'url' ? (remote.url.startsWith('ws') ? 'ws' : 'http') : kind,
    address: clean(address),
    ...(kind !== 'url' && { command: clean(joinWords([command, ...hideArgs(args)])) }),
    files: typeof files === 'string' ? files : 'map',
  };
}

/** ACP capabilities nest three levels deep. An agent could nest them without end. */
const DEEPEST = 8;

/** Paths such as `promptCapabilities.image` for every capability the agent offers. */
function pathsOf(value: unknown, at: string, depth = 0): string[] {
  if (typeof value !== 'object' || value === null) return value === true ? [at] : [];
  if (depth > DEEPEST) return [];
  const members = Object.entries(value).filter(([key]) => key !== '_meta');
  if (members.length === 0) return at === '' ? [] : [at];
  return members.flatMap(([key, member]) => pathsOf(member, at === '' ? key : `${at}.${key}`, depth + 1));
}

// CPU and memory of agent processes, read only while a page shows them.
/** CPU share is measured between two samples. A sample older than this says nothing about now. */
const OLDEST_MS = 30_000;

export function agentLoads(connection: Pick<RunningProxy, 'health'>, nowMs = () => performance.now()): () => readonly AgentLoad[] {
  let before = new Map<number, { readonly cpuMs: number; readonly atMs: number }>();
  return () => {
    const pids = Object.entries(connection.health()).flatMap(([id, { pid }]) => (pid === undefined ? [] : [{ id, pid }]));
    const usage = usageOf(pids.map(({ pid }) => pid));
    const atMs = nowMs();
    const seen = new Map<number, { readonly cpuMs: number; readonly atMs: number }>();
    const loads = pids.flatMap(({ id, pid }) => {
      const its = usage.get(pid);
      if (!its) return [];
      const { processes, memoryBytes, cpuMs } = its;
      const last = before.get(pid);
      seen.set(pid, { cpuMs, atMs });
      const sinceMs = last === undefined ? 0 : atMs - last.atMs;
      const isRecent = last !== undefined && sinceMs > 0 && sinceMs < OLDEST_MS;
      // A child that exits takes its CPU time with it, so the total can shrink.
      const cpu = isRecent ? Math.max(0, Math.round(((cpuMs - last.cpuMs) / sinceMs) * 100)) : undefined;
      return [{ id, processes, memoryBytes, cpuPercent: cpu }];
    });
    before = seen;
    return loads;
  };
}
