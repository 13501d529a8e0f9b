// Runs many lines in one process of a real shell, and compares the commands that ran with the ones that the analysis names.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { analyseLine } from '../../../src/policy/commands/analyse.ts';
import { PROGRAM_TABLE } from '../../../src/policy/commands/programs/index.ts';
import fc from '../../generated.ts';
import { PLACE } from '../support.ts';

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: text for shells
/** Words, quotes, joints and expansions: everything in which shells differ. */
const WORDS = [
  ...[
    'a',
    'b c',
    '-x',
    '--y=1',
    'z.z',
    '1',
    '_',
    'x=1',
    '=',
    '=a',
    'a=~',
    '~',
    '~/',
    '~a',
    '~+',
    '%',
    '%1',
    '^',
    '^a',
    ',',
    ':',
    '@',
    '+',
    '-',
    '--',
    '!',
    '!a',
    '#',
    'a#b',
    ']',
    '[',
  ],
  ...[
    "'q r'",
    '"d e"',
    "'",
    '"',
    '\\',
    '\\ ',
    "\\'",
    '\\"',
    '""',
    "''",
    '"\\""',
    "'\\'",
    "'\\\\'",
    '"\\\\"',
    '"\\a"',
    "'a\\b'",
    '"a\\$b"',
    '\\\n',
    '\\n',
    '\\$x',
    "'$x'",
    '"!"',
    '"`"',
  ],
  ...[
    '$',
    '$x',
    '"$x"',
    '${x}',
    '"$HOME"',
    '"$PWD"',
    '"${HOME}"',
    '$HOME',
    '"$?"',
    '$?',
    '$$',
    '$1',
    '"$@"',
    '$=x',
    '$~x',
    '$^x',
    '"$=x"',
    '"$~x"',
    '"$+x"',
    '$(zzb)',
    '`zzb`',
    '(zzb)',
    '$((1))',
    "$'a'",
    '$"a"',
  ],
  ...[
    '*',
    '?',
    '[a]',
    '{a,b}',
    '{a}',
    '{',
    '}',
    '{1..3}',
    '**',
    '--i=*.x',
    '--i=?',
    'a*',
    '<(zzb)',
    '=(zzb)',
    'é',
    '\u00a0',
    '\r',
    '\t',
    '%%',
    '@(a)',
    '^2',
    '(a)',
    'a(b)',
    '[[',
    ']]',
  ],
] as const;
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: text for shells
const JOINTS = [
  ...[
    ' ',
    ' ',
    ' ',
    ' ',
    ' ',
    '',
    '  ',
    '\t',
    '\n',
    '; ',
    ' && ',
    ' || ',
    ' | ',
    ';',
    '&&',
    '||',
    '|',
    ' & ',
    ' |& ',
    ';;',
    ' and ',
    '; and ',
    '; or ',
    ' not ',
  ],
  ...[
    ' > o1 ',
    ' >> o2 ',
    ' < i1 ',
    ' 2>&1 ',
    ' >/dev/null ',
    ' 2>/dev/null ',
    ' &>/dev/null ',
    ' >& o3 ',
    ' &> o4 ',
    ' 2> o5 ',
    ' >o6',
    ' 3> o7 ',
    ' >| o8 ',
    ' <> o9 ',
    ' 1>&2 ',
    ' ^ oa ',
  ],
] as const;
const HEADS = [
  'zza',
  'zzb',
  'zzc',
  'zza',
  '! zza',
  'CI=1 zza',
  'A=b zzb',
  'cd d1',
  'cd d1/d2',
  'cd',
  "'zza'",
  '"zzb"',
  'zz""a',
  'time zza',
  'if',
  'then',
  'for',
  'function',
  'begin',
  'end',
  'noglob zza',
  'command zza',
  'builtin zza',
] as const;

/** Lines of up to three commands, joined by what shells know and do not know. */
export function randomLines(count: number, seed: number): string[] {
  const word = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 2 }).map((parts) => parts.join(''));
  const tame = fc.constantFrom('a', '-x', "'b c'", '"d"', 'x.y', '--y=1');
  const command = fc
    .tuple(
      fc.constantFrom(...HEADS),
      fc.array(fc.tuple(fc.constantFrom(...JOINTS), fc.oneof({ weight: 4, arbitrary: tame }, { weight: 3, arbitrary: word })), {
        maxLength: 4,
      }),
    )
    .map(([head, parts]) => head + parts.map(([joint, text], index) => (index === 0 ? ' ' : joint) + text).join(''));
  const line = fc
    .array(fc.tuple(command, fc.constantFrom(...JOINTS)), { minLength: 1, maxLength: 3 })
    .map((commands) => commands.map(([text, joint], index) => text + (index < commands.length - 1 ? joint : '')).join(''));
  return fc.sample(line, { numRuns: count, seed });
}

export type Shell = 'bash' | 'sh' | 'zsh' | 'fish';

/** Functions of these names note their directory and words. Nothing else is on the path. */
const PROGRAMS: readonly string[] = ['zza', 'zzb', 'zzc'];
const END = '\u0002';

