// The commands that read what was written down: words and options; the work is loaded when one of them is run.
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { TailFlags, VerifyFlags } from './audit.ts';
import type { LogsFlags } from './logs.ts';
import type { ReplayFlags } from './replay.ts';
import type { ExportFlags, ListFlags } from './sessions.ts';

const example = (line: string): string => `\nExample:\n  ${line}`;

export function addRecordCommands(program: Command, finish: (code: number) => void): void {
  program
    .command('logs')
    .description('the frame log: what passed between the editor and the agents')
    .argument('[filter...]', 'agent:NAME method:GLOB dir:in|out kind:request session:ID err:true ms>500 bytes>1000; all must hold')
    .option('-f, --follow', 'go on as it grows')
    .option('-n, --lines <count>', 'how many records to show', '200')
    .option('--last-failure', 'the last frames of the agent that went down or failed in a turn last')
    .option('--json', 'for programs; with --follow a record a line')
    .addHelpText('after', example("switchboard logs agent:codex 'method:session/*' 'ms>500'"))
    .action(async (terms: string[], flags: LogsFlags) => finish(await (await import('./logs.ts')).logs(terms, flags)));
  addSessionsCommands(program, finish);
  program
    .command('replay')
    .description('a recording played back as an ACP agent on stdio: needs no account, key or network')
    .argument('<file>', 'what switchboard acp --record has written')
    .option('--speed <factor>', 'so many times as fast as it was')
    .option('--instant', 'without waiting')
    .option('--strict', 'report the first difference from the recording, and end with exit code 8')
    .option('--run <number>', 'which run of the agent, if the recording has several')
    .addHelpText('after', example('switchboard replay bug.jsonl --instant'))
    .action(async (file: string, flags: ReplayFlags) => finish(await (await import('./replay.ts')).replay(file, flags)));
  program
    .command('redact')
    .description('a recording or log made elsewhere, without the secrets that can be told, on stdout')
    .argument('<file>', 'the file to clean')
    .addHelpText('after', example('switchboard redact trace.jsonl > clean.jsonl'))
    .action(async (file: string) => finish(await (await import('./replay.ts')).redactFile(file)));
}

function addSessionsCommands(program: Command, finish: (code: number) => void): void {
  const sessions = program
    .command('sessions')
    .description('the sessions of all agents, and what was said in them')
    .addHelpText('after', example('switchboard sessions list --since 3d'));
  const load = () => import('./sessions.ts');
  chosen(sessions.command('list').description('sessions, the one used last first'))
    .addHelpText('after', example('switchboard sessions list --agent claude --cwd .'))
    .action(async (flags: ListFlags) => finish(await (await load()).listSessions(flags)));
  sessions
    .command('show')
    .description('what was said in a session; exit code 4 if there is none of this id')
    .argument('<id>', 'the session, or the beginning of its id')
    .option('--json', 'for programs')
    .addHelpText('after', example('switchboard sessions show 0198c2'))
    .action(async (id: string, flags: { json?: true }) => finish(await (await load()).showSession(id, flags)));
  sessions
    .command('export')
    .description('the same as a document, on stdout')
    .argument('<id>', 'the session, or the beginning of its id')
    .addOption(new Option('--format <format>', 'of the document').choices(['md', 'json', 'html']).default('md'))
    .addHelpText('after', example('switchboard sessions export 0198c2 --format html > session.html'))
    .action(async (id: string, flags: ExportFlags) => finish(await (await load()).exportSession(id, flags)));
  sessions
    .command('delete')
    .description('forget a session and remove its transcript; what its agent keeps is not touched')
    .argument('<id>', 'the session')
    .addHelpText('after', example('switchboard sessions delete 0198c2aa-77d1'))
    .action(async (id: string) => finish(await (await load()).deleteSession(id)));
  chosen(sessions.command('search').description('sessions in which all of the words were said'))
    .argument('<words...>', 'what to look for, in any case')
    .addHelpText('after', example('switchboard sessions search flaky test'))
    .action(async (words: string[], flags: ListFlags) => finish(await (await load()).searchSessions(words, flags)));
}

function chosen(command: Command): Command {
  return command
    .option('--agent <name>', 'only of this agent')
    .option('--cwd <directory>', 'only in this directory and below')
    .option('--since <time>', 'only used since then: 30m, 12h, 3d, 2w or a date')
    .option('--limit <count>', 'how many at most')
    .option('--json', 'for programs');
}

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
    .action(async (flags: TailFlags) => finish(await (await import('./audit.ts')).auditTail(flags)));
}

function wholeNumber(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('expected a whole number.');
  return Number(text);
}
