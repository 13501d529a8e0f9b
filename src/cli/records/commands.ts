// The commands that read logs, sessions and recordings. Each command's code is loaded when the command runs.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { busOption } from '../bus/commands.ts';
import type { QueueFlags } from '../running-daemon/prompt-queue.ts';
import type { TailFlags, VerifyFlags } from './audit.ts';
import type { CollectFlags } from './audit-collect.ts';
import type { ChangesFlags } from './changes.ts';
import type { LogsFlags } from './logs.ts';
import type { ReplayFlags } from './replay.ts';
import type { ExportFlags, ListFlags } from './sessions.ts';

const example = (line: string): string => `\nExample:\n  ${line}`;

export function addRecordCommands(program: Command, finish: (code: number) => void): void {
  program
    .command('logs')
    .description('Show the frame log: the frames between the editor and the agents')
    .argument('[filter...]', 'agent:NAME method:GLOB dir:in|out kind:request session:ID err:true ms>500 bytes>1000; all must match')
    .option('-f, --follow', 'keep printing new records')
    .option('-n, --lines <count>', 'the number of records to show', '200')
    .option('--last-failure', 'show the last frames of the most recent agent failure or failed turn')
    .option('--json', 'print JSON; with --follow, one record per line')
    .addHelpText('after', example("switchboard logs agent:codex 'method:session/*' 'ms>500'"))
    .action(async (terms: string[], flags: LogsFlags) => finish(await (await import('./logs.ts')).logs(terms, flags)));
  addSessionsCommands(program, finish);
  addChangesCommands(program, finish);
  program
    .command('replay')
    .description('Play back a recording as an ACP agent on stdio; needs no account, API key or network')
    .argument('<file>', 'a recording from switchboard acp --record')
    .option('--speed <factor>', 'play back this many times faster')
    .option('--instant', 'play back without delays')
    .option('--strict', 'report the first difference from the recording and exit with code 8')
    .option('--run <number>', 'which agent run to play, if the recording has several')
    .addHelpText('after', example('switchboard replay bug.jsonl --instant'))
    .action(async (file: string, flags: ReplayFlags) => finish(await (await import('./replay.ts')).replay(file, flags)));
  program
    .command('redact')
    .description('Print a recording or log with recognizable secrets removed')
    .argument('<file>', 'the file to redact')
    .addHelpText('after', example('switchboard redact trace.jsonl > clean.jsonl'))
    .action(async (file: string) => finish(await (await import('./replay.ts')).redactFile(file)));
}

function addSessionsCommands(program: Command, finish: (code: number) => void): void {
  const sessions = program
    .command('sessions')
    .description('List, show, attach to, export, search and delete the sessions of all agents')
    .addHelpText('after', example('switchboard sessions list --since 3d'));
  const load = () => import('./sessions.ts');
  chosen(sessions.command('list').description('List sessions, most recently used first'))
    .addHelpText('after', example('switchboard sessions list --agent claude --cwd .'))
    .action(async (flags: ListFlags) => finish(await (await load()).listSessions(flags)));
  sessions
    .command('show')
    .description('Show the transcript of a session; exit code 4 if there is no such session')
    .argument('<id>', 'the session id, its beginning, or latest: the last one used in this directory, else anywhere')
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard sessions show latest'))
    .action(async (id: string, flags: { json?: true }) => finish(await (await load()).showSession(id, flags)));
  sessions
    .command('attach')
    .description('Attach to a session of your daemon: its history, what follows, permission requests, and prompts that you type')
    .argument('<id>', 'the session id, its beginning, or latest: the last one used in this directory, else anywhere')
    .addHelpText('after', example('switchboard sessions attach latest'))
    .action(async (id: string) => finish(await (await import('../running-daemon/attach-session.ts')).attachSession(id)));
  sessions
    .command('queue')
    .description('List, edit and remove the prompts that wait for the end of a turn in your daemon')
    .argument('<id>', 'the session id, its beginning, or latest: the last one used in this directory, else anywhere')
    .argument('[text...]', 'the new text, with --edit')
    .option('--edit <number>', 'give this prompt the text instead of its own; attached files stay')
    .option('--remove <number>', 'remove this prompt; its client gets the stop reason cancelled')
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard sessions queue latest --edit 12 run the tests first'))
    .action(async (id: string, words: string[], flags: QueueFlags) =>
      finish(await (await import('../running-daemon/prompt-queue.ts')).sessionQueue(id, words, flags)),
    );
  sessions
    .command('export')
    .description('Print the transcript of a session as a document')
    .argument('<id>', 'the session id, its beginning, or latest: the last one used in this directory, else anywhere')
    .addOption(new Option('--format <format>', 'the document format').choices(['md', 'json', 'html']).default('md'))
    .addHelpText('after', example('switchboard sessions export 0198c2 --format html > session.html'))
    .action(async (id: string, flags: ExportFlags) => finish(await (await load()).exportSession(id, flags)));
  sessions
    .command('delete')
    .description('Forget a session and delete its transcript; the data of its agent stays')
    .argument('<id>', 'the session id')
    .addHelpText('after', example('switchboard sessions delete 0198c2aa-77d1'))
    .action(async (id: string) => finish(await (await load()).deleteSession(id)));
  chosen(sessions.command('search').description('Find sessions whose transcript contains all the words'))
    .argument('<words...>', 'the words to find; case is ignored')
    .addHelpText('after', example('switchboard sessions search flaky test'))
    .action(async (words: string[], flags: ListFlags) => finish(await (await load()).searchSessions(words, flags)));
}

