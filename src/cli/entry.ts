// The entry point. The plain `acp` command is parsed here, because an editor is waiting; all other commands load the command-line parser.
import { createRedactor } from '../redaction/redact.ts';
import { type AcpOptions, acp } from './acp.ts';
import { reportCrashes } from './failure.ts';
import { nameConfiguration } from './output.ts';

/** How long to wait for a slow reader of stdout before the process exits. */
const FLUSH_MS = 1000;

/** Runs the command and ends the process with its exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  // A reader of our output may close it early; that must not end sessions. The protocol stream has its own handler.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  reportCrashes(() => createRedactor({}, process.env));
  process.exitCode = await run(argv);
  // Streams that a peer holds open must not keep the process alive: everything we started has ended.
  if (process.stdout.writableLength === 0) process.exit();
  process.stdout.end(() => process.exit());
  process.stdout.setTimeout(FLUSH_MS, () => process.exit());
}

async function run(argv: readonly string[]): Promise<number> {
  const plain = plainAcp(argv.slice(2), process.stdin.isTTY === true);
  nameConfiguration(plain?.config);
  try {
    return plain ? await acp(plain) : await (await import('./main.ts')).runCommand(argv);
  } catch (error) {
    const { printFailure } = await import('./report-failure.ts');
    return printFailure(error, { isJson: argv.includes('--json'), isDebug: argv.includes('--debug') });
  }
}

const PLAIN_OPTIONS = { '--config': 'config', '--agent': 'agent' } as const;

/** The options of a plain `switchboard acp`; undefined if the full parser is needed. */
export function plainAcp(words: readonly string[], isTerminal: boolean): AcpOptions | undefined {
  const isNamed = words[0] === 'acp';
  if (!isNamed && isTerminal) return undefined;
  const options: { config?: string; agent?: string } = {};
  const rest = words.slice(isNamed ? 1 : 0);
  for (let at = 0; at < rest.length; at += 2) {
    const [option, value] = [rest[at], rest[at + 1]];
    if ((option !== '--config' && option !== '--agent') || value === undefined || value === '' || value.startsWith('-')) return undefined;
    options[PLAIN_OPTIONS[option]] = value;
  }
  return options;
}
