// How `switchboard run` is written on a command line.
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CompareFlags } from '../compare/compare.ts';
import type { RunFlags } from './run.ts';

/** For an option that may be given several times. */
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

export function seconds(value: string): number {
  const given = Number(value);
  if (Number.isFinite(given) && given > 0) return given;
  throw new InvalidArgumentError('expected a number of seconds.');
}

/** `after` are the words behind `--`: a prompt may begin with a dash. */
export function addRunCommand(program: Command, after: readonly string[], finish: (code: number) => void): void {
  program
    .command('run')
    .description('one prompt turn from a terminal or a script; the prompt is the words, else what is piped in')
    .argument('[prompt...]')
    .option('-a, --agent <name>', 'the agent; else the first listed, whatever default_agent and routes say')
    .addOption(
      new Option('-o, --output <kind>', 'text: the turn as a page; simple: the assistant alone; jsonl: every frame both ways')
        .choices(['text', 'simple', 'jsonl', 'json'])
        .default('text'),
    )
    .option('--write', 'the agent may write files, inside the working directory')
    .option('--yolo', 'the same, and it may read files anywhere')
    .option('--resume <id>', 'go on with an earlier session')
    .option('--save-session <file>', "write the session's id there")
    .option('--list-commands', 'show the slash commands of the agent, and send no prompt; exit code 3 if it tells of none')
    .option('--image <file>', 'send an image along; may be given several times', collect)
    .option('--audio <file>', 'send sound along; may be given several times', collect)
    .option('--file <file>', 'send a file along; may be given several times', collect)
    .option('--mode <id>', 'set the mode of the session first')
    .option('--config <file|key=value>', 'the configuration to use; or an option of the session, several times', collect)
    .option('--policy <policy>', 'a policy besides those of the configuration: a file, or a preset')
    .addOption(
      new Option('--policy-mode <mode>', 'observe: block nothing, and write down what would have been').choices(['enforce', 'observe']),
    )
    .option('--timeout <seconds>', 'give up after so long; exit code 3', seconds)
    .option('-i, --interactive', 'ask for further prompts until Ctrl-D')
    .addHelpText(
      'after',
      '\nExamples:\n  switchboard run "What does this project do?"\n  git diff | switchboard run -a claude -o simple\n  switchboard run --write -- --fix the failing test',
    )
    .action(async (words: string[], flags: RunFlags) => finish(await (await import('./run.ts')).run([...words, ...after], flags)));
}

/** `after` are the words behind `--`: a prompt may begin with a dash. */
export function addCompareCommand(program: Command, after: readonly string[], finish: (code: number) => void): void {
  program
    .command('compare')
    .description('the same prompt to several agents at once; their answers, time, usage and changes side by side')
    .argument('[prompt...]', 'else what is piped in')
    .option('-a, --agent <name>', 'one of the agents, several times; else all that are configured', collect)
    .option('--write', 'they may change files, each in a git worktree of its own, or in a copy where there is no repository')
    .option('--into <folder>', 'where these are made; else where temporary files are')
    .option('--discard', 'remove them all in the end; else those with changes are kept')
    .option('--config <file>', 'the configuration to use, instead of searching for one')
    .option('--policy <policy>', 'a policy besides those of the configuration: a file, or a preset')
    .addOption(
      new Option('--policy-mode <mode>', 'observe: block nothing, and write down what would have been').choices(['enforce', 'observe']),
    )
    .option('--timeout <seconds>', 'cancel those that take longer; exit code 3', seconds)
    .option('--json', 'for programs')
    .addHelpText(
      'after',
      '\nExamples:\n  switchboard compare "Why does the build fail?" -a claude -a gemini\n  switchboard compare --write "Make the failing test pass" --json',
    )
    .action(async (words: string[], flags: CompareFlags) =>
      finish(await (await import('../compare/compare.ts')).compare([...words, ...after], flags)),
    );
}
