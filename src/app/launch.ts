// Starts or connects agents, with their stderr redacted.

import path from 'node:path';
import { type AgentProcessOptions, startAgentOverSsh, startAgentProcess } from '../agents/agent-process.ts';
import { type AgentSpec, agentSpec, type BusAgent } from '../agents/defaults.ts';
import type { Config } from '../config/config.ts';
import type { ProcessContext } from '../proxy/agents/process-context.ts';
import { learnArgs, learnServer } from '../redaction/learn-secrets.ts';
import { addEnvironment, createSecrets, type Secrets } from '../redaction/redact.ts';
import { createRedactStream } from '../redaction/redact-stream.ts';
import { containmentOf } from '../sandbox/settings.ts';
import { unstartable } from '../transports/child-process.ts';
import { connectRemote } from '../transports/connect-remote.ts';
import type { Transport } from '../transports/transport.ts';
import type { Limits } from '../wire/frame.ts';
import { demoScript } from './package-files.ts';

/** Connects to an agent on the bus. `connection` distinguishes the clients of this process. */
export type ConnectOnBus = (agent: BusAgent, context: ProcessContext, connection: string) => Transport;

/** Without a bus: the configuration has changed since the start. */
export const unlessOnBus = (_: BusAgent): Transport => unstartable({ why: 'there is no bus', next: 'Restart switchboard' });

type Launch = {
  readonly onBus: (agent: BusAgent) => Transport;
  /** In the environment of the agent's processes, to find those that it leaves behind. */
  readonly mark: string;
  readonly secrets: Secrets;
  readonly limits: Limits;
  /** Receives each line of stderr, redacted. */
  readonly heard?: ((line: string) => void) | undefined;
  readonly contain?: AgentProcessOptions['contain'];
};

export function launchAgent(spec: AgentSpec, { onBus, mark, secrets, limits, heard, contain }: Launch): Transport {
  if (spec.unusable) return unstartable(spec.unusable);
  if (spec.remote?.kind === 'url') return connectRemote(spec.remote, limits);
  if (spec.remote?.kind === 'bus') return onBus(spec.remote);
  const onStderrLine = heard && ((line: string) => heard(secrets.redact(line)));
  const stderr = { clean: createRedactStream(secrets), onStderrLine };
  const agent = spec.remote
    ? startAgentOverSsh(spec, spec.remote, mark, { ...stderr, redact: secrets.redact })
    : startAgentProcess(spec, mark, { ...stderr, contain });
  return { ...agent, stderrTail: (withinMs) => agent.stderrTail(withinMs).filter((line) => line !== '') };
}

/** The sandbox was not loaded at the start: an agent that needs one by now does not start. */
export function unlessContained({ sandbox }: AgentSpec): AgentProcessOptions['contain'] {
  if (sandbox === undefined || containmentOf(sandbox).level === 'off') return undefined;
  return () => ({ why: 'it must run in a sandbox since the configuration changed', next: 'Restart switchboard' });
}

/** The secrets given to this process, its agents and MCP servers, and the user's own redaction patterns. */
export async function secretsOf({ agents, mcpServers, logging }: Pick<Config, 'agents' | 'mcpServers' | 'logging'>): Promise<Secrets> {
  const { patterns, variables } = logging.redact;
  const compile = patterns.length === 0 ? undefined : (await import('../redaction/user-patterns.ts')).compileUserPattern;
  const secrets = createSecrets(compile && patterns.map(compile));
  addEnvironment(secrets, {}, process.env);
  for (const name of variables) secrets.add(name, process.env[name] ?? '');
  learnConfigured(secrets, { agents, mcpServers });
  return secrets;
}

/** Learns the secrets of agents and servers; call it before any of them starts. */
export function learnConfigured(secrets: Secrets, { agents, mcpServers }: Pick<Config, 'agents' | 'mcpServers'>): void {
  for (const { env, args, remote } of agents) {
    addEnvironment(secrets, env);
    if (remote) learnServer(secrets, remote);
    learnArgs(secrets, args);
  }
  for (const { at } of mcpServers) learnServer(secrets, at);
}

// The two agents that need no account, key or network: the default without a configuration.
export function withDemoAgents(base: Config, stateDir: string): Config {
  const script = demoScript();
  const agents = ['sketcher', 'builder'].map((name) => {
    const state = path.join(stateDir, 'demo', name);
    // Our state is hidden in a sandbox; theirs is a part of it.
    return agentSpec(name, {
      command: process.execPath,
      args: [script, '--name', name, '--state', state],
      sandbox: { state: [`${state}/`] },
    });
  });
  return { ...base, agents, defaultAgent: 'sketcher', explicitDefault: false };
}
