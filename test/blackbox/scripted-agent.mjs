#!/usr/bin/env node
import { spawn } from 'node:child_process';
// A raw ACP v1 agent for black-box checks: the first word of the prompt says what it does. It writes frames by hand, so
// odd but legal JSON (big integers, odd escapes, unknown fields) leaves it exactly as written here.
// Options: --name N  --state DIR  --fixed-ids (sessions are s1, s2, ... in every process)  --early (updates before the session/new answer)
//          --no-load --no-resume --no-list --no-http  --auth  --slow-init MS  --version V  --modes-only  --noise (log lines on stdout)
//          --ignore-eof --ignore-term  --no-stdio --mcp-name N (which MCP server the `mcp` prompt uses)
import fs from 'node:fs';
import path from 'node:path';

const argv = process.argv.slice(2);
const flag = (n) => argv.includes(n);
const opt = (n, d) => (argv.includes(n) ? argv[argv.indexOf(n) + 1] : d);
const name = opt('--name', 'scripted');
const stateDir = opt('--state');
if (stateDir) fs.mkdirSync(stateDir, { recursive: true });
const sessions = new Map();
const pending = new Map();
const cancelled = new Set();
let counter = 0;
let requestId = 0;
let initParams;
let authed = !flag('--auth');

const line = (s) => process.stdout.write(`${s}\n`);
const out = (m) => line(JSON.stringify(m));
const reply = (id, result) => out({ jsonrpc: '2.0', id, result });
const fail = (id, code, message, data) => out({ jsonrpc: '2.0', id, error: { code, message, ...(data ? { data } : {}) } });
const update = (sessionId, u) => out({ jsonrpc: '2.0', method: 'session/update', params: { sessionId, update: u } });
const say = (sessionId, t) => update(sessionId, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: String(t) } });
const ask = (method, params) =>
  new Promise((done) => {
    const id = requestId++;
    pending.set(id, done);
    out({ jsonrpc: '2.0', id, method, params });
  });
