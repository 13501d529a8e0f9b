// Agents of others that serve ACP over the network, as `url` agents of the built command: goose and qwen, each over WebSocket and streamable HTTP.
// A scripted model takes the place of the network.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { Client } from '../../scripts/agents/client.mjs';
import { prompting } from '../../scripts/agents/model/script.mjs';
import { startModel } from '../../scripts/agents/model/server.mjs';
import { freePort, isOpen } from './ports.mjs';
import { AGENT_VERSIONS, agentTools } from './tools.mjs';

const SWITCHBOARD = path.resolve(import.meta.dirname, '../../bin/switchboard.js');
const START_MS = 60_000;
const KEY = 'a-key-of-the-agent';

/** How each one starts: its environment, its arguments, and the header that it wants. */
const RECIPES = {
  goose: {
    header: 'X-Secret-Key',
    value: KEY,
    args: (port) => ['--port', String(port)],
    settings(home, model) {
      const config = path.join(home, '.config/goose/config.yaml');
      const extension = '{enabled: true, type: builtin, name: developer, timeout: 300, bundled: true}';
      mkdirSync(path.dirname(config), { recursive: true });
      writeFileSync(config, `GOOSE_PROVIDER: openai\nGOOSE_MODEL: scripted\nGOOSE_MODE: approve\nextensions:\n  developer: ${extension}\n`);
      return {
        ...{ OPENAI_HOST: model, OPENAI_BASE_PATH: 'v1/chat/completions', OPENAI_API_KEY: 'sk-scripted-0000' },
        ...{ GOOSE_SERVER__SECRET_KEY: KEY, GOOSE_DISABLE_KEYRING: '1' },
      };
    },
  },
  qwen: {
    header: 'Authorization',
    value: `Bearer ${KEY}`,
    /** It listens before it serves ACP. */
    ready: /\/acp WebSocket transport enabled/,
    args: (port) => ['--port', String(port), '--require-auth', '--no-web'],
    settings(home, model) {
      mkdirSync(path.join(home, '.qwen'), { recursive: true });
      const settings = {
        ...{ security: { auth: { selectedType: 'openai' } }, model: { name: 'scripted' } },
        ...{ privacy: { usageStatisticsEnabled: false }, telemetry: { enabled: false }, general: { enableAutoUpdate: false } },
      };
      writeFileSync(path.join(home, '.qwen/settings.json'), JSON.stringify(settings));
      return { OPENAI_BASE_URL: `${model}/v1`, OPENAI_API_KEY: 'sk-scripted-0000', OPENAI_MODEL: 'scripted', QWEN_SERVER_TOKEN: KEY };
    },
  },
};

/** Prints a line for each way, and returns what went wrong. */
export async function checkAgents(print) {
  const tools = agentTools();
  const problems = [];
  for (const name of Object.keys(RECIPES)) {
    const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'interop-')));
    const model = await startModel();
    const server = await start(name, { tools, root, model: model.url });
    try {
      for (const scheme of ['ws', 'http']) {
        const failed = await check(name, { scheme, root, server });
        print(`${name} ${AGENT_VERSIONS[name]} over ${scheme}: ${failed.length === 0 ? 'everything' : `${failed.length} checks fail`}`);
        problems.push(...failed.map((why) => `${name} over ${scheme}: ${why}`));
      }
    } catch (error) {
      problems.push(`${name}: ${error.message}\n${server.output()}`);
    }
    await server.stop();
    model.close();
    rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
  return problems;
}

