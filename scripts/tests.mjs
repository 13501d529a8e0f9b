// Runs the whole suite, for `npm test` and `npm run check`. `--unless-passed` skips it if it has passed on exactly these sources, because
// the suite takes minutes.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const cache = path.join(root, 'node_modules', '.cache', 'acp-switchboard');
const passed = path.join(cache, 'passed');
const [, , ...args] = process.argv;
const isWhole = args.every((arg) => arg === '--unless-passed');

/** A hash of every file that git tracks or would track; undefined without git. */
function treeHash() {
  const { status, stdout } = spawnSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: root, encoding: 'utf8' });
  if (status !== 0) return undefined;
  const hash = createHash('sha256').update(`${process.version} ${process.platform}\0`);
  for (const file of stdout
    .split('\0')
    .filter((name) => name !== '')
    .sort()) {
    try {
      hash.update(`${file}\0`).update(readFileSync(path.join(root, file)));
    } catch {
      hash.update('gone'); // deleted and not yet committed
    }
  }
  return hash.digest('hex');
}

function textOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function run(...more) {
  const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const env = { ...process.env, TEST_PACKAGES: 'install' };
  return spawnSync(process.execPath, [vitest, 'run', ...more], { cwd: root, stdio: 'inherit', env }).status ?? 1;
}

const before = treeHash();
if (args.includes('--unless-passed') && before !== undefined && textOf(passed) === before) {
  console.log('tests: passed on these very sources already, documents included');
  process.exit(0);
}
mkdirSync(cache, { recursive: true });
rmSync(passed, { force: true });
const status = run(...args.filter((arg) => arg !== '--unless-passed'));
if (status === 0 && isWhole && before !== undefined) writeFileSync(passed, before);
process.exit(status);
