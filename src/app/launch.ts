// Starts agents as child processes, with their stderr redacted.

import path from 'node:path';
import { startAgentProcess } from '../agents/agent-process.ts';
import { type AgentSpec, agentSpec } from '../agents/defaults.ts';
import type { Config } from '../config/config.ts';
import { learnArgs, learnServer } from '../redaction/learn-secrets.ts';
import { addEnvironment, createSecrets, type Secrets } from '../redaction/redact.ts';
import { createRedactStream } from '../redaction/redact-stream.ts';
import type { Transport } from '../transports/transport.ts';
import { packageFile } from './package-files.ts';

/** `heard` receives each line of stderr, redacted. */
export function launchAgent(spec: AgentSpec, mark: string, secrets: Secrets, heard?: (line: string) => void): Transport {
  const agent = startAgentProcess(spec, mark, createRedactStream(secrets), heard && ((line) => heard(secrets.redact(line))));
  return { ...agent, stderrTail: () => agent.stderrTail().filter((line) => line !== '') };
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
  for (const { env, args } of agents) {
    addEnvironment(secrets, env);
    learnArgs(secrets, args);
  }
  for (const { at } of mcpServers) learnServer(secrets, at);
}

// The two agents that need no account, key or network: the default without a configuration.
export function withDemoAgents(base: Config, stateDir: string): Config {
  const script = packageFile('dist', 'demo-agent.js');
  const agents = ['sketcher', 'builder'].map((name) =>
    agentSpec(name, { command: process.execPath, args: [script, '--name', name, '--state', path.join(stateDir, 'demo', name)] }),
  );
  return { ...base, agents, defaultAgent: 'sketcher', explicitDefault: false };
}