async function start(name, { tools, root, model }) {
  const recipe = RECIPES[name];
  for (const one of ['home', 'project']) mkdirSync(path.join(root, one));
  const port = await freePort();
  const [command, ...args] = [...tools[name], ...recipe.args(port)];
  const home = path.join(root, 'home');
  const env = {
    ...{ HOME: home, PATH: `${tools.nodeFolder}${path.delimiter}${process.env.PATH}`, LANG: 'C.UTF-8', NO_COLOR: '1' },
    ...recipe.settings(home, model),
  };
  const child = spawn(command, args, { cwd: path.join(root, 'project'), env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output = `${output}${text}`.slice(-2000);
    });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const until = Date.now() + START_MS;
  while (!(await isOpen(port)) || !(recipe.ready ?? /^/).test(output)) {
    if (child.exitCode !== null || Date.now() > until) throw new Error(`${name} does not listen\n${output}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    port,
    output: () => output,
    async stop() {
      child.kill();
      const late = setTimeout(() => child.kill('SIGKILL'), 5000);
      await ended;
      clearTimeout(late);
    },
  };
}

/** The whole life of a session; each thing that is not as it should be is a sentence. */
async function check(name, { scheme, root, server }) {
  const failed = [];
  const expect = (isTrue, otherwise) => void (isTrue || failed.push(otherwise));
  const project = path.join(root, 'project');
  const relay = await startRelay(server.port);
  const { header, value } = RECIPES[name];
  const config = path.join(root, `${scheme}.json`);
  const far = { url: `${scheme}://[::1]:${server.port}/acp`, headers: { [header]: `\${env:AGENT_KEY}` }, files: 'same' };
  writeFileSync(config, JSON.stringify({ agent_servers: { far }, policy: { version: 1, default: 'ask' }, host_tools: { enabled: false } }));
  const env = { PATH: process.env.PATH, HOME: root, SWITCHBOARD_HOME: path.join(root, `state-${scheme}`), AGENT_KEY: value };
  const clients = [];
  const connect = async () => {
    const client = new Client(process.execPath, [SWITCHBOARD, 'acp', '--config', config], { cwd: project, env });
    clients.push(client);
    client.missingIsEmpty = true;
    await client.initialize();
    return client;
  };
  const prompt = (client, sessionId, steps) =>
    client.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: prompting(steps) }] });
  const firstChunk = (client, from) => client.update(({ update }) => update.sessionUpdate === 'agent_message_chunk', from);

  try {
    const client = await connect();
    const { sessionId } = await client.request('session/new', { cwd: project, mcpServers: [] });
    const file = path.join(project, `${scheme}.txt`);
    const turn = await prompt(client, sessionId, [{ write: file }, { say: 'all steps done' }]);
    expect(turn.stopReason === 'end_turn', `the turn ended with ${turn.stopReason}`);
    expect(client.textOf(sessionId).includes('all steps done'), 'the last text of the turn is missing');
    expect(existsSync(file), 'the file was not written');
    expect(client.requests.length > 0, 'nobody was asked for permission');

    let from = client.updates.length;
    const slow = prompt(client, sessionId, [{ slow: 600 }]);
    await firstChunk(client, from);
    client.notify('session/cancel', { sessionId });
    const { stopReason } = await slow;
    expect(stopReason === 'cancelled', `the cancelled turn ended with ${stopReason}`);
    from = client.updates.length;
    await prompt(client, sessionId, [{ say: 'after the cancel' }]);
    expect(client.textOf(sessionId, from).includes('after the cancel'), 'no text after the cancel');

    from = client.updates.length;
    const lost = prompt(client, sessionId, [{ slow: 600 }]).then(
      () => 'was answered',
      ({ message }) => message,
    );
    await firstChunk(client, from);
    relay.cut();
    const why = await lost;
    expect(/connection to agent "far" was lost/.test(why), `a turn whose connection breaks: ${why}`);
    from = client.updates.length;
    const again = await prompt(client, sessionId, [{ say: 'after the break' }]).catch(({ message }) => ({ stopReason: message }));
    expect(again.stopReason === 'end_turn', `the turn after the break ended with ${again.stopReason}`);
    expect(
      client.textOf(sessionId, from).includes('after the break'),
      `no text after the break: ${JSON.stringify(client.updates.slice(from)).slice(0, 500)}`,
    );

    await client.close();
    const next = await connect();
    await next.request('session/load', { sessionId, cwd: project, mcpServers: [] });
    expect(next.textOf(sessionId).includes('all steps done'), 'session/load does not replay the first turn');
    from = next.updates.length;
    await prompt(next, sessionId, [{ say: 'after the load' }]);
    expect(next.textOf(sessionId, from).includes('after the load'), 'no text after the load');
  } catch (error) {
    failed.push(error.message);
  }
  for (const client of clients) await client.close();
  relay.close();
  return failed;
}

/** Passes bytes on until it is cut. The same port at another address: agents refuse a Host with a port that is not theirs. */
async function startRelay(port) {
  const sockets = new Set();
  const server = net.createServer((inner) => {
    const outer = net.connect(port, '127.0.0.1');
    for (const [one, other] of [
      [inner, outer],
      [outer, inner],
    ]) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => sockets.delete(one));
    }
  });
  await new Promise((resolve) => server.listen(port, '::1', resolve));
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    cut,
    close() {
      server.close();
      cut();
    },
  };
}
