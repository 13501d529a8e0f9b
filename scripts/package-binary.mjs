// `npm run package:binary`: one executable file with Node, the program, the console's page, the demo agents and the policies, in release/.
// Node's "single executable applications". For the platform that it runs on; released for Linux x64.
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { inject } from 'postject';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const outdir = path.join(root, 'release');
const work = path.join(outdir, 'work');
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

mkdirSync(work, { recursive: true });
const bundle = path.join(work, 'switchboard.cjs');
await build({
  absWorkingDir: root,
  entryPoints: ['src/cli/binary/main.ts'],
  outfile: bundle,
  bundle: true,
  format: 'cjs',
  platform: 'node',
  target: 'node20.19',
  minifySyntax: true,
  minifyWhitespace: true,
  // Names stay for stack traces. Short lines, because Node prints the line of an uncaught error.
  lineLimit: 200,
  legalComments: 'none',
  banner: {
    // The loader of an executable knows Node's own modules only: the user's modules (host_tools.modules) go to Node's usual one.
    js: `const here = require('node:url').pathToFileURL(process.execPath).href;
const importFile = (name) => new (require('node:vm').Script)('(name) => import(name)', { filename: process.execPath, importModuleDynamically: require('node:vm').constants.USE_MAIN_CONTEXT_DEFAULT_LOADER }).runInThisContext()(name);`,
  },
  define: {
    'import.meta.url': 'here',
    'process.env.SWITCHBOARD_VERSION': JSON.stringify(version),
    'process.env.WS_NO_BUFFER_UTIL': '"1"',
    'process.env.WS_NO_UTF_8_VALIDATE': '"1"',
  },
  logLevel: 'warning',
});
const text = readFileSync(bundle, 'utf8');
const IMPORT_OF_A_FILE = /(?<![\w.$])import\((?=\(0,\s*\w+\.pathToFileURL\))/g;
if (text.match(IMPORT_OF_A_FILE)?.length !== 1) throw new Error('the import of src/app/tool-modules.ts is not found in the bundle');
writeFileSync(bundle, text.replace(IMPORT_OF_A_FILE, 'importFile('));

/** All files below a directory of the project, as `packageFile` names them. */
const below = (folder) =>
  readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath ?? entry.path, entry.name)).replaceAll(path.sep, '/'));
const pages = readdirSync(path.join(root, 'docs')).flatMap((file) => (file.endsWith('.md') ? [`docs/${file}`] : [])); // for `switchboard help PAGE`
const names = ['package.json', 'bin/switchboard.js', 'docs/examples/web-app.html', ...pages, ...below('config'), ...below('dist/console')];
const list = path.join(work, 'names.json');
writeFileSync(list, JSON.stringify(names));
const blob = path.join(work, 'switchboard.blob');
const settings = path.join(work, 'sea.json');
const assets = { names: list, ...Object.fromEntries(names.map((name) => [name, path.join(root, name)])) };
writeFileSync(settings, JSON.stringify({ main: bundle, output: blob, disableExperimentalSEAWarning: true, useCodeCache: true, assets }));
execFileSync(process.execPath, ['--experimental-sea-config', settings], { stdio: ['ignore', 'ignore', 'inherit'] });

const executable = path.join(outdir, process.platform === 'win32' ? 'switchboard.exe' : 'switchboard');
const draft = path.join(work, 'switchboard');
copyFileSync(process.execPath, draft);
chmodSync(draft, 0o755);
await inject(draft, 'NODE_SEA_BLOB', readFileSync(blob), { sentinelFuse: FUSE });
renameSync(draft, executable);
rmSync(work, { recursive: true });
const { size } = statSync(executable);
console.log(
  `${path.relative(root, executable)}: ${(size / 1e6).toFixed(0)} MB, Node ${process.version}, ${process.platform} ${process.arch}`,
);
