// `switchboard agents`: the configured agents, and their health in the running proxies.

import { isRunning, readRunningRecords } from '../../agents/running-record.ts';
import { joinWords } from '../../agents/shell-words.ts';
import { secretsOf } from '../../app/launch.ts';
import { escapeControls } from '../../control-characters.ts';
import { agentOf } from '../../proxy/agents/agent-pool.ts';
import { shownLevel } from '../../sandbox/settings.ts';
import { hideArgs } from '../../setup/hide-secrets.ts';
import { type SessionRecord, toolsText } from '../../store/sessions/session-records.ts';
import { createSessionStore } from '../../store/sessions/session-store.ts';
import { sandboxHere } from '../doctor/sandbox-here.ts';
import { printJson, printTable } from '../output.ts';
import { type ConfigFlags, resolveConfig } from '../resolve-config.ts';

export type AgentsFlags = ConfigFlags & { readonly json?: boolean };

type Health = {
  readonly state?: string;
  readonly pid?: number;
  readonly since?: string;
  readonly restarts?: number;
  readonly sessions?: number;
  readonly inFlight?: number;
  readonly lastError?: string;
  /** A redacted message. */
  readonly lastErrorText?: string;
  readonly unavailable?: string;
  readonly stderrTail?: readonly string[];
};

export async function listAgents(flags: AgentsFlags): Promise<number> {
  const { config, stateDir, switchedOff } = await resolveConfig({ ...flags, isOnlyShown: true });
  const { redact } = await secretsOf(config);
  const running = readRunningRecords(stateDir).flatMap(({ record }) => (record && isRunning(record.owner) ? [record] : []));
  const sessions = [
    ...createSessionStore(stateDir, () => {})
      .records()
      .values(),
  ];
  const sandbox = await sandboxHere(config, stateDir);
  const agents = config.agents
    .map((spec) => ({ spec, ...spec }))
    .map(({ spec, name, label, command, args }) => ({
      name,
      label,
      sandbox: shownLevel(sandbox.containment(spec)),
      command: redact(command),
      ...(spec.remote && { address: spec.remote.address }),
      args: hideArgs(args).map(redact),
      isDefault: name === config.defaultAgent,
      /** The host tools in its last session that had any. */
      tools: sessions.findLast((session) => session.agent === name && session.tools)?.tools,
      // An agent with one process per session appears as name#1, name#2, …
      processes: running.flatMap(({ owner, health }) =>
        Object.entries(health as Record<string, Health>)
          .filter(([id, { state, lastError }]) => agentOf(id) === name && (state !== 'idle' || lastError !== undefined))
          .map(([id, about]) => ({ id, proxy: owner.pid, ...about })),
      ),
    }));
  if (flags.json) printJson({ agents, switchedOff });
  else {
    printTable(
      ['AGENT', 'STATE', 'PID', 'SINCE', 'SESSIONS', 'OPEN', 'RESTARTS', 'LAST ERROR', 'TOOLS', 'COMMAND'],
      [...agents.flatMap(rowsOf), ...switchedOff.map((name) => [name, 'disabled', '', '', '', '', '', '', '', ''])],
      process.stdout.columns,
    );
    for (const { name, sandbox: level } of agents)
      if (level !== 'off')
        process.stdout.write(level.startsWith('off') ? `${name}: sandbox ${level}\n` : `${name}: contained (${level})\n`);
    for (const { processes } of agents) for (const one of processes) process.stdout.write(explain(one));
  }
  return 0;
}

/** `workspace`, `workspace, listed`. */
/** The last error of an agent and its last stderr lines; empty for a healthy agent. */
function explain({ id, state, lastErrorText, unavailable, stderrTail = [] }: Health & { readonly id: string }): string {
  const why = unavailable ?? lastErrorText;
  if (why === undefined && state !== 'unhealthy') return '';
  const words = why ?? 'it sends lines that are not valid messages';
  return `\n${[`${id}: ${words}`, ...stderrTail.slice(-STDERR_LINES).map((line) => `  | ${line}`)].join('\n')}\n`;
}

const STDERR_LINES = 10;

type Listed = {
  readonly name: string;
  readonly isDefault: boolean;
  readonly command: string;
  /** Of a remote agent. */
  readonly address?: string;
  readonly args: readonly string[];
  readonly processes: readonly Health[];
  readonly tools: SessionRecord['tools'];
};

function rowsOf(agent: Listed): string[][] {
  const words = escapeControls(joinWords([agent.command, ...agent.args]));
  const command = agent.address === undefined || agent.address === agent.command ? words : `${agent.address}: ${words}`;
  const tools = agent.tools ? toolsText(agent.tools) : '';
  const name = agent.isDefault ? `${agent.name} *` : agent.name;
  if (agent.processes.length === 0) return [[name, 'not running', '', '', '', '', '', '', tools, command]];
  return agent.processes.map(({ state, pid, since, sessions, inFlight, restarts, lastError }) =>
    [name, state, pid, since, sessions, inFlight, restarts, lastError, tools, command].map((cell) => String(cell ?? '')),
  );
}
