// The agent with which the build runs the start, see compileStart in build.mjs: it answers, and says a few words when it is prompted.
let rest = '';
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const RESULTS = {
  initialize: { protocolVersion: 1, agentCapabilities: {} },
  'session/new': { sessionId: 'one' },
  'session/prompt': { stopReason: 'end_turn' },
};
process.stdin.setEncoding('utf8').on('data', (text) => {
  const lines = (rest + text).split('\n');
  rest = lines.pop();
  for (const { id, method } of lines.map((line) => JSON.parse(line))) {
    for (let n = 0; method === 'session/prompt' && n < 50; n++) {
      const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: `words ${n}` } };
      say({ method: 'session/update', params: { sessionId: 'one', update } });
    }
    if (method in RESULTS) say({ id, result: RESULTS[method] });
  }
});
