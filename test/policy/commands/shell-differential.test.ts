// Compares the analysis with Bash itself: what Bash rejects must be opaque, and every literal word must reach the program unchanged.
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { analyseLine } from '../../../src/policy/commands/analyse.ts';
import fc from '../../generated.ts';
import { corpus, PLACE } from '../support.ts';

const BASH = spawnSync('sh', ['-c', 'command -v bash'], { encoding: 'utf8' }).stdout?.trim() ?? '';
const run = promisify(execFile);
/** POLICY_FUZZ=50000 for a long run. */
const CASES = Number(process.env.POLICY_FUZZ ?? 2000);
const AT_ONCE = 4;

// Words and joints that make Bash's grammar interesting. No program of these names exists, and none has a slash.
const FRAGMENTS = [
  ...['zza', 'zzb', 'zz c', '-x', '--y=1', 'z.z', 'z-z', '1', '_'],
  ...["'q r'", '"d e"', "'", '"', '\\', '\\ ', "\\'", '\\"', '""', "''", '"\\""', "'\\'", '\\\n'],
  ...[' ', ' ', ' ', '  ', '\t', '\n', ';', '&&', '||', '|', '|&', '&', ';;', '!', '#', ' #', '(', ')', '{', '}', '[', ']', '[[', ']]'],
  ...[
    '$',
    '$x',
    '${',
    '$(',
    '`',
    '$((',
    '))',
    '<',
    '>',
    '<<',
    '<<<',
    '>&',
    '2>&1',
    '>/dev/null',
    '&>/dev/null',
    '~',
    '*',
    '?',
    '=',
    'A=b ',
    '{a,b}',
  ],
  ...[
    'if',
    'then',
    'fi',
    'for',
    'in',
    'do',
    'done',
    'while',
    'case',
    'esac',
    'function',
    'time',
    'coproc',
    'é',
    '\r',
    '%',
    '^',
    ',',
    ':',
    '@',
    '+',
    '-',
  ],
];

const lines = (): string[] =>
  fc.sample(
    fc.array(fc.constantFrom(...FRAGMENTS), { minLength: 1, maxLength: 9 }).map((fragments) => fragments.join('')),
    { numRuns: CASES, seed: 20261116 },
  );

async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
    }),
  );
}

test.skipIf(process.platform === 'win32')(
  `what bash -n rejects is opaque (${CASES} random lines and the corpus)`,
  async () => {
    const all = [...lines(), ...corpus('hostile.txt')];
    // The other direction, which needs far fewer processes: Bash must accept every line that is not opaque.
    const clean = all.filter((line) => analyseLine(line, '/work/project', PLACE, 'raw').opaque.length === 0);
    await each(clean, async (line) => {
      const isAccepted = await run(BASH, ['--norc', '-n', '-c', '--', line]).then(
        () => true,
        () => false,
      );
      expect(isAccepted, JSON.stringify(line)).toBe(true);
    });
    process.stdout.write(`policy differential: ${clean.length} of ${all.length} lines are not opaque, and bash -n accepts each\n`);
    expect(clean.length).toBeGreaterThan(50);
  },
  300_000,
);

test.skipIf(process.platform === 'win32')(
  'what we call literal is what Bash hands to programs',
  async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'switchboard-shell-'));
    // Programs are not found on an empty PATH; the handler then prints the words it was given, each ended by \x01 and each command by \x02.
    const handler = 'command_not_found_handle() { local words; printf -v words "%s\\001" "$@"; printf "%s\\002" "$words" >&9; }\n';
    const plain = fc.constantFrom(
      ...FRAGMENTS.filter(
        (fragment) =>
          !/[$`<>()*?{}~]|if|then|fi|for|in|do|done|while|case|esac|function|time|coproc|\[|\]/.test(fragment) ||
          fragment.includes('/dev/null') ||
          fragment === '2>&1',
      ),
    );
    const candidates = fc.sample(
      fc.array(plain, { minLength: 1, maxLength: 9 }).map((fragments) => `zz0 ${fragments.join('')}`),
      { numRuns: Math.ceil(CASES / 10), seed: 7 },
    );
    let compared = 0;
    try {
      await each(candidates, async (line) => {
        const { commands, opaque } = analyseLine(line, folder, PLACE, 'raw');
        if (opaque.length > 0) return;
        const { stdout } = await run(BASH, ['--norc', '-c', `exec 9>&1 >/dev/null 2>&1\n${handler}${line}\ntrue`], {
          cwd: folder,
          env: { PATH: '/nonexistent' },
        });
        const seen = new Set(stdout.split('\u0002').filter((part) => part !== ''));
        // Which commands run depends on what fails, and pipelines run in any order; but the analysis must list every command that ran.
        const named = new Set(commands.map(({ argv }) => `${argv.join('\u0001')}\u0001`));
        for (const ran of seen) expect(named, JSON.stringify(line)).toContain(ran);
        compared++;
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
    process.stdout.write(`policy differential: ${compared} literal lines run, every argv as named\n`);
    expect(compared).toBeGreaterThan(CASES / 200);
  },
  120_000,
);
