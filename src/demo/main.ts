// The embedded demo agents on stdio: node dist/demo-agent.js --name sketcher|builder [--state DIR]
import { Readable, Writable } from 'node:stream';
import { parseArgs } from 'node:util';
import { ndJsonStream } from '@agentclientprotocol/sdk';
import { createDemoAgent } from './agent-app.ts';
import { profiles } from './agents.ts';
import { createStore } from './session-store.ts';

const { values } = parseArgs({ options: { name: { type: 'string' }, state: { type: 'string' } } });
const profile = profiles.get(values.name ?? '');
if (profile === undefined) {
  process.stderr.write(`usage: demo-agent --name ${[...profiles.keys()].join('|')} [--state DIR]\n`);
  process.exit(2);
}

const demo = createDemoAgent(profile, createStore(values.state, profile.name));
const connection = demo.app.connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
void connection.closed
  .then(() => demo.close())
  // Explicit, because a keep-alive socket of an MCP server would keep the process running.
  .finally(() => process.exit(0));
