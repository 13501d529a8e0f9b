// The agent with which the build runs the start, see compileStart in build.mjs: it answers, and says a few words when it is prompted: one by one,
// many at once, and one frame that is large.
let rest = '';
const line = (message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
const say = (...messages) => process.stdout.write(messages.map(line).join(''));
const update = (one) => ({ method: 'session/update', params: { sessionId: 'one', update: one } });
const WORDS = Array.from({ length: 50 }, (_, n) =>
  update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: `words ${n}` } }),
);
const CODE = '  const text = "some code";\n'.repeat(20_000);
const DIFF = update({
  sessionUpdate: 'tool_call_update',
  toolCallId: 'one',
  content: [{ type: 'diff', path: '/file', oldText: '', newText: CODE }],
});
const RESULTS = {
  initialize: { protocolVersion: 1, agentCapabilities: {} },
  'session/new': { sessionId: 'one' },
  'session/prompt': { stopReason: 'end_turn' },
};
process.stdin.setEncoding('utf8').on('data', (text) => {
  const lines = (rest + text).split('\n');
  rest = lines.pop();
  for (const { id, method } of lines.map((line) => JSON.parse(line))) {
    if (method === 'session/prompt') {
      for (const words of WORDS) say(words);
      say(...WORDS);
      say(DIFF);
    }
    if (method in RESULTS) say({ id, result: RESULTS[method] });
  }
});
