// Validates the params of terminal/create.
import { failure } from '../errors.ts';

const METHOD = 'terminal/create';
const DEFAULT_OUTPUT_BYTES = 1024 * 1024;
/** JSON may turn one byte into six, and a frame has 32 MiB. */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;

export type TerminalParams = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The session's directory if absent. */
  readonly cwd: unknown;
  readonly outputBytes: number;
};

export function readTerminalParams(params: Readonly<Record<string, unknown>>): TerminalParams {
  const { command, cwd, outputByteLimit: limit } = params;
  const args = params.args ?? [];
  const env = params.env ?? [];
  if (!isText(command) || command.trim() === '') throw wrong('command must be a string that is not empty');
  if (!Array.isArray(args) || !args.every(isText)) throw wrong('args must be a list of strings');
  if (!Array.isArray(env) || !env.every(isVariable)) throw wrong('env must be a list of { name, value }');
  if (limit !== undefined && limit !== null && !(Number.isSafeInteger(limit) && (limit as number) >= 0))
    throw wrong('outputByteLimit must be a whole number from 0');
  return {
    command,
    args,
    env: Object.fromEntries(env.map(({ name, value }) => [name, value])),
    cwd: cwd ?? undefined,
    outputBytes: Math.min((limit as number | null | undefined) ?? DEFAULT_OUTPUT_BYTES, MAX_OUTPUT_BYTES),
  };
}

/** To the system a NUL ends a word. */
const isText = (value: unknown): value is string => typeof value === 'string' && !value.includes('\0');

function isVariable(value: unknown): value is { readonly name: string; readonly value: string } {
  const { name, value: text } = (value ?? {}) as { name?: unknown; value?: unknown };
  return isText(name) && name !== '' && !name.includes('=') && isText(text);
}

const wrong = (why: string) => failure('PARAMS', [METHOD, why]);

// Every shell reads such a word literally.
const PLAIN = /^[\w@%+:,./=-]+$/;

/**
 * With `args`, the words as given. Without, some agents put a whole line into `command`, because some editors hand it to a shell: a line of
 * plain words is split, and a line that only a shell could read is undefined. A policy reads it the same way, so a program with a space in
 * its name is not found: it would not be the evaluated one.
 */
export function argvOf(command: string, args: readonly string[]): readonly string[] | undefined {
  if (args.length > 0 || !/\s/.test(command)) return [command, ...args];
  const words = command.split(' ').filter((word) => word !== '');
  const isPlain = words.every((word) => PLAIN.test(word)) && !words[0]?.includes('=');
  return isPlain && words.length > 0 ? words : undefined;
}