const shown = ({ rawLine, ...answer }) => JSON.stringify(answer);
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const file = (id) => path.join(stateDir, `${name}-${id}.json`);
const save = (s) => {
  sessions.set(s.id, s);
  if (stateDir) fs.writeFileSync(file(s.id), JSON.stringify(s));
};
function find(id) {
  if (sessions.has(id)) return sessions.get(id);
  if (stateDir && /^[\w-]+$/.test(id) && fs.existsSync(file(id))) {
    const s = JSON.parse(fs.readFileSync(file(id)));
    sessions.set(id, s);
    return s;
  }
  return undefined;
}
const modes = (s) => ({
  currentModeId: s.mode,
  availableModes: [
    { id: 'ask', name: 'Ask' },
    { id: 'code', name: 'Code' },
  ],
});
const options = (s) => [
  {
    id: 'model',
    name: 'Model',
    category: 'model',
    type: 'select',
    currentValue: s.model,
    options: [
      { value: 'm1', name: 'M1' },
      { value: 'm2', name: 'M2' },
    ],
  },
];
const describe = (s) => (flag('--modes-only') ? { modes: modes(s) } : { modes: modes(s), configOptions: options(s) });
const PERMISSION = [
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
  { optionId: 'always', name: 'Always', kind: 'allow_always' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
];

async function turn(s, prompt, rawLine) {
  const t = prompt
    .map((b) => b.text ?? '')
    .join('')
    .trim();
  const [word, ...rest] = t.split(/\s+/);
  const tail = t.slice(word.length).trim();
  switch (word) {
    case 'echo':
      say(s.id, tail);
      break;
    case 'whoami':
      say(
        s.id,
        JSON.stringify({
          name,
          native: s.id,
          pid: process.pid,
          cwd: s.cwd,
          mcp: s.mcp.map((m) => m.name),
          mcpServers: s.mcp,
          opened: s.opened,
          model: s.model,
          mode: s.mode,
          caps: initParams?.clientCapabilities,
          version: initParams?.protocolVersion,
          turns: s.turns,
        }),
      );
      break;
    case 'chunks':
      for (let i = 0; i < Number(rest[0]); i++) say(s.id, `${i};`);
      break;
    case 'big':
      say(s.id, 'x'.repeat(Number(rest[0])));
      break;
    case 'sleep':
      for (let i = 0; i < Number(rest[0]) / 20 && !cancelled.has(s.id); i++) await sleep(20);
      if (cancelled.has(s.id)) return 'cancelled';
      break;
    case 'permit': {
      // permit KIND JSON(rawInput)
      const rawInput = JSON.parse(tail.slice(rest[0].length).trim() || '{}');
      const toolCall = {
        toolCallId: `call-${++counter}`,
        title: rawInput.command ?? rawInput.file_path ?? 'tool',
        kind: rest[0],
        status: 'pending',
        rawInput,
      };
      update(s.id, { sessionUpdate: 'tool_call', ...toolCall });
      const answer = await ask('session/request_permission', { sessionId: s.id, toolCall, options: PERMISSION });
      say(s.id, JSON.stringify(answer.result?.outcome ?? answer.error));
      if (answer.result?.outcome?.outcome === 'cancelled') return 'cancelled';
      break;
    }
    case 'read':
      say(s.id, shown(await ask('fs/read_text_file', { sessionId: s.id, path: tail })));
      break;
    case 'write':
      say(s.id, shown(await ask('fs/write_text_file', { sessionId: s.id, path: rest[0], content: tail.slice(rest[0].length + 1) })));
      break;
    case 'term': {
      const made = await ask('terminal/create', { sessionId: s.id, command: rest[0], args: rest.slice(1) });
      if (!made.result) {
        say(s.id, shown(made));
        break;
      }
      const { terminalId } = made.result;
      const ended = await ask('terminal/wait_for_exit', { sessionId: s.id, terminalId });
      const output = await ask('terminal/output', { sessionId: s.id, terminalId });
      await ask('terminal/release', { sessionId: s.id, terminalId });
      say(s.id, JSON.stringify({ ended: ended.result, output: output.result?.output }));
      break;
    }
    case 'ext':
      say(s.id, shown(await ask('_probe/clientExt', { sessionId: s.id, deep: { sessionId: 'untouched', id: 7 } })));
      break;
    case 'raw':
      say(s.id, `raw ${rawLine}`);
      break; // the prompt's own bytes
    case 'rawanswer':
      say(s.id, `raw ${(await ask('_probe/clientExt', { sessionId: s.id, raw: true })).rawLine}`);
      break; // the bytes of the client's answer
    case 'cancel-own': {
      // asks, then takes the question back
      const id = requestId;
      const answer = ask('session/request_permission', {
        sessionId: s.id,
        toolCall: { toolCallId: 'own', title: 'own', kind: 'other' },
        options: PERMISSION,
      });
      out({ jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: id } });
      say(s.id, shown(await answer));
      break;
    }
    case 'odd': // legal JSON that parse + stringify would change
      line(
        `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":${JSON.stringify(s.id)},"update":{"sessionUpdate":"x_future","big":9007199254740993,"one":1.0,"exp":1e2,"z":-0,"esc":"\\u00e9\\/","10":"a","2":"b","nested":{"id":5,"sessionId":"inner","method":"x"},"_meta":{"k":[1,2.50]}}},"extra":true}`,
      );
      line(
        `{"params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"late \\"method\\": \\"x\\", \\"id\\": 1"}},"sessionId":${JSON.stringify(s.id)}},"method":"session/update","jsonrpc":"2.0"}`,
      );
      line(
        `{ "jsonrpc" : "2.0",\t"method" : "session/update" , "params" : { "sessionId" : ${JSON.stringify(s.id)}, "update" : { "sessionUpdate" : "x_future", "spaced" : [ ] } } }`,
      );
      line(
        `{"jsonrpc":"2.0","\\u006dethod":"session\\/update","params":{"session\\u0049d":${JSON.stringify(s.id)},"update":{"sessionUpdate":"x_future","escaped":"keys"}}}`,
      );
      break;
    case 'noise':
      process.stdout.write('debug: not json\n{"broken": \n\n[1,2]\n');
      say(s.id, 'after noise');
      break;
    case 'crash':
      say(s.id, 'going');
      process.stderr.write('fatal: scripted crash\n');
      setTimeout(() => process.exit(17), 20);
      await sleep(5000);
      break;
    case 'hang':
      await new Promise(() => {});
      break;
    case 'deaf':
      process.stdin.pause();
      setInterval(() => {}, 1e6);
      await new Promise(() => {});
      break; // lives on, but reads no more
    case 'garbage':
      for (let i = 0; i < Number(rest[0]); i++) process.stdout.write('}{ nonsense\n');
      say(s.id, 'done');
      break;
    case 'hugeline': {
      // one legal frame of that many MB
      const chunk = 'y'.repeat(1 << 20);
      process.stdout.write(
        `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":${JSON.stringify(s.id)},"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"`,
      );
      for (let i = 0; i < Number(rest[0]); i++) if (!process.stdout.write(chunk)) await new Promise((r) => process.stdout.once('drain', r));
      process.stdout.write('"}}}}\n');
      say(s.id, 'after huge');
      break;
    }
    case 'flood': {
      const body = JSON.stringify({
        jsonrpc: '2.0',
        method: 'session/update',
        params: {
          sessionId: s.id,
          update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'z'.repeat(Number(rest[1])) } },
        },
      });
      for (let i = 0; i < Number(rest[0]); i++)
        if (!process.stdout.write(`${body}\n`)) await new Promise((r) => process.stdout.once('drain', r));
      break;
    }
    case 'grandchild': {
      // shares our stdout, ignores SIGTERM, says on fd 3 when it is up
      const c = spawn(
        process.execPath,
        ['-e', 'process.on("SIGTERM",()=>{});require("fs").writeSync(3,"up");setInterval(()=>{},1e6)', stateDir ?? name],
        { stdio: ['ignore', 'inherit', 'inherit', 'pipe'] },
      );
      await new Promise((r) => c.stdio[3].once('data', r));
      say(s.id, String(c.pid));
      break;
    }
    case 'env':
      say(s.id, JSON.stringify(Object.fromEntries(Object.entries(process.env).filter(([k]) => k.startsWith(tail)))));
      break;
    case 'mcp':
      say(s.id, JSON.stringify(await callMcp(s, rest)));
      break;
    case 'refuse':
      return 'refusal';
    default:
      say(s.id, `${name}: ${t}`);
  }
  return cancelled.has(s.id) ? 'cancelled' : 'end_turn';
}

