// A client must not be able to tell the proxy from the agent behind it: the same conversation, direct and proxied, frame by frame.
import path from 'node:path';
import { createReport, must, same, text } from './peer.mjs';
import { CAPS, direct, hello, PLAIN, scratch, scripted, startProxy } from './proxy.mjs';

const answers = {
  'fs/read_text_file': () => ({ result: { content: 'FILE', _meta: { kept: true } } }),
  'fs/write_text_file': () => ({ result: {} }),
  'terminal/create': () => ({ result: { terminalId: 'T1' } }),
  'terminal/wait_for_exit': () => ({ result: { exitCode: 3 } }),
  'terminal/output': () => ({ result: { output: 'OUT', truncated: false } }),
  'terminal/release': () => ({ result: {} }),
  'session/request_permission': () => ({ result: { outcome: { outcome: 'selected', optionId: 'yes' }, _meta: { kept: 1 } } }),
  '_probe/clientExt': (m) =>
    m.params.raw
      ? {
          raw: `{"result":{"one":1.0,"big":9007199254740993,"10":1,"2":2,"esc":"\\u00e9\\/","sessionId":"inner","id":-1},"extra":1,"id":${JSON.stringify(m.id)},"jsonrpc":"2.0"}`,
        }
      : { result: { pong: m.params.deep } },
};
// Legal JSON that parse + stringify would change, or that a careless scan would misread.
const oddRequests = [
  (id, s) =>
    `{"jsonrpc":"2.0","id":${id},"method":"_probe/raw","params":{"sessionId":${s},"big":9007199254740993,"one":1.0,"exp":1e2,"z":-0,"esc":"\\u00e9\\/","10":"a","2":"b","nested":{"id":-5,"sessionId":"inner","method":"x","requestId":1},"_meta":{"k":[1,2.50]}},"extra":true}`,
  (id, s) =>
    `{"params":{"text":"\\"id\\":1,\\"sessionId\\":\\"x\\",\\"method\\":\\"y\\"","sessionId":${s}},"extra":{"id":-3},"method":"_probe/raw","id":${id},"jsonrpc":"2.0"}`,
  (id, s) =>
    `{"jsonrpc":"2.0","id":${id},"method":"session/prompt","params":{"sessionId":${s},"prompt":[{"type":"text","text":"raw","annotations":{"priority":1.0}}],"_meta":{"n":9007199254740993}}}`,
];
const TURNS = [
  'echo hello',
  'whoami',
  'chunks 50',
  'odd',
  'read /etc/hostname',
  'write /x/y some text',
  'term ls -l',
  'permit edit {"file_path":"/x/a"}',
  'ext',
  'rawanswer',
  'refuse',
  'noise',
  'big 300000',
];

