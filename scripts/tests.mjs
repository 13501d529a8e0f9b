// The whole suite, which `npm test` and `npm run check` both ask for. What has passed on these very sources is not run a second time by
// `--unless-passed`: the suite takes minutes, and the second run would say nothing new.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const passed = path.join(root, 'node_modules', '.cache', 'acp-switchboard', 'passed');
const [, , ...args] = process.argv;
const isWhole = args.every((arg) => arg === '--unless-passed');

/** Every file that git knows or would take, by content; undefined where there is no git to ask. */
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

function lastPassed() {
  try {
    return readFileSync(passed, 'utf8');
  } catch {
    return undefined;
  }
}

const before = treeHash();
if (args.includes('--unless-passed') && before !== undefined && lastPassed() === before) {
  console.log('tests: passed on these very sources already');
  process.exit(0);
}
rmSync(passed, { force: true });
const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs');
const { status } = spawnSync(process.execPath, [vitest, 'run', ...args.filter((arg) => arg !== '--unless-passed')], {
  cwd: root,
  stdio: 'inherit',
});
if (status === 0 && isWhole && before !== undefined) {
  mkdirSync(path.dirname(passed), { recursive: true });
  writeFileSync(passed, before);
}
process.exit(status ?? 1);
