// The lower bound for Node: bytes from one side to the other, nothing looked at. It can front one agent only.
import { startAgents } from './agents.mjs';

const [agent] = startAgents();
process.stdin.pipe(agent.stdin);
agent.stdout.pipe(process.stdout);
