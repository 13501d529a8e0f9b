// An index and a package registry on this machine, for tests of the commands that install agents.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'jsonc-parser/lib/esm/main.js';
import { serve, sha256 } from '../../registry/local-server.ts';
import { type TarEntry, tarGz } from '../../registry/make-archives.ts';
import type { Home } from '../command.ts';

const FIXTURES = path.resolve(import.meta.dirname, '../../fixtures');
const fixture = (name: string) => readFileSync(path.join(FIXTURES, name), 'utf8');
const PROGRAM = `#!/usr/bin/env node\n${fixture('well-behaved.mjs')}`;

/** An agent that works, as the files of an archive. */
export const agentFiles = (version: string, below: string): readonly TarEntry[] => [
  { name: `${below}/cli.mjs`, content: `${PROGRAM}\n// ${version}\n`, mode: 0o755 },
  { name: `${below}/agent.mjs`, content: fixture('agent.mjs') },
];

/** What npm sees of a package: its versions, and the archive of each. */
export function npmPackage(
  paths: Record<string, unknown>,
  base: string,
  name: string,
  versions: readonly string[],
  more: object = {},
  script = '',
): void {
  const about = versions.map((version) => {
    const manifest = { name, version, bin: { 'one-agent': 'cli.mjs' }, ...more };
    const files = [
      { name: 'package/package.json', content: JSON.stringify(manifest) },
      ...agentFiles(version, 'package'),
      { name: 'package/script.cjs', content: script },
    ];
    const archive = tarGz(files);
    const at = `/${name}/-/one-${version}.tgz`;
    paths[at] = archive;
    const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`;
    return [version, { ...manifest, ...(script && { hasInstallScript: true }), dist: { tarball: base + at, integrity } }] as const;
  });
  paths[`/${name}`] = { name, 'dist-tags': { latest: versions.at(-1) }, versions: Object.fromEntries(about) };
}

type Entry = { id: string; version: string; distribution: unknown } & Record<string, unknown>;
export const npx = (version: string, more: object = {}): Entry => ({
  ...{ id: 'one', name: 'One Agent', version, description: 'a coding agent' },
  distribution: { npx: { package: `@x/one@${version}`, ...more } },
});

export async function startRegistry(
  home: Home,
  agents: readonly Entry[] = [npx('1.0.0')],
  tls?: { readonly cert: string; readonly key: string },
) {
  const server = await serve({}, tls);
  const list = (...entries: readonly Entry[]): void => {
    server.paths['/registry.json'] = { version: '1.0.0', agents: entries };
  };
  list(...agents);
  npmPackage(server.paths, server.url, '@x/one', ['1.0.0', '1.1.0', '2.0.0']);
  // A configuration needs an agent: the last one cannot be removed.
  home.write(home.userFile, { registry: { url: `${server.url}/registry.json` }, agent_servers: { other: { command: 'other-agent' } } });
  const state = path.join(home.home, 'state');
  const env = {
    SWITCHBOARD_HOME: state,
    npm_config_registry: `${server.url}/`,
    npm_config_cache: path.join(home.home, 'npm'),
    npm_config_userconfig: '/dev/null',
  };
  const binary = (version: string, more: object = {}, files = agentFiles(version, 'one')): Entry => {
    const archive = tarGz(files);
    server.paths[`/one-${version}.tar.gz`] = archive;
    const target = { archive: `${server.url}/one-${version}.tar.gz`, cmd: './one/cli.mjs', sha256: sha256(archive), ...more };
    return { ...npx(version), id: 'two', name: 'Two', distribution: { binary: { [TARGET]: target } } };
  };
  return {
    server,
    list,
    state,
    binary,
    run: (...words: readonly string[]) => home.quick(['agents', ...words], env),
    json: async (...words: readonly string[]) => JSON.parse((await home.quick(['agents', ...words, '--json'], env)).stdout),
    config() {
      const { other: _, ...agents } = parse(readFileSync(home.userFile, 'utf8')).agent_servers;
      return agents;
    },
    audit: () =>
      readFileSync(path.join(state, 'audit.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
        .filter((line) => line.method),
    folders: () =>
      existsSync(path.join(state, 'agents/store'))
        ? readdirSync(path.join(state, 'agents/store')).filter((one) => !one.endsWith('.json'))
        : [],
    env,
  };
}
const TARGET = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}`;
