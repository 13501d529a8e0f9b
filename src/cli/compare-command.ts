// How `switchboard compare` is written on a command line.
import { type Command, Option } from 'commander';
import type { CompareFlags } from './compare/compare.ts';
import { collect, seconds } from './run-command.ts';

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
      finish(await (await import('./compare/compare.ts')).compare([...words, ...after], flags)),
    );
}
