// Installs agents at the versions that the catalogue names, and Node 22, which some of them need, into a cache outside the repository.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const NODE = 'node@22';
const CATALOGUE = JSON.parse(readFileSync(path.resolve(import.meta.dirname, '../../config/agent-catalog.json'), 'utf8'));

export const defaultCache = () => path.join(process.env.XDG_CACHE_HOME ?? path.join(os.homedir(), '.cache'), 'acp-switchboard', 'agents');

/** The catalogue's entry. */
export const known = (id) => CATALOGUE.agents.find((agent) => agent.id === id);

/** The folder of an agent, or of Node 22, in the cache. */
export function install(cache, folder, pinned) {
  const place = path.join(cache, folder);
  const [, name, version] = /^(.+)@(.+)$/.exec(pinned);
  const manifest = path.join(place, 'node_modules', name, 'package.json');
  const isThere = () => existsSync(manifest) && `${JSON.parse(readFileSync(manifest, 'utf8')).version}.`.startsWith(`${version}.`);
  if (isThere()) return place;
  console.error(`installing ${pinned} into ${place}`);
  mkdirSync(place, { recursive: true });
  if (!existsSync(path.join(place, 'package.json'))) writeFileSync(path.join(place, 'package.json'), '{"private":true}');
  const env = { ...process.env, PATH: `${path.join(cache, 'node22/node_modules/.bin')}${path.delimiter}${process.env.PATH}` };
  const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', pinned], {
    cwd: place,
    env,
    stdio: 'inherit',
  });
  if (status !== 0 || !isThere()) throw new Error(`npm could not install ${pinned}`);
  return place;
}

export const installNode = (cache) => install(cache, 'node22', NODE);
