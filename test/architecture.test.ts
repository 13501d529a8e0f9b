// The map of docs and STYLE.md, held against every import in the source.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { RETIRED_WORDS } from './retired-words.ts';

const SRC = path.resolve(import.meta.dirname, '../src');

/** What each folder may import, besides itself and the files at the root; of those, pure folders only the pure ones. */
const MAY_IMPORT: Readonly<Record<string, readonly string[] | 'everything'>> = {
  cli: 'everything',
  // The composition root: it builds a proxy from a configuration, for the command and for programs that embed us.
  app: [
    'client',
    'proxy',
    'config',
    'agents',
    'review',
    'sandbox',
    'transports',
    'dialects',
    'mcp',
    'workspace',
    'policy',
    'redaction',
    'audit',
    'store',
    'telemetry',
    'acp',
    'wire',
  ],
  'web-app': ['listener', 'client', 'dialects', 'agents', 'workspace', 'sandbox', 'transports', 'redaction', 'store', 'acp'], // an app's protocol -> ACP, as dialects are for agents
  console: ['listener', 'client', 'store', 'redaction', 'audit', 'policy', 'config', 'acp'],
  proxy: [
    'agents',
    'review',
    'transports',
    'dialects',
    'mcp',
    'workspace',
    'policy',
    'redaction',
    'audit',
    'store',
    'telemetry', // the type of what it reports
    'router',
    'acp',
    'wire',
  ],
  attach: ['proxy', 'store', 'router', 'acp', 'wire'], // many clients on the sessions of one proxy
  setup: ['config', 'agents', 'redaction'],
  platform: [], // what differs between operating systems, a folder for each
  registry: [], // an index that is not trusted, archives and packages -> folders of programs
  config: ['bus', 'agents', 'sandbox', 'dialects', 'mcp', 'policy', 'redaction', 'audit', 'store', 'telemetry', 'wire'], // it composes the option schemas that each of them owns
  client: ['acp', 'wire'],
  mcp: ['client', 'processes', 'acp', 'wire'], // agents-as-tools serves the sessions of the built-in client
  workspace: ['processes', 'acp', 'wire'],
  dialects: ['acp', 'wire'],
  agents: ['sandbox', 'transports', 'processes', 'acp', 'wire'],
  listener: ['transports', 'store', 'wire'],
  bus: ['transports', 'audit', 'wire'], // hosts and edges; a link is a transport; the logs of hosts travel on it
  transports: ['processes', 'wire'], // what carries a connection to an agent
  store: ['redaction', 'processes', 'acp', 'wire'],
  audit: ['redaction', 'processes', 'acp', 'wire'],
  redaction: ['acp', 'wire'],
  telemetry: ['acp', 'wire'],
  review: ['sandbox', 'workspace', 'policy', 'store', 'processes'],
  sandbox: ['policy', 'processes'], // profile/ is pure: it compiles a policy to a profile
  policy: ['acp'],
  router: ['acp'],
  acp: [],
  wire: [],
  processes: [], // starting and ending process trees
  demo: [], // an independent peer, written against the SDK
};
const PURE_ROOT_FILES = ['errors.ts', 'json-object.ts', 'json-nesting.ts', 'control-characters.ts'];
const OPEN_TO_ALL = [...PURE_ROOT_FILES, 'fingerprint.ts', 'native-path.ts', 'private-files.ts', 'serial-queue.ts'];
/** Folders that every other may import, except pure ones. */
const OPEN_FOLDERS = ['platform'];
/** The table behind errors.ts, which alone imports it. */
const FAILURES = 'failures.ts';
/** The library. Only programs that embed us import it. */
const LIBRARY = 'index.ts';

/** Decisions only: no clock, no chance, no disk, no network. */
const PURE = ['router', 'policy', path.join('sandbox', 'profile'), path.join('sandbox', 'settings.ts')];
const isIn = (file: string, folder: string) => file === folder || file.startsWith(folder + path.sep);
const PURE_BUILT_INS = ['node:buffer', 'node:path', 'node:path/posix', 'node:path/win32', 'node:url', 'node:util'];

type Import = { readonly file: string; readonly from: string; readonly specifier: string };

const COMMENT_OR_STRING = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;

/** What comments say does not count. */
const withoutComments = (text: string) => text.replace(COMMENT_OR_STRING, (token) => (token.startsWith('/') ? '' : token));
/** Nor what plain strings say; a template may hold code. */
const withoutWords = (text: string) => text.replace(COMMENT_OR_STRING, (token) => (token.startsWith('`') ? token : "''"));

/** In names, word by word. The same kind of list, without the words that stand in formats of files. */
const RETIRED_IN_NAMES =
  /^(?:lent|lends?|loans?|errands?|deeds?|mend(?:s|ed)?|beside|whoever|onlookers?|overlong|abridged?|judge[ds]?|judging|said|scenes?|personas?|soon|desks?)$/i;

