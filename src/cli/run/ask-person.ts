// A permission request in a terminal: shows what is asked, and a key for each option.
import os from 'node:os';
import readline from 'node:readline';
import { type DescribedPermission, permissionLines } from '../../client/describe-permission.ts';
import { fields } from '../../json-object.ts';
import type { Paint } from './paint.ts';

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

/** In a terminal the user can scroll, so nothing is left out. */
const NO_LIMITS = { diffLines: Number.POSITIVE_INFINITY, characters: Number.POSITIVE_INFINITY };

/** Resolves to the result of `session/request_permission`; `cancelled` if the request is withdrawn, or on Ctrl-C or Escape. */
export async function askPerson(terminal: Terminal, paint: Paint, request: DescribedPermission, signal: AbortSignal): Promise<unknown> {
  const choices = keyed(request.options);
  const say = (line: string) => terminal.output.write(`${line}\n`);
  const [first = '', ...others] = permissionLines(request, NO_LIMITS);
  say(`${paint.yellow('[permission]')} ${first}`);
  for (const line of others) say(`  ${painted(line, paint)}`);
  for (const { key, name } of choices) say(`  ${paint.bold(key)}  ${name}`);
  const chosen = await pressed(
    terminal,
    choices.map(({ key }) => key),
    signal,
  );
  const option = choices.find(({ key }) => key === chosen);
  return { outcome: option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' } };
}

/** Without a policy, too, the user reads first that a title is not what the request does. */
export async function titleOf(params: unknown, title: string): Promise<string> {
  const [{ permissionAction }, { shownTitleOf }] = await Promise.all([
    import('../../policy/actions/permission.ts'),
    import('../../policy/actions/shown-title.ts'),
  ]);
  const action = permissionAction({ agent: '', cwd: process.cwd(), home: os.homedir() }, params);
  const shown = shownTitleOf(action, fields(fields(params).toolCall));
  return shown?.isContradicted ? shown.title : title;
}

/** Lines of a diff in colour. */
function painted(line: string, paint: Paint): string {
  if (line.startsWith('  +')) return paint.green(line);
  if (line.startsWith('  -')) return paint.red(line);
  return line.startsWith('  @@') ? paint.cyan(line) : line;
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
