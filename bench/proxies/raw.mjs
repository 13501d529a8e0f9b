// The lower bound for Node: copies bytes in both directions without reading them. Supports one agent only.
import { startAgents } from './agents.mjs';

const [agent] = startAgents();
process.stdin.pipe(agent.stdin);
agent.stdout.pipe(process.stdout);
