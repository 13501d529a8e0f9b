// Finds dangerous options among the words that an allow rule leaves open: at any position, abbreviated, clustered or with a value attached.
import { BUILD_TOOL_OPTIONS } from './build-tool-options.ts';
import { programName } from './command-pattern.ts';
import { SYSTEM_TOOL_OPTIONS } from './system-tool-options.ts';

export type DangerousOption = {
  readonly programs: string;
  /** Only after one of these subcommands; if the subcommand is unknown, after any. */
  readonly subcommands?: string;
  /** `--long`, `-s` (also with its value attached) and `-single-dash-long`, as the program spells them. */
  readonly options: string;
  /** Whole words that are equally dangerous: `make SHELL=…`, `git … ext::…`. */
  readonly words?: RegExp;
  /** Options that only look like an abbreviation of one above. */
  readonly except?: string;
  /** The program writes to operands beyond this number. */
  readonly maxOperands?: number;
  /** What the first operand must look like, if it is code. */
  readonly firstOperand?: RegExp;
  /** A short option may stand anywhere in a cluster: `sort -uo out`. */
  readonly clusters?: true;
  readonly why: string;
  readonly source: string;
};

export const DANGEROUS_OPTIONS: readonly DangerousOption[] = [...SYSTEM_TOOL_OPTIONS, ...BUILD_TOOL_OPTIONS];

type Entry = Pick<DangerousOption, 'words' | 'maxOperands' | 'firstOperand' | 'clusters' | 'why'> & {
  readonly long: readonly string[];
  readonly single: readonly string[];
  readonly short: readonly string[];
  readonly except: readonly string[];
  readonly subcommands: readonly string[] | undefined;
};

const BY_PROGRAM = new Map<string, Entry[]>();
for (const { programs, options, except, subcommands, ...rest } of DANGEROUS_OPTIONS) {
  const entry: Entry = {
    ...rest,
    long: words(options).filter((option) => option.startsWith('--')),
    single: words(options).filter((option) => !option.startsWith('--') && option.length > 2),
    short: words(options).filter((option) => option.length === 2),
    except: words(except ?? ''),
    subcommands: subcommands === undefined ? undefined : words(subcommands),
  };
  for (const program of words(programs)) BY_PROGRAM.set(program, [...(BY_PROGRAM.get(program) ?? []), entry]);
}

function words(text: string): string[] {
  return text.split(' ').filter((word) => word !== '');
}

/** Why an open allow does not cover this command; undefined if nothing speaks against it. `isFree` tells which words the rule left open. */
export function dangerousOptionReason(argv: readonly string[], isFree: (index: number) => boolean): string | undefined {
  for (const program of programsIn(argv)) {
    for (const entry of BY_PROGRAM.get(program) ?? []) {
      if (isHit(entry, argv, isFree)) return `${program}: ${entry.why}`;
    }
  }
  return undefined;
}

// `npx vitest --config x` and `python3 -m pytest -p x` pass their options on, so the second program's options count too.
function programsIn(argv: readonly string[]): string[] {
  const name = programName(argv[0] ?? '');
  const first = name.replace(/^python[\d.]+$/, 'python3');
  if (!/^(npx|bunx|pnpx|uvx|pipx|python3?|npm|pnpm|yarn|bun|uv|poetry)$/.test(first)) return [first];
  return [
    first,
    ...argv
      .slice(1)
      .map(programName)
      .filter((word) => BY_PROGRAM.has(word) && word !== first),
  ];
}

function isHit(entry: Entry, argv: readonly string[], isFree: (index: number) => boolean): boolean {
  const subcommand = argv[1] ?? '';
  if (entry.subcommands !== undefined && !subcommand.startsWith('-') && !entry.subcommands.includes(subcommand)) return false;
  let operands = 0;
  for (let index = 1; index < argv.length; index++) {
    const word = argv[index] ?? '';
    if (!isFree(index)) continue;
    if (entry.words?.test(word)) return true;
    if (!word.startsWith('-') || word === '-') {
      operands++;
      if (operands > (entry.maxOperands ?? Number.POSITIVE_INFINITY)) return true;
      if (operands === 1 && entry.firstOperand !== undefined && !entry.firstOperand.test(word)) return true;
    } else if (isDangerous(entry, word)) return true;
  }
  return false;
}

function isDangerous({ long, single, short, except, clusters }: Entry, word: string): boolean {
  const equals = word.indexOf('=');
  const name = equals === -1 ? word : word.slice(0, equals);
  if (name === '--' || except.includes(name)) return false;
  // GNU and git accept any unambiguous prefix; `--a.b` sets a part of `--a`; some parsers accept one dash for two, or two for one.
  if (name.startsWith('--'))
    return long.some((option) => option.startsWith(name) || name.startsWith(`${option}.`)) || single.includes(name.slice(1));
  if (single.includes(name) || long.includes(`-${name}`)) return true;
  return short.some((option) => {
    if (word.startsWith(option)) return true;
    return clusters === true && /^-\w+$/.test(word.slice(0, word.indexOf(option.slice(1)) + 1));
  });
}
