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
// Built aside and then put in place: a proxy that starts meanwhile finds the old one or the new one, never half of it.
const outdir = path.join(root, `dist.${process.pid}`);

/** To whatever `scripts/compile-agent.cjs` is: a turn, so that the way of its words is compiled too. */
const EDITOR_SAYS = [
  { id: 1, method: 'initialize', params: { protocolVersion: 1, clientCapabilities: {} } },
  { id: 2, method: 'session/new', params: { cwd: '/', mcpServers: [] } },
  { id: 3, method: 'session/prompt', params: { sessionId: 'one', prompt: [{ type: 'text', text: 'words' }] } },
];

/** What stands for `import` of our own parts; as long as that, so that places in the sources stay where they are. */
const LATER = 'onNeed';
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));

/**
 * The text of the start is a function of what CommonJS gives to a module, which as a module calls itself: `bin/load.js` need not put the half
 * megabyte into a function first, and so not hold it twice. Another pair of parentheses, so that V8 compiles it at once where it has to.
 */
const MODULE = 'exports,require,module,__filename,__dirname';
const ENVELOPE = `(f=>this===globalThis?f:f(${MODULE}))((function(${MODULE}){`;

/** Whatever the part was for fails with it, and these words are all that people see of it: which program, of which version, and what to do. */
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

/** Built-in modules that take milliseconds to load, and that nothing is asked of but their functions: loaded when one is called. */
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
  define: {
    'process.env.SWITCHBOARD_VERSION': JSON.stringify(version),
    // `ws` would look for native modules that are not there.
    'process.env.WS_NO_BUFFER_UTIL': '"1"',
    'process.env.WS_NO_UTF_8_VALIDATE': '"1"',
  },
  logLevel: 'warning',
};
// Bundled CommonJS packages ask for built-ins by `require`, which an ES module does not have.
const banner = { js: 'const require = (name) => process.getBuiltinModule(name);' };

const declarations = declare('index.d.ts');

// By itself and as small as it is: agents start one for each session.
await build({ ...options, entryPoints: { 'mcp-shim': 'src/mcp/transports/shim.ts' }, sourcemap: false, minify: true });
await build({ ...options, banner, entryPoints: { 'demo-agent': 'src/demo/main.ts' } });
const { metafile } = await build({
  ...options,
  banner,
  entryPoints: { cli: 'src/cli/entry.ts' },
  splitting: true,
  metafile: true,
});
await joinStart(metafile.outputs);
await buildPage();
// The library by itself: who embeds it has its own start, and nothing of the command line in it.
await build({
  ...options,
  banner,
  entryPoints: { index: 'src/index.ts' },
  splitting: true,
  chunkNames: 'lib/[name]-[hash]',
  sourcemap: false,
});
loadLater(outdir);
loadLater(path.join(outdir, 'lib'));
await declarations;
await compileStart();
const before = `${outdir}.before`;
if (existsSync(dist)) renameSync(dist, before);
renameSync(outdir, dist);
rmSync(before, { recursive: true, force: true });

/** The console's page: what is on no first screen is loaded when it is looked at. */
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

/** The types of the library, in `dist/types`: those of this file, and of the files they refer to. Checked by `npm run check`, not here. */
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
 * Everything that the entry needs before it can do anything becomes one file: each file costs a start more than its code does. The chunks
 * it is made of stay as names for parts of it, so that what is loaded later shares its modules and does not bring its own.
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
  // A function for each part, and not a property for each name: esbuild makes getters of these, and hundreds of them would be in every start.
  const handOut = parts.map(({ names }) => `() => ({ ${names.map(({ name, as }) => `${name}: ${as}`).join(', ')} })`);
  contents.push('export { main };', `export const parts = [${handOut.join(', ')}];`);
  // Of another build, a part with the same name may mean another thing by its number.
  const program = createHash('sha256').update(contents.join('\n')).digest('base64url').slice(0, 12);
  contents.push(`export const program = '${program}';`);
  const aside = path.join(outdir, 'joined');
  const joined = path.join(aside, 'cli.cjs');
  await build({
    ...options,
    outdir: undefined,
    outfile: joined,
    // Node needs less time for a start without its loader of ES modules.
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
  // As ASCII it is read without a look at each character, and takes half the memory.
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

/** The parts of a program that runs may be gone when it wants them: then that is what it says. */
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

/**
 * The start as V8 has compiled it once it has served an editor, for `bin/load.js`. Made with an agent of a few lines, in a home of its own; the
 * second time the agent is known, as it is on any day but the first.
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
      for (const line of EDITOR_SAYS) running.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...line })}\n`);
      await running;
    }
  } catch (error) {
    console.warn(`build: the start is not compiled ahead of time (${error.message}); it works all the same`);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Imported, a built-in module is wrapped with all it has, also with what it would load when first asked for; asked for like this it is not. */
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
