// Small real programs as agents, each in its own process group, ended with the test in any case.
import { readdirSync, readFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { startAgentProcess } from '../../src/agents/agent-process.ts';
import { type AgentSpec, agentSpec } from '../../src/agents/defaults.ts';
import type { Exit, Transport } from '../../src/transports/transport.ts';

type Options = Parameters<typeof agentSpec>[1];

/** A program given as the text of a script in plain JavaScript. */
export const script = (text: string, more: Partial<Options> = {}): AgentSpec =>
  agentSpec('agent', { command: process.execPath, args: ['-e', text], ...more });

export function start(spec: AgentSpec) {
  const agent = startAgentProcess(spec, 'test-mark');
  onTestFinished(() => agent.kill());
  let text = '';
  agent.fromAgent.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return {
    agent,
    output: () => text,
    /** Resolves once it has printed this. */
    async says(what: string): Promise<void> {
      while (!text.includes(what)) await new Promise((resolve) => agent.fromAgent.once('data', resolve));
    },
    exit: exitOf(agent),
  };
}

function exitOf(agent: Transport): Promise<Exit> {
  return new Promise((resolve) => agent.onExit(resolve));
}

/** Whether a process still runs. A zombie does not. */
export const isRunning = (pid: number): boolean => running(({ pid: own }) => own === pid, pid);

/** Whether any process of a group still runs. */
export const isGroupRunning = (leader: number): boolean => running(({ group }) => group === leader, -leader);

function running(isMeant: (process: { pid: number; group: number }) => boolean, target: number): boolean {
  if (process.platform === 'linux') return livingProcesses().some(isMeant);
  try {
    process.kill(target, 0);
    return true;
  } catch {
    return false;
  }
}

function livingProcesses() {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return state === 'Z' || state === 'X' ? [] : [{ pid: Number(name), group: Number(group) }];
    } catch {
      return []; // exited meanwhile
    }
  });
}
