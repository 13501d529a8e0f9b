// The command-line options of `switchboard run` and `switchboard compare`.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { busOption } from '../bus/commands.ts';
import type { CompareFlags } from '../compare/compare.ts';
import type { RunFlags } from './run.ts';

/** Collects the values of a repeatable option. */
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

export function seconds(value: string): number {
  const given = Number(value);
  if (Number.isFinite(given) && given > 0) return given;
  throw new InvalidArgumentError('expected a number of seconds.');
}

const approveOption = () =>
  new Option(
    '--approve <what>',
    'answer permission requests that nobody can be asked about: all, reads (in the working directory) or none',
  ).choices(['all', 'reads', 'none']);

/** `after` holds the words after `--`: a prompt may begin with a dash. */
export function addRunCommand(program: Command, after: readonly string[], finish: (code: number) => void): void {
  program
    .command('run')
    .description('Run one prompt turn from a terminal or a script; the prompt comes from the arguments or from stdin')
    .argument('[prompt...]')
    .option('-a, --agent <name>', 'the agent (default: by routes, then default_agent, then the first in the configuration)')
    .addOption(
      new Option('-o, --output <kind>', 'text: the whole turn; simple: only the answer; jsonl: every frame in both directions')
        .choices(['text', 'simple', 'jsonl', 'json'])
        .default('text'),
    )
    .addOption(new Option('-j, --jsonl', 'the same as -o jsonl').conflicts('output'))
    .option('--raw', 'with -o jsonl: do not hide known secrets')
    .option('--write', 'let the agent write files in the working directory')
    .addOption(approveOption())
    .option('--yolo', 'like --write and --approve all within the working directory, and let the agent read any file')
    .option('--resume <id>', 'continue an earlier session; "latest": the newest one in this directory')
    .option('--save-session <file>', 'write the session id to this file')
    .option('--list-commands', 'list the slash commands of the agent instead of sending a prompt; exit code 3 if it announces none')
    .option('--image <file>', 'attach an image; repeatable', collect)
    .option('--audio <file>', 'attach an audio file; repeatable', collect)
    .option('--file <file>', 'attach a file; repeatable', collect)
    .option('--mode <id>', 'set the session mode before the prompt')
    .option('--option <key=value>', 'set a session option before the prompt; repeatable', collect)
    .option('--config <file>', 'use this configuration file', collect)
    .addOption(busOption())
    .option('--policy <policy>', 'add a policy: a file or a preset')
    .addOption(new Option('--policy-mode <mode>', 'observe: block nothing, but log what would be blocked').choices(['enforce', 'observe']))
    .option('--timeout <seconds>', 'give up after this time (exit code 3)', seconds)
    .option('-i, --interactive', 'keep asking for prompts until Ctrl-D')
    .option('--verbose', 'log on stderr which agent is used, why, and what happens')
    .addHelpText(
      'after',
      '\nExamples:\n  switchboard run "What does this project do?"\n  git diff | switchboard run -a claude -o simple\n  switchboard run --write -- --fix the failing test',
    )
    .action(async (words: string[], flags: RunFlags) =>
      finish(await (await import('./run.ts')).run([...words, ...after], flags.jsonl ? { ...flags, output: 'jsonl' } : flags)),
    );
}

/** `after` holds the words after `--`: a prompt may begin with a dash. */
export function addCompareCommand(program: Command, after: readonly string[], finish: (code: number) => void): void {
  program
    .command('compare')
    .description('Send one prompt to several agents and compare their answers, time, usage and changes')
    .argument('[prompt...]', 'the prompt (default: read from stdin)')
    .option('-a, --agent <name>', 'an agent to compare; repeatable (default: all configured agents)', collect)
    .option('--write', 'let the agents change files, each in its own git worktree, or in a copy outside a repository')
    .addOption(approveOption())
    .option('--into <folder>', 'where to create the worktrees or copies (default: the temporary directory)')
    .option('--discard', 'remove all worktrees and copies at the end (default: keep those with changes)')
    .option('--config <file>', 'use this configuration file')
    .option('--policy <policy>', 'add a policy: a file or a preset')
    .addOption(new Option('--policy-mode <mode>', 'observe: block nothing, but log what would be blocked').choices(['enforce', 'observe']))
    .option('--timeout <seconds>', 'cancel agents that take longer (exit code 3)', seconds)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  switchboard compare "Why does the build fail?" -a claude -a gemini\n  switchboard compare --write "Make the failing test pass" --json',
    )
    .action(async (words: string[], flags: CompareFlags) =>
      finish(await (await import('../compare/compare.ts')).compare([...words, ...after], flags)),
    );
}
