// The first hour of a new user, with the installed command: two agents from a registry on this machine, a configuration, an editor, first prompts,
// and what the records say afterwards. Throws at the first thing that is not as it should be.
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from './agents/client.mjs';

const fixtures = path.join(path.dirname(path.dirname(fileURLToPath(import.meta.url))), 'test', 'fixtures');
const hash = (algorithm, encoding, bytes) => createHash(algorithm).update(bytes).digest(encoding);

/** `run(command, args, options)` resolves to stdout, and rejects if the command fails. `env` is that of the new user. */
export async function walk({ run, env, home, project, scratch }) {
  const switchboard = (...words) => run('switchboard', words, { env, cwd: project });
  const registry = await serveRegistry(scratch, run);
  try {
    const own = { ...env, npm_config_registry: `${registry.url}/`, npm_config_cache: path.join(scratch, 'npm') };
    const agents = (...words) => run('switchboard', ['agents', ...words], { env: own, cwd: project });
    const config = path.join(home, '.config', 'acp-switchboard', 'config.jsonc');
    mkdirSync(path.dirname(config), { recursive: true });
    writeFileSync(config, JSON.stringify({ registry: { url: `${registry.url}/registry.json` } }));
    expect('agents search', await agents('search'), /^one .*npx[\s\S]*^two .*binary/m);
    expect('agents add, from npm', await agents('add', 'one', '--yes'), 'Written');
    expect('agents add, an archive', await agents('add', 'two', '--yes'), 'Written');
    expect('agents test', await agents('test'), /^one: ok[\s\S]*^two: ok/m);

    const settings = path.join(home, '.config', 'zed', 'settings.json');
    mkdirSync(path.dirname(settings), { recursive: true });
    writeFileSync(settings, '{\n  // mine\n  "theme": "One Dark"\n}\n');
    expect('init', await switchboard('init', '--yes', '--no-connect'), '"policy": "standard"');
    expect('connect zed', await switchboard('connect', 'zed', '--yes'), 'choose Switchboard');
    expect('doctor', await switchboard('doctor'), /^0 problems/m);
    // A desktop program has no shell's PATH: the entry must do without it.
    const text = readFileSync(settings, 'utf8');
    expect('the editor keeps its settings', text, '// mine');
    const { command, args } = JSON.parse(text.replace('// mine', '')).agent_servers.Switchboard;
    await useEditor(new Client(command, args, { cwd: home, env: { HOME: home, PATH: '/usr/bin:/bin' } }), project);

    expect('run', await switchboard('run', '-a', 'two', '-o', 'simple', 'from a terminal'), 'from a terminal by ');
    expect('sessions', await switchboard('sessions', 'list'), /\bone\b[\s\S]*\btwo\b|\btwo\b[\s\S]*\bone\b/);
    expect('sessions show', await switchboard('sessions', 'show', 'latest'), 'from a terminal');
    expect('logs', await switchboard('logs', 'method:session/prompt'), 'session/prompt');
    expect('audit verify', await switchboard('audit', 'verify'), 'intact');
  } finally {
    registry.close();
  }
}

/** One session on each agent, as an editor opens them. */
async function useEditor(editor, cwd) {
  try {
    await editor.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
    for (const agent of ['one', 'two']) {
      const { sessionId } = await editor.request('session/new', { cwd, mcpServers: [] });
      await editor.request('session/set_config_option', { sessionId, configId: 'agent', value: agent });
      const { stopReason } = await editor.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: `hello ${agent}` }] });
      const said = editor.updates.filter((one) => one.sessionId === sessionId).map(({ update }) => update.content?.text ?? '');
      expect(`the first prompt to ${agent} (${stopReason})`, said.join(''), `hello ${agent} by `);
    }
  } catch (error) {
    throw new Error(`the editor: ${error.message}\n${editor.stderr}`);
  } finally {
    editor.child.stdin.end();
    await editor.exited;
  }
}

function expect(what, text, wanted) {
  if (typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text)) return;
  throw new Error(`${what}: ${text.slice(-2000)}`);
}

/** An index, and what it refers to: a package as npm wants it, and an archive. Both hold the same small agent. */
async function serveRegistry(scratch, run) {
  const paths = new Map();
  const server = http.createServer(({ url }, response) => {
    const body = paths.get(decodeURIComponent(url.split('?')[0]));
    response.writeHead(body === undefined ? 404 : 200).end(body);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  const folder = path.join(scratch, 'agent', 'package');
  mkdirSync(folder, { recursive: true });
  const name = '@walk/one';
  const manifest = { name, version: '1.0.0', bin: { 'one-agent': 'cli.mjs' } };
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest));
  writeFileSync(path.join(folder, 'cli.mjs'), `#!/usr/bin/env node\n${readFileSync(path.join(fixtures, 'well-behaved.mjs'), 'utf8')}`, {
    mode: 0o755,
  });
  copyFileSync(path.join(fixtures, 'agent.mjs'), path.join(folder, 'agent.mjs'));
  const file = path.join(scratch, 'agent.tgz');
  await run('tar', ['--create', '--gzip', '--file', file, '--directory', path.dirname(folder), 'package']);
  const archive = readFileSync(file);
  const dist = { tarball: `${url}/one.tgz`, integrity: `sha512-${hash('sha512', 'base64', archive)}` };
  paths.set('/one.tgz', archive);
  paths.set(`/${name}`, JSON.stringify({ name, 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': { ...manifest, dist } } }));
  const target = `${process.platform}-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}`;
  const binary = { [target]: { archive: `${url}/one.tgz`, cmd: './package/cli.mjs', sha256: hash('sha256', 'hex', archive) } };
  const entry = (id, distribution) => ({ id, name: id, version: '1.0.0', description: 'an agent', distribution });
  const index = { version: '1.0.0', agents: [entry('one', { npx: { package: `${name}@1.0.0` } }), entry('two', { binary })] };
  paths.set('/registry.json', JSON.stringify(index));
  return { url, close: () => void server.close() };
}
