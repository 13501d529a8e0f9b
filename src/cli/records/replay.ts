// `switchboard replay`: a recording as an ACP agent on stdio. `switchboard redact`: redacts a recording or log from elsewhere.
import readline from 'node:readline';
import { addEnvironment, createSecrets } from '../../redaction/redact.ts';
import { redactJson, redactJsonText } from '../../redaction/redact-json.ts';
import { createPieceCleaner } from '../../redaction/redact-pieces.ts';
import { createRecordingWriter, type Message, parseRecording } from '../../store/recordings/recording.ts';
import { createPlayer } from '../../store/recordings/replay.ts';
import { CommandFailure } from '../failure.ts';
import { notice } from '../output.ts';
import { readInput } from '../resolve-config.ts';

export type ReplayFlags = { readonly speed?: string; readonly instant?: boolean; readonly strict?: boolean; readonly run?: string };

const DIFFERENT = 8;

export async function replay(file: string, flags: ReplayFlags): Promise<number> {
  const speed = Number(flags.speed ?? 1);
  if (!(speed > 0)) throw new CommandFailure(2, `--speed expects a number above 0, not "${flags.speed}"`);
  const recording = await readRecording(file);
  const runs = [...new Set(recording.map(({ proc }) => proc))];
  const run = flags.run === undefined ? runs[0] : Number(flags.run);
  if (run === undefined || !runs.includes(run))
    throw new CommandFailure(2, `${file} has no run ${flags.run ?? 1}`, `runs: ${runs.join(', ')}`);
  const player = createPlayer(
    recording.filter(({ proc }) => proc === run),
    {
      strict: flags.strict === true,
      send: (message) => void process.stdout.write(`${JSON.stringify(message)}\n`),
      after: (ms, then) => (flags.instant || ms <= 0 ? then() : void setTimeout(then, ms / speed)),
      onDifference: (what) => notice(`first difference from the recording: ${what}`),
    },
  );
  for await (const line of readline.createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    const message = parsed(line);
    if (message) player.hear(message);
  }
  return player.end() !== undefined && flags.strict ? DIFFERENT : 0;
}

/** Writes to stdout; redacts the lines of a recording together, because a secret may span several. */
export async function redactFile(file: string): Promise<number> {
  const secrets = createSecrets();
  addEnvironment(secrets, {}, process.env);
  const text = await readInput('the file', file);
  const clean = {
    json: (value: unknown) => redactJson(value, secrets.redact),
    text: secrets.redact,
    pieces: () => createPieceCleaner(secrets),
  };
  const write = (line: string) => void process.stdout.write(line);
  try {
    const recording = parseRecording(text);
    const writer = createRecordingWriter(clean, write);
    for (const entry of recording) writer.add(entry);
    writer.end();
  } catch {
    for (const line of secrets.redact(text).replace(/\n$/, '').split('\n')) write(`${redactJsonText(line, secrets.redact)}\n`);
  }
  return 0;
}

async function readRecording(file: string) {
  const text = await readInput('the recording', file);
  try {
    return parseRecording(text);
  } catch (error) {
    throw new CommandFailure(
      2,
      `${file} is not a recording: ${(error as Error).message}`,
      'to make a recording, run: switchboard acp --record FILE',
    );
  }
}

function parsed(line: string): Message | undefined {
  try {
    const value = JSON.parse(line);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
