// `switchboard audit`: the log of decisions, read and verified.
import { type Command, InvalidArgumentError } from 'commander';
import type { VerifyFlags } from './audit.ts';
import type { TailFlags } from './tail.ts';

/** Adds the commands; what they need is loaded when one of them runs. */
export function addAuditCommands(program: Command, finish: (code: number) => void): void {
  const audit = program
    .command('audit')
    .description('the log of decisions: read it, verify that nobody has changed it')
    .addHelpText('after', example('switchboard audit verify'));
  audit
    .command('verify')
    .description('name every line that was edited, moved or taken away; exit code 8 if there is any')
    .option('--file <file>', 'a log other than that of this machine')
    .option('--json', 'for programs')
    .addHelpText('after', example('switchboard audit verify --json'))
    .action(async (flags: VerifyFlags) => finish(await (await import('./audit.ts')).auditVerify(flags)));
  audit
    .command('tail')
    .description('the newest decisions, the last one last')
    .option('-n, --lines <count>', 'how many', wholeNumber, 10)
    .option('-f, --follow', 'go on with each decision as it is made, until interrupted')
    .option('--file <file>', 'a log other than that of this machine')
    .option('--json', 'for programs; with --follow one JSON object a line, as in the file')
    .addHelpText('after', example('switchboard audit tail -n 20 --follow'))
    .action(async (flags: TailFlags) => finish(await (await import('./tail.ts')).auditTail(flags)));
}

function wholeNumber(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('expected a whole number.');
  return Number(text);
}

const example = (line: string): string => `\nExample:\n  ${line}`;
