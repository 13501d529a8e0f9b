// `npm run package:check`: packs the program and checks the tarball as npm users get it: size, contents, entry points, types.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const MAX_BYTES = 3_000_000; // as npm counts: 3 MB
const UNWANTED = /\.(?:map|png|cache)$/;

const scratch = mkdtempSync(path.join(os.tmpdir(), 'switchboard-package-'));
try {
  const packed = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', scratch], {
    cwd: root,
    encoding: 'utf8',
  });
  const parsed = JSON.parse(packed);
  const [{ filename, files }] = Array.isArray(parsed) ? parsed : Object.values(parsed);
  const tarball = path.join(scratch, filename);
  const { size } = statSync(tarball);
  const unwanted = files.map((file) => file.path).filter((file) => UNWANTED.test(file));
  if (unwanted.length > 0) throw new Error(`the package has files that nobody needs: ${unwanted.slice(0, 5).join(', ')}`);
  if (size > MAX_BYTES) throw new Error(`the package has ${size} bytes; the limit is ${MAX_BYTES}`);
  console.log(`package: ${files.length} files, ${(size / 1e6).toFixed(2)} MB packed`);
  // What `npm publish` would correct by itself, and warn about.
  copyFileSync(path.join(root, 'package.json'), path.join(scratch, 'package.json'));
  execFileSync('npm', ['pkg', 'fix'], { cwd: scratch, stdio: 'ignore' });
  const manifest = (folder) => JSON.stringify(JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')));
  if (manifest(scratch) !== manifest(root)) throw new Error(`npm publish would correct package.json to ${manifest(scratch)}`);
  const bin = (name) => path.join(root, 'node_modules', '.bin', name);
  execFileSync(bin('publint'), [tarball, '--strict'], { cwd: root, stdio: 'inherit' });
  execFileSync(bin('attw'), [tarball, '--profile', 'esm-only'], { cwd: root, stdio: 'inherit' });
} catch (error) {
  console.error(`package:check: ${error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
