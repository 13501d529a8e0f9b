// Where the output of a turn goes: formatted for a person, only the assistant's text, or nowhere, because frames are printed instead.
import { fields } from '../../json-object.ts';
import type { LiveCleaner } from '../../redaction/redact-stream.ts';
import { createPaint } from './paint.ts';
import { createSimpleOutput, createTextOutput, type TurnOutput } from './text-output.ts';

export type OutputKind = 'text' | 'simple' | 'jsonl' | 'json';
export const isFrames = (kind: OutputKind): boolean => kind === 'jsonl' || kind === 'json';

export type Screen = {
  readonly output: TurnOutput;
  /** A `session/update`, which is shown redacted. */
  update(message: Readonly<Record<string, unknown>>): void;
  /** The answer to `--list-commands`. */
  commands(message: Readonly<Record<string, unknown>>): void;
};

export function createScreen(kind: OutputKind, clean: LiveCleaner, write: (text: string) => void): Screen {
  const paint = createPaint(process.stdout.isTTY === true, process.env);
  const print = isFrames(kind) ? () => {} : write;
  const output = kind === 'text' ? createTextOutput(print, paint) : createSimpleOutput(print, paint);
  const updateOf = (message: Readonly<Record<string, unknown>>): unknown => fields(clean(message).params).update;
  return {
    output,
    update: (message) => output.update(updateOf(message)),
    commands(message) {
      const { availableCommands } = fields(updateOf(message));
      const rows = (Array.isArray(availableCommands) ? availableCommands : []).map(commandRow);
      const width = Math.max(0, ...rows.map(({ usage }) => usage.length));
      for (const { usage, description } of rows) print(paint.foreign(`${usage.padEnd(width)}  ${description}`.trimEnd()).concat('\n'));
    },
  };
}

function commandRow(command: unknown): { readonly usage: string; readonly description: string } {
  const { name, description, input } = fields(command);
  const { hint } = fields(input);
  return {
    usage: `/${String(name)}${typeof hint === 'string' && hint !== '' ? ` <${hint}>` : ''}`,
    description: typeof description === 'string' ? description.replaceAll('\n', ' ') : '',
  };
}