// A minimal MCP client over stdio or HTTP, for the server named in the session (mcp list | mcp call TOOL JSON).
async function callMcp(s, [verb, tool, ...json]) {
  const wanted = s.mcp.filter((m) => (opt('--mcp-name') ? m.name === opt('--mcp-name') : /switchboard/.test(m.name))).at(0) ?? s.mcp.at(-1);
  if (!wanted) return { error: 'no server' };
  const requests = [
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'scripted', version: '0' } },
    },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    verb === 'list'
      ? { jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} }
      : { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: tool, arguments: JSON.parse(json.join(' ') || '{}') } },
  ];
  if (wanted.command) {
    if (flag('--no-stdio')) return { error: 'stdio servers are ignored' };
    const env = Object.fromEntries((wanted.env ?? []).map((e) => [e.name, e.value]));
    const child = spawn(wanted.command, wanted.args ?? [], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    });
    child.stdin.on('error', () => {});
    const answer = await new Promise((done) => {
      let b = '';
      child.on('exit', () => done({ error: 'server exited' }));
      child.on('error', (e) => done({ error: e.message }));
      child.stdout.on('data', (d) => {
        b += d;
        for (let i = b.indexOf('\n'); i >= 0; i = b.indexOf('\n')) {
          const m = JSON.parse(b.slice(0, i));
          b = b.slice(i + 1);
          if (m.id === 1) {
            for (const r of requests.slice(1)) child.stdin.write(`${JSON.stringify(r)}\n`);
          }
          if (m.id === 2) done(m.result ?? { error: m.error });
        }
      });
      child.stdin.write(`${JSON.stringify(requests[0])}\n`);
      setTimeout(done, 9000, { error: 'timeout' });
    });
    child.kill();
    return { via: 'stdio', ...answer };
  }
  let sessionHeader = {};
  let last;
  for (const r of requests) {
    const response = await fetch(wanted.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...sessionHeader,
        ...Object.fromEntries((wanted.headers ?? []).map((h) => [h.name, h.value])),
      },
      body: JSON.stringify(r),
    });
    if (response.headers.get('mcp-session-id'))
      sessionHeader = { 'mcp-session-id': response.headers.get('mcp-session-id'), 'mcp-protocol-version': '2025-06-18' };
    const bodyText = await response.text();
    if (r.id === undefined) continue;
    if (!response.ok) return { via: 'http', error: `${response.status} ${bodyText.slice(0, 200)}` };
    const data = bodyText.startsWith('{')
      ? bodyText
      : bodyText
          .split('\n')
          .filter((l) => l.startsWith('data:'))
          .map((l) => l.slice(5))
          .find((l) => JSON.parse(l).id === r.id);
    last = JSON.parse(data);
  }
  return { via: 'http', ...(last.result ?? { error: last.error }) };
}

