// One bundled entry with lazy chunks: file resolution, not code, is what makes a Node program slow to start.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build, transformSync } from 'esbuild';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const dist = path.join(root, 'dist');
// Built in a temporary directory and then renamed: a proxy that starts meanwhile loads the old or the new build, never a mixture.
const outdir = path.join(root, `dist.${process.pid}`);

/** The input for `scripts/compile-agent.cjs`: a whole turn, so that V8 compiles the code of a turn too. */
const CLIENT_MESSAGES = [
  { id: 1, method: 'initialize', params: { protocolVersion: 1, clientCapabilities: {} } },
  { id: 2, method: 'session/new', params: { cwd: '/', mcpServers: [] } },
  { id: 3, method: 'session/prompt', params: { sessionId: 'one', prompt: [{ type: 'text', text: 'words' }] } },
];

/** Replaces `import` of our own chunks; of the same length, so that source map positions stay valid. */
const LATER = 'onNeed';
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));

/**
 * The start script is a function of CommonJS's module parameters, and calls itself when loaded as a module: `bin/load.js` need not wrap the
 * half megabyte in a function, which would copy it. The extra parentheses make V8 compile it eagerly.
 */
const MODULE = 'exports,require,module,__filename,__dirname';
const ENVELOPE = `(f=>this===globalThis?f:f(${MODULE}))((function(${MODULE}){`;

/** The message of a chunk that can no longer be loaded, which is all that people see: program, version, and what to do. */
const GONE =
  `a part of switchboard ${version} cannot be loaded any more (\${fileURLToPath(new URL(name, here))}): ` +
  'the program was replaced or removed while it ran; start it again';
const REPLACED = 'PROGRAM_REPLACED';
const later = transformSync(
  `(load, here) => (name) => load(name).catch((cause) => {
    if (cause?.code !== 'ERR_MODULE_NOT_FOUND' && cause?.code !== '${REPLACED}') throw cause;
    const { fileURLToPath } = process.getBuiltinModule('node:url');
    throw Object.assign(new Error(\`${GONE}\`, { cause }), { code: '${REPLACED}' });
  })`,
  { minifyWhitespace: true },
).code.replace(/;\s*$/, '');

/** Built-in modules that take milliseconds to load and of which we only call functions: loaded at the first call. */
const ON_CALL = ['node:child_process', 'node:crypto', 'node:fs/promises'];

const options = {
  absWorkingDir: root,
  outdir,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  sourcemap: true,
  sourcesContent: false,
  legalComments: 'linked',
  // stdout belongs to the protocol, and some packages print (a NATS client when its connection breaks).
  drop: ['console'],
  define: {
    'process.env.SWITCHBOARD_VERSION': JSON.stringify(version),
    // `ws` would look for native modules that are not installed.
    'process.env.WS_NO_BUFFER_UTIL': '"1"',
    'process.env.WS_NO_UTF_8_VALIDATE': '"1"',
  },
  logLevel: 'warning',
};
// Bundled CommonJS packages `require` built-in modules, which an ES module cannot.
const banner = { js: 'const require = (name) => process.getBuiltinModule(name);' };

const declarations = declare('index.d.ts');

// Separate and as small as possible: agents start one per session.
await build({ ...options, entryPoints: { 'mcp-shim': 'src/mcp/transports/shim.ts' }, sourcemap: false, minify: true });
await build({ ...options, entryPoints: { 'sandbox-bridge': 'src/sandbox/network/bridge.ts' }, sourcemap: false, minify: true });
// Mostly the ACP SDK, whose code nobody debugs here.
await build({ ...options, banner, entryPoints: { 'demo-agent': 'src/demo/main.ts' }, sourcemap: false, minify: true });
const { metafile } = await build({
  ...options,
  banner,
  entryPoints: { cli: 'src/cli/entry.ts' },
  splitting: true,
  minifySyntax: true,
  metafile: true,
});
await joinStart(metafile.outputs);
await buildPage();
// The library is separate: embedding programs have their own entry point and need nothing of the command line.
await build({
  ...options,
  banner,
  entryPoints: { index: 'src/index.ts' },
  splitting: true,
  chunkNames: 'lib/[name]-[hash]',
  sourcemap: false,
  // Names stay for stack traces. Short lines, because Node prints the line of an uncaught error.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 200,
});
loadLater(outdir);
loadLater(path.join(outdir, 'lib'));
shrinkPackages(metafile.outputs);
await declarations;
await compileStart();
const before = `${outdir}.before`;
if (existsSync(dist)) renameSync(dist, before);
renameSync(outdir, dist);
rmSync(before, { recursive: true, force: true });

