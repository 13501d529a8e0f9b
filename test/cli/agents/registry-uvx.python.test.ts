// Python agents from the registry, with a stand-in for uv that makes real environments: they are moved to the store, and work there.
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { zip } from '../../registry/make-archives.ts';
import { createHome, type Home } from '../command.ts';
import { startRegistry } from './local-registry.ts';

const fixtures = path.resolve(import.meta.dirname, '../../fixtures');
const agent = readFileSync(path.join(fixtures, 'python-agent.py'), 'utf8');

function wheel(name: string, version: string, module: string, more: Record<string, string> = {}): Buffer {
  const about = `${name.replaceAll('-', '_')}-${version}.dist-info`;
  const files = { METADATA: `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`, ...more };
  const modules = [{ name: `${name.replaceAll('-', '_')}.py`, content: module }];
  return zip([...modules, ...Object.entries(files).map(([file, content]) => ({ name: `${about}/${file}`, content }))]);
}

async function pythonRegistry(home: Home) {
  const registry = await startRegistry(home, []);
  const { server, env, list } = registry;
  const publish = (name: string, files: Record<string, Buffer | string>) => {
    const page = Object.keys(files).map((file) => `<a href="../files/${file}">${file}</a>`);
    server.paths[`/simple/${name}/`] = page.join('\n');
    for (const [file, content] of Object.entries(files)) server.paths[`/simple/files/${file}`] = content;
  };
  const scripts = { 'entry_points.txt': '[console_scripts]\none-agent = one_agent:main\n' };
  const versions = ['2.0.0', '2.1.0'].map((version) => {
    const needs = `Metadata-Version: 2.1\nName: one-agent\nVersion: ${version}\nRequires-Dist: one-words==${version}\n`;
    return [`one_agent-${version}-py3-none-any.whl`, wheel('one-agent', version, agent, { ...scripts, METADATA: needs })] as const;
  });
  publish('one-agent', Object.fromEntries(versions));
  const words = ['2.0.0', '2.1.0'].map((version) => {
    const module = `GREETING = "hello from Python"\nVERSION = "${version}"\n`;
    return [`one_words-${version}-py3-none-any.whl`, wheel('one-words', version, module)] as const;
  });
  publish('one-words', Object.fromEntries(words));
  publish('source-only', { 'source_only-1.0.tar.gz': 'x' });
  const bin = path.join(home.home, 'bin');
  mkdirSync(bin);
  symlinkSync(path.join(fixtures, 'uv.mjs'), path.join(bin, 'uv'));
  Object.assign(env, { PATH: `${bin}:${process.env.PATH}`, PYTHONDONTWRITEBYTECODE: '', UV_DEFAULT_INDEX: `${server.url}/simple` });
  const offer = (spec: string, more: object = {}) =>
    list({ id: 'one', name: 'One', version: '2', description: 'in Python', distribution: { uvx: { package: spec, ...more } } });
  return { ...registry, offer };
}

test('a Python agent is installed with what it requires, runs from the store, is updated and rolled back', async () => {
  const home = createHome();
  const { offer, run, json, config, state, folders, audit, env } = await pythonRegistry(home);
  offer('one-agent==2.0.0');
  expect(await run('add', 'one')).toMatchObject({ code: 0, stdout: expect.stringContaining('Python package: one-agent, version 2.0.0') });
  const [first = ''] = folders();
  expect(config().one).toMatchObject({ label: 'One', command: path.join(state, 'agents/store', first, 'bin/one-agent') });
  expect((await json('test', 'one')).data.agents).toMatchObject([{ ok: true, result: { agentInfo: { version: '2.0.0' } } }]);
  // Python has written its caches by now, which are no changes.
  expect(readdirSync(path.join(state, 'agents/store', first, 'lib64'), { recursive: true }).join()).toContain('__pycache__');
  expect((await home.quick(['doctor', '--no-start'], env)).stdout).toContain('agent "one": version 2.0.0 is as it was installed');

  offer('one-agent@2.1.0');
  expect((await run('update', '--yes')).stdout).toContain('one: 2.0.0 -> 2.1.0');
  expect((await json('test', 'one')).data.agents).toMatchObject([{ ok: true, result: { agentInfo: { version: '2.1.0' } } }]);
  expect((await run('rollback', 'one', '--yes')).stdout).toContain('one: 2.1.0 -> 2.0.0');
  expect((await home.run(['run', '-a', 'one', '-o', 'simple', 'x'], env)).stdout).toBe('hello from Python\n');
  await run('remove', 'one');
  expect(folders()).toEqual([]);
  expect(audit().map(({ method }) => method)).toContain('agents/rollback');
});

test('what needs a build, is missing or has no program is refused, and nothing is left', async () => {
  const home = createHome();
  const { offer, run, folders } = await pythonRegistry(home);
  for (const [spec, why] of [
    ['source-only==1.0', 'uv exited with code 1'],
    ['nobody==1.0', 'uv exited with code 1'],
    ['one-words==2.0.0', 'it has no program named one-words'],
  ] as const) {
    offer(spec);
    expect(await run('add', 'one')).toMatchObject({ code: 1, stderr: expect.stringContaining(why) });
  }
  expect(folders()).toEqual([]);
});