async function on(m, rawLine) {
  if (m.method === undefined) {
    const done = pending.get(m.id);
    pending.delete(m.id);
    if (done) done({ ...m, rawLine });
    else notes.push({ stray: m });
    return;
  }
  const p = m.params ?? {};
  switch (m.method) {
    case 'initialize':
      initParams = p;
      await sleep(Number(opt('--slow-init', '0')));
      return reply(m.id, {
        protocolVersion: Number(opt('--version', '1')),
        agentCapabilities: {
          loadSession: !flag('--no-load'),
          promptCapabilities: { image: flag('--image'), embeddedContext: true },
          mcpCapabilities: { http: !flag('--no-http'), sse: false },
          sessionCapabilities: { ...(flag('--no-list') ? {} : { list: {} }), ...(flag('--no-resume') ? {} : { resume: {} }), close: {} },
          _meta: { [name]: { vendor: true } },
        },
        agentInfo: { name, title: name, version: '1.0.0' },
        authMethods: flag('--auth') ? [{ id: 'login', name: `Log in to ${name}` }] : [],
      });
    case 'authenticate':
      authed = p.methodId === 'login';
      return authed ? reply(m.id, {}) : fail(m.id, -32602, 'no such method', { methodId: p.methodId });
    case 'session/new': {
      if (!authed) return fail(m.id, -32000, 'Authentication required');
      const id = flag('--fixed-ids') ? `s${++counter}` : `${name}-${Date.now().toString(36)}-${++counter}`;
      const s = { id, cwd: p.cwd, opened: p, mcp: p.mcpServers ?? [], model: 'm1', mode: 'ask', turns: 0, texts: [] };
      save(s);
      if (flag('--early'))
        update(id, {
          sessionUpdate: 'available_commands_update',
          availableCommands: [{ name: 'early', description: 'sent before the answer' }],
        });
      return reply(m.id, { sessionId: id, ...describe(s), _meta: { from: name } });
    }
    case 'session/load':
    case 'session/resume': {
      if (flag(m.method === 'session/load' ? '--no-load' : '--no-resume')) return fail(m.id, -32601, `Method not found: ${m.method}`);
      const s = find(p.sessionId);
      if (!s) return fail(m.id, -32002, 'Resource not found', { sessionId: p.sessionId });
      s.cwd = p.cwd;
      s.mcp = p.mcpServers ?? [];
      if (m.method === 'session/load')
        for (const t of s.texts) {
          update(s.id, { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: t } });
          say(s.id, `replayed ${t}`);
        }
      return reply(m.id, describe(s));
    }
    case 'session/list': {
      const ids = new Set([
        ...sessions.keys(),
        ...(stateDir
          ? fs
              .readdirSync(stateDir)
              .filter((f) => f.startsWith(`${name}-`))
              .map((f) => f.slice(name.length + 1, -5))
          : []),
      ]);
      return reply(m.id, {
        sessions: [...ids]
          .map((id) => find(id))
          .filter((s) => s && (!p.cwd || p.cwd === s.cwd))
          .map((s) => ({ sessionId: s.id, cwd: s.cwd, title: `${name} ${s.id}`, updatedAt: '2026-11-01T00:00:00Z' })),
      });
    }
    case 'session/close':
      sessions.delete(p.sessionId);
      return reply(m.id, {});
    case 'session/set_mode': {
      const s = find(p.sessionId);
      s.mode = p.modeId;
      save(s);
      reply(m.id, {});
      return update(s.id, { sessionUpdate: 'current_mode_update', currentModeId: s.mode });
    }
    case 'session/set_config_option': {
      const s = find(p.sessionId);
      if (p.configId !== 'model') return fail(m.id, -32602, `unknown option ${p.configId}`);
      s.model = p.value;
      save(s);
      return reply(m.id, { configOptions: options(s) });
    }
    case 'session/cancel':
      cancelled.add(p.sessionId);
      return;
    case 'session/prompt': {
      const s = find(p.sessionId);
      if (!s) return fail(m.id, -32002, 'Resource not found', { sessionId: p.sessionId });
      cancelled.delete(s.id);
      s.turns++;
      s.texts.push(p.prompt.map((b) => b.text ?? '').join(''));
      save(s);
      inflight.add(m.id);
      const stopReason = await turn(s, p.prompt, masked(rawLine, m.id));
      inflight.delete(m.id);
      return reply(m.id, { stopReason, _meta: { turn: s.turns } });
    }
    case '_probe/agentExt':
      return reply(m.id, { echo: p, by: name });
    case '_probe/raw':
      return reply(m.id, { raw: masked(rawLine, m.id) });
    case '$/cancel_request':
      notes.push({ method: m.method, names: inflight.has(p.requestId) ? 'a running prompt' : 'nothing known', params: p });
      return;
    case '_probe/note':
      notes.push({ method: m.method, params: p });
      return;
    case '_probe/notes':
      return reply(m.id, { notes });
    default:
      if (m.id !== undefined) fail(m.id, -32601, `Method not found: ${m.method}`);
  }
}
const notes = [];
const inflight = new Set();
const masked = (rawLine, id) => rawLine.replace(`"id":${JSON.stringify(id)}`, '"id":ID'); // ids may differ behind a proxy, nothing else
let buffered = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (d) => {
  buffered += d;
  for (let i = buffered.indexOf('\n'); i >= 0; i = buffered.indexOf('\n')) {
    const l = buffered.slice(0, i);
    buffered = buffered.slice(i + 1);
    if (l.trim()) void on(JSON.parse(l), l);
  }
});
process.stdin.on('end', () => {
  if (!flag('--ignore-eof')) process.exit(0);
});
if (flag('--ignore-term')) process.on('SIGTERM', () => {});
if (flag('--noise')) process.stdout.write('starting up...\n');