const PATTERN = /(?<=[(=,:[]\s*)\/(?![/*])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//g;

/** `isLentTool` is three words. */
function retiredNamesIn(source: string): string[] {
  const code = source
    .replace(COMMENT_OR_STRING, (token) => (token.startsWith('`') ? (token.match(/\$\{[^}]*\}/g) ?? []).join(' ') : ''))
    .replace(PATTERN, '');
  const names = code.match(/[A-Za-z_$][\w$]*/g) ?? [];
  return names.filter((name) => name.split(/(?<=[a-z0-9])(?=[A-Z])|[_$]/).some((word) => RETIRED_IN_NAMES.test(word)));
}

/** In comments, strings and the text of JSX elements; code in backticks or in a template is not text. */
function retiredWordsIn(source: string): string[] {
  const tokens = [...source.matchAll(COMMENT_OR_STRING)].map(([token]) =>
    token.startsWith('/') ? token.replace(/`[^`]*`/g, '') : token.replace(/\$\{[^}]*\}/g, ''),
  );
  const elements = [...source.replace(COMMENT_OR_STRING, '').matchAll(/>([^<>{}]*)</g)].map((match) => match[1] as string);
  return [...tokens, ...elements].flatMap((text) => [...text.matchAll(RETIRED_WORDS)].map(([word]) => word.toLowerCase()));
}

/** `import … from`, `export … from`, `import '…'` and `import('…')`, types included. */
function specifiersIn(text: string): string[] {
  const code = withoutComments(text);
  return [
    ...code.matchAll(/(?:^|[;}\s])(?:import|export)\s[^'"`;]*?\sfrom\s*['"]([^'"]+)['"]/g),
    ...code.matchAll(/(?:^|[;}\s])import\s*['"]([^'"]+)['"]/g),
    ...code.matchAll(/\b(?:import|require)\s*\(\s*['"`]([^'"`]+)['"`]/g),
  ].map((match) => match[1] as string);
}

const sourcesIn = (dir: string) =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => ({ file, text: readFileSync(path.join(dir, file), 'utf8') }));
const files = sourcesIn(SRC);
const inside = (dir: string) =>
  sourcesIn(path.resolve(SRC, '..', dir)).map(({ file, text }) => ({ file: path.join('..', dir, file), text }));
const page = inside('console');
/** These name the retired words. */
const NAMES_THEM = ['architecture.test.ts', 'retired-words.ts'].map((file) => path.join('..', 'test', file));
const everything = [...files, ...page, ...inside('test').filter(({ file }) => !NAMES_THEM.includes(file))];
const folderOf = (file: string) => file.split(path.sep)[0] as string;
const imports: readonly Import[] = files.flatMap(({ file, text }) =>
  specifiersIn(text).map((specifier) => ({ file, from: folderOf(file), specifier })),
);
const isInside = ({ specifier }: Import) => specifier.startsWith('.');
/** The folder, or the file at the root, that a relative import leads to. */
const targetOf = ({ file, specifier }: Import) => folderOf(path.relative(SRC, path.resolve(SRC, path.dirname(file), specifier)));

describe('the reader of imports', () => {
  test.each([
    ["import a from 'x';", ['x']],
    ["import type { A } from './x.ts';", ['./x.ts']],
    ["import {\n  a,\n  type B,\n} from '../y/x.ts';\nimport c from 'c';", ['../y/x.ts', 'c']],
    ["export { a } from './x.ts';\nexport * from './y.ts';", ['./x.ts', './y.ts']],
    ["import './effect.ts';", ['./effect.ts']],
    ["const { a } = await import('../y/x.ts');", ['../y/x.ts']],
    ["type A = import('./x.ts').A;", ['./x.ts']],
    ["// import a from 'x';\n/* import b from 'y'; */", []],
    ["const text = 'http://x'; // from 'y'\nimport z from 'z';", ['z']],
  ])('%j', (text, expected) => {
    expect(specifiersIn(text)).toEqual(expected);
  });

  test('finds those of the source', () => {
    expect(files.length).toBeGreaterThan(80);
    expect(imports.length).toBeGreaterThan(300);
    for (const one of imports.filter(isInside))
      expect(existsSync(path.resolve(SRC, path.dirname(one.file), one.specifier)), `${one.file} imports ${one.specifier}`).toBe(true);
  });
});

describe('imports go one way', () => {
  test('every folder is on the map, and nothing but what is open to all lies beside them', () => {
    for (const entry of readdirSync(SRC, { withFileTypes: true }))
      if (entry.isDirectory()) expect(Object.keys(MAY_IMPORT)).toContain(entry.name);
      else expect([...OPEN_TO_ALL, FAILURES, LIBRARY]).toContain(entry.name);
  });

  test.each(Object.entries(MAY_IMPORT).filter(([folder]) => existsSync(path.join(SRC, folder))))(
    '%s imports only %j',
    (folder, allowed) => {
      if (allowed === 'everything') return;
      const strays = imports
        .filter((one) => one.from === folder && isInside(one))
        .filter(
          (one) =>
            ![
              folder,
              ...allowed,
              ...(folder === 'demo' ? [] : PURE.includes(folder) ? PURE_ROOT_FILES : [...OPEN_TO_ALL, ...OPEN_FOLDERS]),
            ].includes(targetOf(one)),
        )
        .map(({ file, specifier }) => `${file} imports ${specifier}`);
      expect(strays).toEqual([]);
    },
  );

  test('the client side of the proxy knows the agent side only through boundary.ts', () => {
    const own = path.join('proxy', 'client');
    const below = ['boundary.ts', 'context.ts', 'json-rpc-lines.ts', 'traffic-warnings.ts'].map((file) => path.join('proxy', file));
    const targets = imports
      .filter((one) => path.dirname(one.file) === own && isInside(one))
      .map(({ file, specifier }) => path.relative(SRC, path.resolve(SRC, path.dirname(file), specifier)));
    expect(targets.length).toBeGreaterThan(10);
    expect(targets.filter((to) => folderOf(to) === 'proxy' && path.dirname(to) !== own && !below.includes(to))).toEqual([]);
  });

  test('what is open to all imports nothing of ours, but errors.ts its table', () => {
    const inside = imports.filter((one) => [...OPEN_TO_ALL, FAILURES].includes(one.file) && isInside(one));
    expect(inside.map(({ file, specifier }) => `${file} imports ${specifier}`)).toEqual([`errors.ts imports ./${FAILURES}`]);
    expect(imports.filter((one) => targetOf(one) === FAILURES).map(({ file }) => file)).toEqual(['errors.ts']);
  });

  test('only src/platform names an operating system; other code asks what it can do', () => {
    const FORMATS = [path.join('registry', 'plan.ts')]; // it reads the names of others
    const namers = files.filter(({ text }) => /'(?:win32|darwin|linux)'|[^.]\b(?:win32|darwin):/.test(withoutComments(text)));
    const strays = namers.map(({ file }) => file).filter((file) => folderOf(file) !== 'platform' && !FORMATS.includes(file));
    expect(namers.length).toBeGreaterThan(1);
    expect(strays).toEqual([]);
  });

  test('built-in modules are named as such', () => {
    const bare = imports.filter(({ specifier }) => builtinModules.includes(specifier));
    expect(bare.map(({ file, specifier }) => `${file} imports ${specifier}`)).toEqual([]);
  });
});

describe.each(PURE)('%s is pure:', (folder) => {
  const own = files.filter(({ file }) => isIn(file, folder));

  test('it imports no built-in module with effects, and only pure modules of this project', () => {
    expect(own.length).toBeGreaterThan(0);
    const mayImport = [...PURE, ...PURE_ROOT_FILES, 'acp'];
    const isPure = ({ file, specifier }: Import) =>
      specifier.startsWith('.')
        ? mayImport.some((pure) => isIn(path.join(path.dirname(file), specifier), pure))
        : !specifier.startsWith('node:') || PURE_BUILT_INS.includes(specifier);
    const impure = imports.filter((one) => isIn(one.file, folder) && !isPure(one));
    expect(impure.map(({ file, specifier }) => `${file} imports ${specifier}`)).toEqual([]);
  });

  test.each([
    ['the clock', /\bDate\.now\b|\bnew Date\b|\bperformance\b/],
    ['chance', /\bMath\.random\b|\brandomUUID\b|\bgetRandomValues\b/],
    ['timers', /\bset(?:Timeout|Interval|Immediate)\b|\bqueueMicrotask\b|\bnextTick\b/],
    ['the process or the network', /\bprocess\.|\bfetch\(/],
  ])('it does not use %s', (_, pattern) => {
    expect(own.filter(({ text }) => pattern.test(withoutWords(text))).map(({ file }) => file)).toEqual([]);
  });
});

test('nothing is written to the console: stdout belongs to the protocol', () => {
  expect(files.filter(({ text }) => /\bconsole\s*[.[]/.test(withoutWords(text))).map(({ file }) => file)).toEqual([]);
});

test('tests that run beside others of their file take onTestFinished from their own context and wait without expect.poll: those of vitest would be of another test, or of none', () => {
  const tests = new Map(
    readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => path.join(import.meta.dirname, file))
      .map((file) => [file, withoutComments(readFileSync(file, 'utf8'))]),
  );
  const reached = (from: string): string[] => {
    const found = new Set([from]);
    for (const file of found)
      for (const specifier of specifiersIn(tests.get(file) ?? '')) {
        const to = path.resolve(path.dirname(file), specifier);
        if (tests.has(to)) found.add(to);
      }
    return [...found];
  };
  const atOnce = [...tests.keys()].filter(
    (file) => /\.test\.ts$/.test(file) && /\.concurrent\b|\btestAtOnce\b/.test(tests.get(file) ?? ''),
  );
  const isOfVitest = (file: string) => /import[^;]*\bonTestFinished\b[^;]*from 'vitest'|\bexpect\.poll\b/.test(tests.get(file) ?? '');
  expect(atOnce.length).toBeGreaterThan(30);
  const wrong = atOnce.filter((file) => file !== import.meta.filename).flatMap((file) => reached(file).filter(isOfVitest));
  expect(wrong.map((file) => path.relative(import.meta.dirname, file))).toEqual([]);
});

describe('the tree stays readable:', () => {
  test('no file of the source, the page or the tests is longer than 400 lines', () => {
    const all = [...files, ...page, ...inside('test')];
    expect(all.filter(({ text }) => text.split('\n').length > 401).map(({ file }) => file)).toEqual([]);
  });

  test('no folder of the source or the page has more than 16 files side by side', () => {
    const count = new Map<string, number>();
    for (const { file } of [...files, ...page]) count.set(path.dirname(file), (count.get(path.dirname(file)) ?? 0) + 1);
    expect([...count].filter(([, size]) => size > 16)).toEqual([]);
  });

  test('no file is named with a retired word', () => {
    const retired =
      /(^|[/-])(legs?|lent|lend|loan|door|errand|tongue|desk|board|house|beside|soon|lane|tap|guard|judge|persona|scene)([-./]|$)/;
    expect(files.map(({ file }) => file).filter((file) => retired.test(file))).toEqual([]);
  });

  test.each([
    ['// tools lent to a session', ['lent']],
    ["const text = 'ask whoever manages it'; // Called off", ['whoever', 'called off']],
    ['/** As `tongue` in version 0.1. */ const lent = `\u0024{mended} taken back`;', ['taken back']],
    ['<p>It is taken back <b>later</b></p>', ['taken back']],
    ['// besides, a door that amends the release', []],
  ])('the search for retired words finds those of comments and texts: %s', (text, expected) => {
    expect(retiredWordsIn(text)).toEqual(expected);
  });

  test('no comment and no text for people uses a retired word', () => {
    expect(page.length).toBeGreaterThan(30);
    const found = everything.flatMap(({ file, text }) => retiredWordsIn(text).map((word) => `${file}: ${word}`));
    expect(found).toEqual([]);
  });

  test('no name in the source or the page uses a retired word', () => {
    expect(retiredNamesIn("const isLentTool = said; // judged\nconst lending = 'lent';")).toEqual(['isLentTool', 'said']);
    const found = everything.flatMap(({ file, text }) => retiredNamesIn(text).map((name) => `${file}: ${name}`));
    expect(found).toEqual([]);
  });

  test('the proxy keeps no state beside its owners: no WeakMap, no mutable variable of a module', () => {
    const beside = files
      .filter(({ file }) => ['proxy', 'wire'].includes(folderOf(file)))
      .filter(({ text }) => /\bnew WeakMap\b|^(?:export )?let /m.test(withoutWords(text)));
    expect(beside.map(({ file }) => file)).toEqual([]);
  });

  test('only the session itself assigns its state', () => {
    const writers = files.filter(({ file, text }) => folderOf(file) === 'proxy' && /\.#?state = /.test(withoutWords(text)));
    expect(writers.map(({ file }) => file).filter((file) => file.includes('sessions'))).toEqual([
      path.join('proxy', 'sessions', 'session.ts'),
    ]);
  });

  test.each([
    [
      'a session’s agent, ids, directory and delegation',
      /\b(?:session|child|next)\.(?:agent|nativeId|cwd|recordId|delegation) = /,
      'session-registry.ts',
    ],
    [
      'what a process is made for',
      /\b(?:agent|another)\.(?:isContained|directories|layer|isSuperseded|service\.isStopped) = /,
      'agent-pool.ts',
    ],
    ['whether a request is answered', /\brequest\.isAnswered = /, 'client-requests.ts'],
  ])('%s: only the owner that the architecture page names assigns it', (_, assigned, owner) => {
    const writers = files.filter(({ file, text }) => folderOf(file) === 'proxy' && assigned.test(withoutWords(text)));
    expect(writers.map(({ file }) => path.basename(file))).toEqual([owner]);
  });

  test('nothing but our own command changes V8: the library is a guest in its host', () => {
    expect(files.filter(({ file, text }) => folderOf(file) !== 'cli' && /setFlagsFromString/.test(text)).map(({ file }) => file)).toEqual(
      [],
    );
  });
});
