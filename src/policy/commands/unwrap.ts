// The commands that a command starts: the argv after `sudo`, the script of `sh -c`, what `find` executes. For deny and ask rules, and to
// report code that cannot be read.
import { programName } from './command-pattern.ts';
import { type Interpreter, interpreterOf, WRAPPERS, type Wrapper } from './wrappers.ts';

export type Inner =
  | { readonly kind: 'words'; readonly argv: readonly string[] }
  | { readonly kind: 'script'; readonly text: string }
  /** Code in another language, or from standard input: it cannot be read. */
  | { readonly kind: 'code'; readonly reason: string };

export function unwrap(argv: readonly string[]): Inner[] {
  const program = programName(argv[0] ?? '');
  const wrapper = WRAPPERS.get(program);
  if (wrapper) return fromWrapper(argv, wrapper, program);
  const interpreter = interpreterOf(program) ?? interpreterOf(argv[0] ?? '');
  if (interpreter) return fromInterpreter(argv, interpreter, program);
  if (program === 'find' || program === 'gfind') return fromFind(argv);
  if (program === 'git') return fromGit(argv);
  return [];
}

function fromWrapper(argv: readonly string[], { values = [], operands = 0, takes, subcommands }: Wrapper, program: string): Inner[] {
  const inner: Inner[] = [];
  let at = 1;
  if (subcommands) {
    at = argv.findIndex((word, index) => index > 0 && subcommands.includes(word)) + 1;
    if (at === 0) return [];
  }
  let left = operands;
  for (; at < argv.length; at++) {
    const word = argv[at] ?? '';
    if (word === '--') {
      at++;
      break;
    }
    // Options whose value is itself a command line.
    if (/^(-S|-c|--command|--split-string|-ex)$/.test(word) && argv[at + 1] !== undefined && program !== 'ssh' && program !== 'ionice')
      inner.push({ kind: 'script', text: argv[at + 1] ?? '' });
    if (program === 'env' && /^(-S|--split-string=)./.test(word))
      inner.push({ kind: 'script', text: word.replace(/^(-S|--split-string=)/, '') });
    if (word.startsWith('-')) {
      if (values.includes(word)) at++;
    } else if (/^\w+=/.test(word) && (program === 'env' || program === 'sudo' || program === 'doas')) continue;
    else if (left > 0) left--;
    else break;
  }
  const rest = argv.slice(at);
  if (rest.length === 0) return inner;
  if (takes === 'words') return [...inner, { kind: 'words', argv: rest }];
  return [...inner, { kind: 'script', text: rest.join(' ') }, { kind: 'code', reason: `a command line put together for ${program}` }];
}

function fromInterpreter(argv: readonly string[], { code, isCodeOperand, isShell, readsStdin }: Interpreter, program: string): Inner[] {
  const reason = `code given to ${program}`;
  const all = argv.slice(1);
  // What follows the program that npx starts is for that program.
  const isRunner = /^(npx|bunx|pnpx|uvx|pipx)$/.test(program);
  const first = isRunner ? all.findIndex((word) => !word.startsWith('-')) : -1;
  const words = first === -1 ? all : all.slice(0, first + 1);
  const at = words.findIndex((word) => isCodeOption(word, code));
  if (at !== -1) {
    const script = words.slice(at + 1).find((word) => !/^[-+]/.test(word));
    return isShell && script !== undefined
      ? [
          { kind: 'script', text: script },
          { kind: 'code', reason },
        ]
      : [{ kind: 'code', reason }];
  }
  const operand = words.find((word) => !word.startsWith('-'));
  if (isCodeOperand && operand !== undefined && !words.some((word) => /^(-f|--file)/.test(word))) return [{ kind: 'code', reason }];
  if (readsStdin && operand === undefined && !words.some((word) => /^(--?version|-[vV]+|--?help|-h)$/.test(word)))
    return [{ kind: 'code', reason: `${program} reads its program from standard input` }];
  if (/^(npx|bunx|pnpx|uvx)$/.test(program) && operand !== undefined) return [{ kind: 'words', argv: all.slice(all.indexOf(operand)) }];
  return [];
}

function isCodeOption(word: string, code: readonly string[]): boolean {
  return code.some((option) => {
    if (word === option || (option.startsWith('--') && word.startsWith(`${option}=`))) return true;
    if (option === '+') return word.startsWith('+');
    // `-lc`, `-pe`, `-ne'print'`: a single letter also counts inside a cluster.
    return /^-\w$/.test(option) && /^-\w/.test(word) && !word.startsWith('--') && word.slice(1).includes(option.slice(1));
  });
}

function fromFind(argv: readonly string[]): Inner[] {
  return argv.flatMap((word, index): Inner[] => {
    if (!/^-(exec|ok)(dir)?$/.test(word)) return [];
    const rest = argv.slice(index + 1);
    const end = rest.findIndex((next) => next === ';' || next === '+');
    return [{ kind: 'words', argv: end === -1 ? rest : rest.slice(0, end) }];
  });
}

function fromGit(argv: readonly string[]): Inner[] {
  const inner: Inner[] = [];
  const run = argv.indexOf('run');
  if (argv.includes('bisect') && run !== -1) inner.push({ kind: 'words', argv: argv.slice(run + 1) });
  const each = argv.indexOf('foreach');
  if (argv.includes('submodule') && each !== -1) inner.push({ kind: 'script', text: argv.slice(each + 1).join(' ') });
  if (inner.length > 0) inner.push({ kind: 'code', reason: 'a command that git is to run' });
  for (const [index, word] of argv.entries()) {
    // `-c alias.x='!sudo …'`: what follows the exclamation mark is a shell line.
    const alias = /^(?:-c)?[\w.-]+=!(.+)$/s.exec(word)?.[1];
    if (alias !== undefined) inner.push({ kind: 'script', text: alias });
    if (/^(-x|--exec)$/.test(word) && argv.includes('rebase')) inner.push({ kind: 'script', text: argv[index + 1] ?? '' });
  }
  return inner;
}
