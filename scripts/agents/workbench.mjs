// One check of one agent: a project, a home for the agent, a scripted model, and switchboards that are started with them.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Client } from './client.mjs';
import { install, installNode, known } from './install.mjs';
import { prompting } from './model/script.mjs';
import { startModel } from './model/server.mjs';
import { processesWith } from './processes.mjs';
import { entryOf, RECIPES } from './recipes.mjs';

/** Nothing that changes what an agent does: claude, for one, reads IS_SANDBOX. */
const PLAIN_ENVIRONMENT = Object.fromEntries(
  ['PATH', 'HOME', 'USER', 'TMPDIR', 'LANG'].flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
);
/** In which an agent must have connected to its tool server. */
const MOST_TURNS = 5;
const SWITCHBOARD = path.resolve(import.meta.dirname, '../../bin/switchboard.js');

export async function createWorkbench(name, { cache, keep }) {
  const recipe = RECIPES[name];
  const { version, distribution } = known(recipe.id);
  const nodeFolder = installNode(cache);
  const folder = install(cache, name, distribution.npx.package);
  const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), `agents-${name}-`)));
  const at = (...parts) => path.join(root, ...parts);
  for (const one of ['home', 'project', 'state']) mkdirSync(at(one));
  writeFileSync(at('project', 'README.txt'), 'a project\n');
  const model = await startModel();
  const { bin, args } = distribution.npx;
  const entry = entryOf({ recipe, folder, bin, args, nodeFolder, home: at('home'), model: model.url });
  const clients = new Set();

  return {
    name,
    recipe,
    version,
    model,
    cwd: at('project'),
    file: (...parts) => at('project', ...parts),
    has: (...parts) => existsSync(at('project', ...parts)),
    /** A new switchboard, initialized. */
    async start(more = {}) {
      writeFileSync(at('config.json'), JSON.stringify({ agent_servers: { [name]: entry }, ...more }));
      const env = { ...PLAIN_ENVIRONMENT, SWITCHBOARD_HOME: at('state') };
      const client = new Client(process.execPath, [SWITCHBOARD, 'acp', '--config', at('config.json')], { cwd: at('project'), env });
      client.missingIsEmpty = recipe.missingIsEmpty === true;
      clients.add(client);
      await client.initialize();
      if (recipe.login) await client.request('authenticate', { methodId: recipe.login });
      return client;
    },
    /** The built command, with the agent's configuration. */
    run(...args) {
      writeFileSync(at('config.json'), JSON.stringify({ agent_servers: { [name]: entry } }));
      const env = { ...PLAIN_ENVIRONMENT, SWITCHBOARD_HOME: at('state') };
      const words = [SWITCHBOARD, ...args, '--config', at('config.json')];
      return new Promise((resolve) =>
        execFile(process.execPath, words, { cwd: at('project'), env }, (error, stdout, stderr) => resolve({ error, stdout, stderr })),
      );
    },
    async open(client) {
      return (await client.request('session/new', { cwd: at('project'), mcpServers: [] })).sessionId;
    },
    /** One turn in which the model follows `steps`. */
    prompt: (client, sessionId, steps) =>
      client.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: prompting(steps) }] }),
    /** Until the model is offered our tools: some agents connect to tool servers while the first turn runs, and may end it before. */
    async connected(client, sessionId) {
      for (let turn = 1; turn <= MOST_TURNS && model.toolsSeen.size === 0; turn++) await this.prompt(client, sessionId, [{ say: 'hello' }]);
    },
    /** The lines of a file in the state directory. */
    lines(file) {
      if (!existsSync(at('state', file))) return [];
      return readFileSync(at('state', file), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line));
    },
    transcript(sessionId) {
      const found = readdirSync(at('state', 'transcripts'), { recursive: true }).find(
        (file) => file.includes(sessionId) && file.endsWith('.jsonl'),
      );
      return found === undefined ? [] : this.lines(path.join('transcripts', found));
    },
    /** Processes whose environment has the agent's home. */
    agentProcesses: () => processesWith(`HOME=${at('home')}`),
    async end() {
      await Promise.all([...clients].map((client) => client.close()));
      model.close();
      if (keep) console.error(`${name}: kept ${root}`);
      else rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}
