// The two agents that need no account, key or network: they serve where nothing is configured.
import path from 'node:path';
import { agentSpec } from '../agents/defaults.ts';
import type { Config } from '../config/config.ts';
import { packageFile } from './package-files.ts';

export function withDemoAgents(base: Config, stateDir: string): Config {
  const script = packageFile('dist', 'demo-agent.js');
  const agents = ['sketcher', 'builder'].map((name) =>
    agentSpec(name, { command: process.execPath, args: [script, '--name', name, '--state', path.join(stateDir, 'demo', name)] }),
  );
  return { ...base, agents, defaultAgent: 'sketcher', explicitDefault: false };
}
