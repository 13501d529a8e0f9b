// A permission request in a terminal: shows the tool call, and a key for each option.
import readline from 'node:readline';
import { diffLines } from './diff-lines.ts';
import type { Paint } from './paint.ts';
import { diffLine } from './text-output.ts';

export type Offered = { readonly optionId: string; readonly name: string; readonly kind: string };
export type KeyedOption = Offered & { readonly key: string };

const KEYS: Readonly<Record<string, string>> = { allow_once: 'y', allow_always: 'a', reject_once: 'n', reject_always: 'd' };

/** The first option of each kind gets that kind's letter, all others a number. */
export function keyed(options: readonly Offered[]): readonly KeyedOption[] {
  const taken = new Set<string>();
  let next = 1;
  return options.map((option) => {
    const letter = KEYS[option.kind];
    const key = letter === undefined || taken.has(letter) ? String(next++) : letter;
    taken.add(key);
    return { ...option, key };
  });
}

/** The answer when nobody can answer: the plainest rejection that the agent offers. */
export function refusal(options: readonly Offered[]): unknown {
  const option = options.find(({ kind }) => kind === 'reject_once') ?? options.find(({ kind }) => kind === 'reject_always');
  return { outcome: option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' } };
}

export type Terminal = { readonly input: NodeJS.ReadStream; readonly output: NodeJS.WriteStream };

type PermissionParams = {
  readonly toolCall?: {
    readonly title?: unknown;
    readonly rawInput?: unknown;
    readonly content?: readonly {
      readonly type?: unknown;
      readonly path?: unknown;
      readonly oldText?: unknown;
      readonly newText?: unknown;
    }[];
  };
  readonly options?: readonly Offered[];
};

/** Resolves to the result of `session/request_permission`; `cancelled` if the request is withdrawn, or on Ctrl-C or Escape. */
export async function askPerson(terminal: Terminal, paint: Paint, params: unknown, signal: AbortSignal): Promise<unknown> {
  const { toolCall = {}, options = [] } = (params ?? {}) as PermissionParams;
  const choices = keyed(options);
  const say = (line: string) => terminal.output.write(`${line}\n`);
  say(`${paint.yellow('[permission]')} ${paint.foreign(String(toolCall.title ?? 'The agent asks for permission'))}`);
  for (const line of details(toolCall, paint)) say(line);
  for (const { key, name } of choices) say(`  ${paint.bold(key)}  ${paint.foreign(name)}`);
  const chosen = await pressed(
    terminal,
    choices.map(({ key }) => key),
    signal,
  );
  const option = choices.find(({ key }) => key === chosen);
  return { outcome: option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' } };
}

function details(toolCall: NonNullable<PermissionParams['toolCall']>, paint: Paint): readonly string[] {
  const { command } = (toolCall.rawInput ?? {}) as { command?: unknown };
  const line = Array.isArray(command) ? command.map(String).join(' ') : typeof command === 'string' ? command : undefined;
  const diffs = (Array.isArray(toolCall.content) ? toolCall.content : []).filter((entry) => entry?.type === 'diff');
  return [
    ...(line === undefined ? [] : line.split('\n').map((part) => `  $ ${paint.foreign(part)}`)),
    ...diffs.flatMap(({ path, oldText, newText }) => [
      `  ${paint.foreign(String(path))}`,
      ...diffLines(String(oldText ?? ''), String(newText ?? '')).map((one) => `  ${diffLine(one, paint)}`),
    ]),
  ];
}

/** The first of these keys that is pressed; undefined for Ctrl-C, Escape and the signal. */
function pressed({ input }: Terminal, keys: readonly string[], signal: AbortSignal): Promise<string | undefined> {
  readline.emitKeypressEvents(input);
  const wasRaw = input.isRaw;
  input.setRawMode(true);
  input.resume();
  return new Promise((resolve) => {
    const over = (key: string | undefined) => {
      input.off('keypress', onKey);
      signal.removeEventListener('abort', onAbort);
      input.setRawMode(wasRaw);
      input.pause();
      resolve(key);
    };
    const onAbort = () => over(undefined);
    const onKey = (character: string | undefined, key: { readonly name?: string; readonly ctrl?: boolean }) => {
      const isInterrupt = key.ctrl === true && key.name === 'c';
      if (isInterrupt || key.name === 'escape') over(undefined);
      // In raw mode the terminal sends no signal for Ctrl-C; it should cancel the turn here too.
      if (isInterrupt) process.kill(process.pid, 'SIGINT');
      if (character !== undefined && keys.includes(character.toLowerCase())) over(character.toLowerCase());
    };
    input.on('keypress', onKey);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
  });
}