const POSIX_FUNCTIONS = PROGRAMS.map((name) => `${name}() { printf '%s\\001' "$PWD" ${name} "$@" "${END}" >> "$NOTES"; }`).join('\n');
const FISH_FUNCTIONS = PROGRAMS.map((name) => `function ${name}; printf '%s\\001' "$PWD" ${name} $argv "${END}" >> $NOTES; end`).join('\n');

const START: Readonly<Record<Shell, readonly string[]>> = {
  bash: ['bash', '--norc', '--noprofile'],
  sh: ['sh'],
  zsh: ['zsh', '-f'],
  fish: ['fish', '--no-config'],
};

const quoted = (line: string, shell: Shell): string =>
  shell === 'fish' ? `'${line.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'` : `'${line.replaceAll("'", "'\\''")}'`;

// Each line in a subshell: a syntax error ends a POSIX shell. fish has none, and only skips the line.
function scriptOf(lines: readonly string[], shell: Shell): string {
  const isFish = shell === 'fish';
  const each = lines.map((line, index) => {
    const text = quoted(line, shell);
    const mark = `printf '%s\\001' "#${index}" "${END}" >> ${isFish ? '$NOTES' : '"$NOTES"'}`;
    return isFish ? `${mark}\ncd $START\neval ${text}` : `${mark}\n( eval ${text}\nwait )`;
  });
  return `${isFish ? FISH_FUNCTIONS : POSIX_FUNCTIONS}\n${each.join('\n')}\n`;
}

export type Difference = { readonly line: string; readonly shell: Shell; readonly ran: string };

const BATCH = 1000;

/** What the shell ran that the analysis does not name. Only lines that the analysis finds clear are run. */
export function differences(lines: readonly string[], shell: Shell): { readonly compared: number; readonly found: readonly Difference[] } {
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'switchboard-shell-')));
  const start = path.join(folder, 'start');
  const found: Difference[] = [];
  let compared = 0;
  try {
    for (let from = 0; from < lines.length; from += BATCH) {
      rmSync(start, { recursive: true, force: true });
      mkdirSync(path.join(start, 'd1', 'd2'), { recursive: true });
      writeFileSync(path.join(start, 'i1'), 'text\n');
      const place = { ...PLACE, cwd: start, home: start };
      const clear = lines.slice(from, from + BATCH).flatMap((line) => {
        const { commands, opaque } = analyseLine(line, start, place, 'raw');
        // A program that the table does not have is never allowed, so what another shell makes of its name (`noglob`, `or`) does not matter.
        const isKnown = commands.every(
          ({ argv, program }) => [...PROGRAMS, 'cd'].includes(argv[0] ?? '') || PROGRAM_TABLE.find(program) !== undefined,
        );
        return opaque.length === 0 && isKnown ? [{ line, commands }] : [];
      });
      compared += clear.length;
      const seen = runBatch(
        clear.map(({ line }) => line),
        shell,
        folder,
        start,
      );
      for (const [index, { line, commands }] of clear.entries()) {
        const named = new Set(commands.flatMap(({ argv, cwds }) => cwds.map((cwd) => [cwd, ...argv].join('\u0001'))));
        for (const ran of seen[index] ?? []) if (!named.has(ran)) found.push({ line, shell, ran });
      }
      const written = new Set(clear.flatMap(({ commands }) => commands.flatMap(({ redirects }) => redirects.map((file) => file.path))));
      for (const file of filesBelow(start))
        if (file !== path.join(start, 'i1') && !written.has(file)) found.push({ line: '(a file)', shell, ran: file });
    }
    return { compared, found };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.join(entry.parentPath, entry.name));

const placeOf = (program: string): string => spawnSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).stdout.trim();

/** The commands that ran, by line: directory and words. */
function runBatch(lines: readonly string[], shell: Shell, folder: string, start: string): string[][] {
  const notes = path.join(folder, 'notes');
  const script = path.join(folder, 'script');
  writeFileSync(notes, '');
  writeFileSync(script, scriptOf(lines, shell));
  const [program = '', ...options] = START[shell];
  const { error } = spawnSync(placeOf(program), [...options, script], {
    cwd: start,
    env: {
      PATH: '/nonexistent',
      HOME: start,
      NOTES: notes,
      START: start,
      LC_ALL: 'C.UTF-8',
      XDG_CONFIG_HOME: folder,
      XDG_DATA_HOME: folder,
    },
    stdio: 'ignore',
  });
  if (error !== undefined) throw error;
  const byLine: string[][] = lines.map(() => []);
  let at = -1;
  for (const record of readFileSync(notes, 'utf8').split(`${END}\u0001`)) {
    const words = record.endsWith('\u0001') ? record.slice(0, -1) : record;
    const mark = /^#(\d+)$/.exec(words);
    if (mark) at = Number(mark[1]);
    else if (words !== '') byLine[at]?.push(words);
  }
  if (at !== lines.length - 1) throw new Error(`${shell} stopped at line ${at} of ${lines.length}: ${lines[at]}`);
  return byLine;
}
