// Prepares `npm start`, `npm test` and `npm run check`: installs the locked packages and builds the current sources.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const installed = path.join(root, 'node_modules', '.package-lock.json');

function run(command, args) {
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

const isStale = () => !existsSync(installed) || statSync(installed).mtimeMs < statSync(path.join(root, 'package-lock.json')).mtimeMs;
if (isStale()) run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
run(process.execPath, [path.join(root, 'scripts', 'build.mjs')]);
