// An agent for the screenshots of the console: proposes a change of several hunks, and asks for input with a form.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const update = (sessionId, news) => send({ method: 'session/update', params: { sessionId, update: news } });
const FORM = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Name of the plant', minLength: 2 },
    count: { type: 'integer', title: 'How many', default: 3, minimum: 1 },
    place: { type: 'string', title: 'Where', enum: ['south wall', 'greenhouse', 'by the shed'], default: 'greenhouse' },
    care: { type: 'array', title: 'It needs', items: { type: 'string', enum: ['sun', 'shade', 'a lot of water'] }, default: ['sun'] },
    perennial: { type: 'boolean', title: 'It comes back every year', default: true },
  },
  required: ['name'],
};
let cwd = '';
let prompted;

function turn(id, { sessionId, prompt }) {
  if (prompt[0].text.includes('plant')) {
    prompted = { id, sessionId };
    return send({
      id: 'form',
      method: 'elicitation/create',
      params: { sessionId, mode: 'form', message: 'What shall I plant?', requestedSchema: FORM },
    });
  }
  const file = path.join(cwd, 'garden.ts');
  const oldText = readFileSync(file, 'utf8');
  const newText = oldText
    .replace("door: 'green'", "door: 'blue'")
    .replace('water(beds, 2)', 'water(beds, weather.isDry ? 3 : 1)')
    .replace('// paths', '// paths, wide enough for a barrow');
  update(sessionId, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Three small changes; take what you like.' } });
  const content = [{ type: 'diff', path: file, oldText, newText }];
  update(sessionId, { sessionUpdate: 'tool_call', toolCallId: 'edit', title: 'Edit garden.ts', kind: 'edit', status: 'pending', content });
  send({ id, result: { stopReason: 'end_turn' } });
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize')
    send({
      id,
      result: { protocolVersion: 1, agentCapabilities: {}, agentInfo: { name: 'gardener', title: 'Gardener', version: '1.0.0' } },
    });
  else if (method === 'session/new') {
    cwd = params.cwd;
    send({ id, result: { sessionId: `garden-${process.pid}` } });
  } else if (method === 'session/prompt') turn(id, params);
  else if (id === 'form') send({ id: prompted.id, result: { stopReason: 'end_turn' } });
});