function addChangesCommands(program: Command, finish: (code: number) => void): void {
  const changes = program
    .command('changes')
    .description('List, show, apply and drop the changes that wait at the sandbox level "review"')
    .addHelpText('after', example('switchboard changes show 0198c2'));
  const load = () => import('./changes.ts');
  const session = 'the session id, or its beginning';
  const files = 'only changes of these files, and of files in these directories';
  changes
    .command('list')
    .description('List the sessions whose changes wait, or the changes of one session')
    .argument('[session]', session)
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard changes list'))
    .action(async (id: string | undefined, flags: ChangesFlags) => finish(await (await load()).changesList(id, flags)));
  changes
    .command('show')
    .description('Show the changes of a session as diffs')
    .argument('<session>', session)
    .argument('[files...]', files)
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard changes show 0198c2 src'))
    .action(async (id: string, named: string[], flags: ChangesFlags) => finish(await (await load()).changesShow(id, named, flags)));
  changes
    .command('apply')
    .description('Apply changes to the project; exit code 5 if the policy denies one, 1 if one conflicts')
    .argument('<session>', session)
    .argument('[files...]', files)
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard changes apply 0198c2 src/index.ts'))
    .action(async (id: string, named: string[], flags: ChangesFlags) => finish(await (await load()).changesApply(id, named, flags)));
  changes
    .command('drop')
    .description('Drop changes: the project stays as it is')
    .argument('<session>', session)
    .argument('[files...]', files)
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard changes drop 0198c2'))
    .action(async (id: string, named: string[], flags: ChangesFlags) => finish(await (await load()).changesDrop(id, named, flags)));
}

function chosen(command: Command): Command {
  return command
    .option('--agent <name>', 'only sessions of this agent')
    .option('--cwd <directory>', 'only sessions in this directory or below')
    .option('--since <time>', 'only sessions used since: 30m, 12h, 3d, 2w or a date')
    .option('--limit <count>', 'the maximum number of sessions')
    .option('--json', 'print JSON');
}

export function addAuditCommands(program: Command, configOption: (command: Command) => Command, finish: (code: number) => void): void {
  const audit = program
    .command('audit')
    .description('Read and verify the audit log of policy decisions')
    .addHelpText('after', example('switchboard audit verify'));
  audit
    .command('verify')
    .description('Report every line that was edited, moved or removed; exit code 8 if there is one')
    .option('--file <file>', 'read this log (default: the log of this machine)')
    .option('--json', 'print JSON')
    .addHelpText('after', example('switchboard audit verify --json'))
    .action(async (flags: VerifyFlags) => finish(await (await import('./audit.ts')).auditVerify(flags)));
  audit
    .command('tail')
    .description('Show the newest decisions, newest last')
    .option('-n, --lines <count>', 'the number of decisions', wholeNumber, 10)
    .option('-f, --follow', 'keep printing new decisions until interrupted')
    .option('--file <file>', 'read this log (default: the log of this machine)')
    .option('--json', 'print JSON; with --follow, one object per line')
    .addHelpText('after', example('switchboard audit tail -n 20 --follow'))
    .action(async (flags: TailFlags) => finish(await (await import('./audit.ts')).auditTail(flags)));
  configOption(audit.command('collect'))
    .addOption(busOption())
    .description('Take the audit logs of all hosts from the bus, and verify them; exit code 8 if lines are missing, moved or changed')
    .option('--dir <dir>', 'the directory for the logs (default: collected-audit in the state directory)')
    .option('-f, --follow', 'keep collecting until interrupted')
    .option('--json', 'print JSON; with --follow, each new line as it is')
    .addHelpText('after', example('switchboard audit collect --bus control/bus.json --dir /var/log/switchboard --follow'))
    .action(async (_: CollectFlags, command: Command) =>
      finish(await (await import('./audit-collect.ts')).auditCollect(command.optsWithGlobals())),
    );
}

function wholeNumber(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('expected a whole number.');
  return Number(text);
}
