// What runs first. An editor waits for us, so the way it starts us is read by hand: the parser of the command line, with its help for
// every command, is loaded for all other words.
import { createRedactor } from '../redaction/redact.ts';
import { type AcpOptions, acp } from './acp.ts';
import { tellCrashes } from './failure.ts';

/** A reader that is slow gets our last words; one that has taken nothing for this long has stopped reading, and must not keep us. */
const FLUSH_MS = 1000;

/** Runs the command and ends the process with its exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  // Whoever reads our words may leave early; sessions must not end for that. The protocol's own stream is watched where it is used.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  tellCrashes(() => createRedactor({}, process.env));
  process.exitCode = await run(argv);
  // Whatever a peer still holds open must not keep us: everything we started has been ended by now.
  if (process.stdout.writableLength === 0) process.exit();
  process.stdout.end(() => process.exit());
  process.stdout.setTimeout(FLUSH_MS, () => process.exit());
}

async function run(argv: readonly string[]): Promise<number> {
  const plain = plainAcp(argv.slice(2), process.stdin.isTTY === true);
  try {
    return plain ? await acp(plain) : await (await import('./main.ts')).runCommand(argv);
  } catch (error) {
    const { printFailure } = await import('./report-failure.ts');
    return printFailure(error, { isJson: argv.includes('--json'), isDebug: argv.includes('--debug') });
  }
}

const PLAIN_OPTIONS = { '--config': 'config', '--agent': 'agent' } as const;

/** The options of `switchboard acp` as editors write them; undefined for anything that is not plainly that. */
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