// Returns every line the client saw; ends early when something goes unanswered.
async function converse(peer, cwd) {
  for (const [method, handler] of Object.entries(answers)) peer.on(method, handler);
  let sessionId;
  let stopped;
  const ask = async (method, params) => {
    const r = await peer.request(method, params);
    if (r.msg.none) throw new Error(r.msg.none);
    return r;
  };
  try {
    await hello(peer, { ...CAPS, _meta: { vendor: 1 }, future: { x: true } });
    const made = await ask('session/new', {
      cwd,
      mcpServers: [{ name: 'mine', command: '/bin/true', args: [], env: [], future: 1 }],
      future: [1],
      _meta: { traceparent: '00-80e1afed08e019fc1110464cfa66635c-7a085853722dc6d2-01' },
    });
    sessionId = made.msg.result?.sessionId;
    must(sessionId, `session/new: ${made.line}`);
    for (const t of TURNS) await ask('session/prompt', { sessionId, prompt: text(t) });
    for (const odd of oddRequests) {
      const id = peer.newId();
      const r = await peer.ask(id, odd(id, JSON.stringify(sessionId)), 'an odd request');
      if (r.msg.none) throw new Error(r.msg.none);
    }
    await ask('_probe/agentExt', { sessionId, a: [1, { b: 2 }] });
    await ask('session/set_mode', { sessionId, modeId: 'code' });
    await ask('session/set_config_option', { sessionId, configId: 'model', value: 'm2' });
    await ask('session/nonsense', { sessionId });
    await ask('_vendor/no_session', {});
    await ask('session/prompt', { sessionId: 'no-such-session', prompt: text('x') });
    peer.notify('_probe/note', { sessionId, n: 1 });
    await ask('_probe/notes', { sessionId });
    await ask('session/list', {});
    await ask('session/load', { sessionId, cwd, mcpServers: [] });
    await ask('session/close', { sessionId });
  } catch (error) {
    stopped = String(error.message);
  }
  return {
    stopped,
    lines: peer.state.lines.map(({ line }) =>
      (sessionId ? line.replaceAll(sessionId, 'SESSION') : line).replace(/("pid\\?":)\d+/g, (_, key) => `${key}0`),
    ),
  };
}
// The ids of agent requests are the one thing that may differ.
const normal = (line) => line.replace(/^(\{"jsonrpc":"2\.0","id":)("(?:[^"\\]|\\.)*"|-?\d+)(,"method")/, '$1ID$3');
const isFrame = (line) => {
  try {
    return !Array.isArray(JSON.parse(line));
  } catch {
    return false;
  }
};
const around = (line, other) => {
  let i = 0;
  while (i < line.length && line[i] === other[i]) i++;
  return `…${line.slice(Math.max(0, i - 60), i + 90)}`;
};

const report = createReport('transparency');
const dir = scratch();
const elsewhere = scratch(); // the direct agent keeps its sessions apart, so that both list one session
const cwd = path.join(dir, 'work');
const plain = direct(elsewhere, 'same', cwd);
const reference = await converse(plain, cwd);
await plain.stop();
if (reference.stopped) throw new Error(`the check itself is broken: ${reference.stopped}`);
const expected = reference.lines.filter(isFrame).map(normal);
const config = { ...PLAIN, agent_servers: { same: scripted(dir, 'same') } };
const proxy = startProxy(dir, config);
const proxied = await converse(proxy, cwd);
const actual = proxied.lines.map(normal);

await report.check('every frame the client sees is the same', () => {
  for (let i = 0; i < Math.max(expected.length, actual.length); i++) {
    if (expected[i] === actual[i]) continue;
    throw new Error(
      `frame ${i} of ${expected.length}: direct ${expected[i] === undefined ? 'nothing' : around(expected[i], actual[i] ?? '')} | proxied ${actual[i] === undefined ? (proxied.stopped ?? 'nothing') : around(actual[i], expected[i] ?? '')}`,
    );
  }
});
if (actual.length === 0) report.giveUp();
const pick = (lines, ...words) => lines.filter((l) => words.some((w) => l.includes(w)));
await report.check('odd but legal JSON from the agent passes byte for byte', () =>
  same(pick(actual, 'x_future', 'late '), pick(expected, 'x_future', 'late '), 'odd frames'),
);
await report.check('odd but legal JSON from the client reaches the agent byte for byte', () => {
  const [got, want] = [pick(actual, '"raw":"', '"raw '), pick(expected, '"raw":"', '"raw ')];
  must(want.length === 4, 'the check itself is broken');
  for (const i of want.keys())
    must(got[i] === want[i], `sent ${around(want[i], got[i] ?? '')} | the agent got ${got[i] ? around(got[i], want[i]) : 'nothing'}`);
});
await report.check("the agent sees the client's own capabilities, unknown ones too", () => {
  const seen = actual.find((l) => l.includes('\\"caps\\"'));
  must(
    seen?.includes('\\"future\\":{\\"x\\":true}') && seen.includes('\\"terminal\\":true'),
    `whoami said ${seen?.slice(seen.indexOf('\\"caps') - 2, seen.indexOf('\\"caps') + 200)}`,
  );
});
await report.check('ends by itself when the client closes', async () => {
  const exit = await proxy.stop();
  must(exit.code === 0 && !exit.killed, exit.killed ? 'still there after 12 s' : JSON.stringify(exit));
});
await report.check('a later start, with the capabilities known, gives the same initialize answer', async () => {
  const again = startProxy(dir, config);
  await hello(again, { ...CAPS, _meta: { vendor: 1 }, future: { x: true } });
  same(again.state.lines[0].line, expected[0], 'initialize');
  await again.stop();
});
report.finish();
