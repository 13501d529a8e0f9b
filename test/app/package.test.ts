// The package as npm builds it, in an empty directory: its types compile, and the documented examples work.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
const guide = readFileSync(path.join(root, 'docs/embedding.md'), 'utf8');
const [example = '', server = ''] = [...guide.matchAll(/```ts\n(.*?)```/gs)].map(([, code = '']) => code);

let dir: string;
beforeAll(async () => {
  dir = mkdtempSync(path.join(realpathSync(os.tmpdir()), 'switchboard-package-'));
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', dir], { cwd: root });
  const [{ filename }] = JSON.parse(stdout);
  const installed = path.join(dir, 'node_modules', 'acp-switchboard');
  mkdirSync(installed, { recursive: true });
  // It is self-contained, but for types: of Node, and of the ACP SDK, a dependency that npm installs.
  await run('tar', ['-xzf', path.join(dir, filename), '--strip-components=1', '-C', installed]);
  mkdirSync(path.join(dir, 'node_modules', '@types'));
  mkdirSync(path.join(dir, 'node_modules', '@agentclientprotocol'));
  for (const name of ['@types/node', 'undici-types', '@agentclientprotocol/sdk'])
    symlinkSync(path.join(root, 'node_modules', name), path.join(dir, 'node_modules', name));
  writeFileSync(path.join(dir, 'package.json'), '{ "type": "module" }');
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('it contains every file that package.json names', () => {
  const installed = path.join(dir, 'node_modules', 'acp-switchboard');
  const { exports, bin } = JSON.parse(readFileSync(path.join(installed, 'package.json'), 'utf8'));
  const files = [...Object.values(exports['.']), ...Object.values(bin)] as string[];
  expect(files.length).toBe(3);
  expect(files.filter((file) => !existsSync(path.join(installed, file)))).toEqual([]);
  expect(existsSync(path.join(installed, 'src'))).toBe(false);
});

test('nothing in it prints with `console`, not even a bundled package: stdout belongs to the protocol', () => {
  const dist = path.join(dir, 'node_modules', 'acp-switchboard', 'dist');
  const scripts = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /\.c?js$/.test(file) && !file.startsWith('console'),
  );
  expect(scripts.length).toBeGreaterThan(20);
  const prints = scripts.filter((file) => /(?<![.\w])console\.\w+\(/.test(readFileSync(path.join(dist, file), 'utf8')));
  expect(prints).toEqual([]);
});

test('the examples in docs/embedding.md compile and run, and the first prints the documented output', async () => {
  writeFileSync(path.join(dir, 'example.ts'), example);
  // It uses the example's names, and listens here.
  const socket = path.join(dir, 'agents.sock');
  writeFileSync(
    path.join(dir, 'server.ts'),
    `import { createSwitchboard } from 'acp-switchboard';\nconst switchboard = await createSwitchboard();\n${server.replace(/'[^']+\.sock'/, JSON.stringify(socket))}`,
  );
  const flags = '--strict --module nodenext --target es2023 --types node --exactOptionalPropertyTypes --skipLibCheck false'.split(' ');
  await run(process.execPath, [path.join(root, 'node_modules/typescript/bin/tsc'), ...flags, 'example.ts', 'server.ts'], {
    cwd: dir,
  }).catch(({ stdout }) => expect.fail(stdout));
  const env = { PATH: process.env.PATH, HOME: dir, SWITCHBOARD_HOME: path.join(dir, 'state') };
  rmSync(path.join(dir, 'node_modules', '@agentclientprotocol'), { recursive: true }); // only its types are needed
  const { stdout, stderr } = await run(process.execPath, ['example.js'], { cwd: dir, env });
  const [, expected] = /```text\n(.*?)```/s.exec(guide) ?? [];
  expect(stdout.trimEnd()).toBe(expected?.trimEnd());
  expect(stderr).toBe('');

  writeFileSync(
    path.join(dir, 'report-listening.mjs'),
    `import net from 'node:net';
const { listen } = net.Server.prototype;
net.Server.prototype.listen = function (...args) { return listen.apply(this.once('listening', () => console.log('listening')), args); };`,
  );
  const serving = spawn(process.execPath, ['--import', './report-listening.mjs', 'server.js'], { cwd: dir, env });
  onTestFinished(() => void serving.kill('SIGKILL'));
  await once(serving.stdout, 'data');
  const client = net.connect(socket).setEncoding('utf8');
  client.write('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}\n');
  const [answer] = await once(client, 'data');
  expect(JSON.parse(answer)).toMatchObject({ id: 1, result: { protocolVersion: 1 } });
  client.destroy();
});