/** The console's page: code that the first screen does not need is loaded on demand. */
async function buildPage() {
  const page = path.join(outdir, 'console');
  const styles = readdirSync(path.join(root, 'console', 'style')).filter((name) => name.endsWith('.css'));
  await build({
    absWorkingDir: root,
    outdir: page,
    entryPoints: {
      page: 'console/main.tsx',
      style: 'console/style.css',
      ...Object.fromEntries(styles.map((name) => [path.parse(name).name, `console/style/${name}`])),
    },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome123', 'firefox121', 'safari17.5'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    legalComments: 'linked',
    logLevel: 'warning',
  });
  for (const name of ['index.html', 'icon.svg']) cpSync(path.join(root, 'console', name), path.join(page, name));
}

/** The type declarations of the library, in `dist/types`: this file's and those it refers to. Checked by `npm run check`, not here. */
async function declare(entry) {
  const types = path.join(outdir, 'types');
  const aside = path.join(outdir, 'declared');
  const flags = '--declaration --emitDeclarationOnly --noCheck --ignoreConfig --strict --isolatedModules --allowImportingTsExtensions';
  const compiler = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const source = path.join('src', entry.replace('.d.ts', '.ts'));
  const kinds = ['--module', 'nodenext', '--target', 'es2023', '--types', 'node', '--rootDir', 'src', '--outDir', aside];
  await promisify(execFile)(process.execPath, [compiler, ...flags.split(' '), ...kinds, source], { cwd: root });
  const wanted = new Set([entry]);
  for (const file of wanted) {
    const text = readFileSync(path.join(aside, file), 'utf8');
    for (const [, to] of text.matchAll(/ from '(\.[^']+)\.ts'/g)) wanted.add(path.join(path.dirname(file), `${to}.d.ts`));
    mkdirSync(path.join(types, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(types, file), text.replaceAll(/( from '\.[^']+)\.ts'/g, "$1.js'"));
  }
  rmSync(aside, { recursive: true });
}

/**
 * Joins everything that the entry needs at start into one file: each file costs more start-up time than its code. The joined chunks stay
 * importable by name, so that lazy chunks share their modules instead of duplicating them.
 */
async function joinStart(outputs) {
  const inDist = (output) => `./${path.basename(output)}`;
  const entry = Object.keys(outputs).find((output) => path.basename(output) === 'cli.js');
  const needed = new Set([entry]);
  for (const output of needed)
    for (const { path: chunk, kind, external } of outputs[output].imports) if (!external && kind === 'import-statement') needed.add(chunk);
  const parts = [...needed].map((output, index) => ({
    output,
    names: outputs[output].exports.map((name) => ({ name, as: output === entry ? name : `part${index}_${name}` })),
  }));
  const contents = parts.map(
    ({ output, names }) => `import { ${names.map(({ name, as }) => `${name} as ${as}`).join(', ')} } from '${inDist(output)}';`,
  );
  // One function per chunk instead of one property per name: esbuild turns properties into getters, and every start would create hundreds
  // of them.
  const handOut = parts.map(({ names }) => `() => ({ ${names.map(({ name, as }) => `${name}: ${as}`).join(', ')} })`);
  contents.push('export { main };', `export const parts = [${handOut.join(', ')}];`);
  // In another build, the same chunk number may mean another chunk.
  const program = createHash('sha256').update(contents.join('\n')).digest('base64url').slice(0, 12);
  contents.push(`export const program = '${program}';`);
  const aside = path.join(outdir, 'joined');
  const joined = path.join(aside, 'cli.cjs');
  await build({
    ...options,
    outdir: undefined,
    outfile: joined,
    // Node starts faster without its ES module loader.
    format: 'cjs',
    banner: {
      js: `${ENVELOPE}const here = require('node:url').pathToFileURL(__filename).href, ${LATER} = (${later})(module.${LATER} ?? ((name) => import(name)), here);`,
    },
    footer: { js: '}))' },
    define: { ...options.define, 'import.meta.url': 'here' },
    stdin: { contents: contents.join('\n'), resolveDir: outdir, sourcefile: 'start.js' },
    minifyWhitespace: true,
    minifySyntax: true,
    plugins: [
      builtins([...needed].map((output) => readFileSync(path.join(root, output), 'utf8'))),
      {
        name: 'what is loaded later stays where it is',
        setup: ({ onResolve }) =>
          onResolve({ filter: /./ }, ({ kind, path: to }) => (kind === 'dynamic-import' ? { path: to, external: true } : undefined)),
      },
    ],
  });
  const text = readFileSync(joined, 'utf8').replaceAll('import("./', `${LATER}("./`);
  // Node reads ASCII without decoding, in half the memory.
  writeFileSync(
    joined,
    text.replaceAll(/[^\0-\x7f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
  for (const [index, { output, names }] of parts.entries()) {
    const start = `const start = createRequire(import.meta.url)('./cli.cjs');
if (start.program !== '${program}') throw Object.assign(new Error('this is of another build'), { code: '${REPLACED}' });`;
    const shared = `const { ${names.map(({ name, as }) => `${name}: ${as}`).join(', ')} } = start.parts[${index}]();
export { ${names.map(({ name, as }) => `${as} as ${name}`).join(', ')} };`;
    writeFileSync(path.join(outdir, path.basename(output)), ["import { createRequire } from 'node:module';", start, shared, ''].join('\n'));
    rmSync(path.join(outdir, `${path.basename(output)}.map`), { force: true });
  }
  for (const name of readdirSync(aside)) renameSync(path.join(aside, name), path.join(outdir, name));
  rmSync(aside, { recursive: true });
}

/** Chunks of a running program may have been deleted when it needs them; then report that. */
function loadLater(directory) {
  const files = readdirSync(directory).filter((name) => name.endsWith('.js'));
  for (const file of files.map((name) => path.join(directory, name))) {
    const text = readFileSync(file, 'utf8');
    if (!text.includes('import("./')) continue;
    if (!text.startsWith(banner.js)) throw new Error(`${file} begins otherwise than expected`);
    const first = `${banner.js} const ${LATER} = (${later})((name) => import(name), import.meta.url);`;
    writeFileSync(file, `${first}${text.slice(banner.js.length).replaceAll('import("./', `${LATER}("./`)}`);
  }
}

/** Removes white space from chunks that are mostly packages of others: a tenth of the tarball. Their source maps would be wrong. */
function shrinkPackages(outputs) {
  for (const [output, { bytes, inputs }] of Object.entries(outputs)) {
    const file = path.join(outdir, path.basename(output));
    const theirs = Object.entries(inputs).filter(([input]) => input.startsWith('node_modules/'));
    const size = theirs.reduce((sum, [, { bytesInOutput }]) => sum + bytesInOutput, 0);
    if (!output.endsWith('.js') || size < 0.7 * bytes || !existsSync(`${file}.map`)) continue;
    const { code } = transformSync(readFileSync(file, 'utf8'), {
      minifyWhitespace: true,
      minifySyntax: true,
      lineLimit: 200,
      format: 'esm',
      platform: 'node',
      target: 'node20.19',
    });
    writeFileSync(file, code.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n'));
    rmSync(`${file}.map`);
  }
}

/**
 * Stores V8's compiled code of the start script after it has served a client, for `bin/load.js`. Runs twice with a small agent in a
 * temporary home: the second time the agent is known, as on most starts.
 */
async function compileStart() {
  const home = mkdtempSync(path.join(os.tmpdir(), 'switchboard-build-'));
  const config = path.join(home, 'switchboard.json');
  const agent = path.join(root, 'scripts', 'compile-agent.cjs');
  writeFileSync(config, JSON.stringify({ agent_servers: { agent: { command: process.execPath, args: [agent] } } }));
  const words = ['acp', '--config', config];
  const maker = path.join(root, 'scripts', 'compile-start.cjs');
  try {
    for (let time = 0; time < 2; time++) {
      const running = promisify(execFile)(process.execPath, [maker, path.join(outdir, 'cli.cjs'), ...words], {
        cwd: home,
        env: { ...process.env, SWITCHBOARD_HOME: home },
      });
      for (const line of CLIENT_MESSAGES) running.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...line })}\n`);
      await running;
    }
  } catch (error) {
    console.warn(`build: the start is not compiled ahead of time (${error.message}); it works all the same`);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** An import wraps a built-in module with all its exports and triggers their lazy loading; `getBuiltinModule` does not. */
function builtins(texts) {
  const names = new Map();
  for (const text of texts)
    for (const [, whole, some = '', from] of text.matchAll(/^import (?:(\w+),? )?(?:\{([^}]*)\} )?(?:from )?"(node:[^"]+)";$/gm)) {
      const known = names.get(from) ?? names.set(from, new Set()).get(from);
      for (const name of some.split(',')) if (name.trim() !== '') known.add(name.trim().split(' as ')[0]);
      if (whole !== undefined) known.add('default');
    }
  return {
    name: 'built-in modules',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^node:/ }, ({ path: name }) => (names.has(name) ? { path: name, namespace: 'built-in' } : undefined));
      onLoad({ filter: /./, namespace: 'built-in' }, ({ path: name }) => ({
        contents: (ON_CALL.includes(name) ? onCall : atOnce)(name, [...names.get(name)]).join('\n'),
      }));
    },
  };
}

function atOnce(module, names) {
  const each = names.map((name) => (name === 'default' ? 'export default it;' : `export const ${name} = it.${name};`));
  return [`const it = process.getBuiltinModule('${module}');`, ...each];
}

function onCall(module, names) {
  const other = names.find((name) => typeof process.getBuiltinModule(module)[name] !== 'function');
  if (other !== undefined) throw new Error(`${other} of ${module} is not a function: it cannot wait for a call`);
  return names.map((name) => `export const ${name} = (...args) => process.getBuiltinModule('${module}').${name}(...args);`);
}
