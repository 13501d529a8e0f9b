// The report: each agent's answer, a table, and where the changes are.
import type { Usage } from '../../client/turn-record.ts';
import { printTable } from '../output.ts';
import type { Paint } from '../run/paint.ts';
import type { Change } from './work-directory.ts';

export type Outcome = {
  readonly agent: string;
  readonly ok: boolean;
  /** The stop reason of the turn; `failed` and `timeout` are ours. */
  readonly result: string;
  readonly sessionId?: string;
  readonly text: string;
  readonly error?: { readonly message: string; readonly hint?: string | undefined };
  /** From the prompt to the response, and to the first message. */
  readonly durationMs?: number;
  readonly firstWordsMs?: number;
  readonly usage: Usage;
  readonly toolCalls: number;
  /** Permission requests that were denied. */
  readonly refused: readonly string[];
  /** Only with --write. */
  readonly directory?: Place;
};

export type Place = {
  readonly kind: 'worktree' | 'copy';
  readonly path: string;
  /** Undefined if it is unknown. */
  readonly changed: readonly Change[] | undefined;
  readonly kept: boolean;
  readonly look: string;
  readonly discard: string;
};

const MARKS: Readonly<Record<Change['status'], string>> = { added: 'A', changed: 'M', deleted: 'D' };

export function printReport(outcomes: readonly Outcome[], paint: Paint, write: (text: string) => void): void {
  for (const { agent, text, error, result } of outcomes) {
    write(`${paint.bold(`== ${agent} ==`)}\n`);
    if (text !== '') write(`${paint.foreign(text.trimEnd())}\n`);
    else if (!error) write(`${paint.dim(`(no answer; ${result})`)}\n`);
    if (error) write(`${paint.red(paint.foreign(error.message))}\n${error.hint ? `  ${error.hint}\n` : ''}`);
    write('\n');
  }
  const writes = outcomes.some(({ directory }) => directory !== undefined);
  const head = ['AGENT', 'RESULT', 'TIME', 'FIRST OUTPUT', 'TOKENS', 'COST', 'TOOLS', 'DENIED', ...(writes ? ['CHANGED'] : [])];
  printTable(head, outcomes.map(rowOf));
  for (const { agent, refused } of outcomes) for (const what of refused) write(`\n${agent} was denied: ${paint.foreign(what)}`);
  if (outcomes.some(({ refused }) => refused.length > 0)) write('\n');
  for (const { agent, directory } of outcomes) if (directory) write(`\n${changesOf(agent, directory, paint)}`);
}

function rowOf({ agent, result, durationMs, firstWordsMs, usage, toolCalls, refused, directory }: Outcome): string[] {
  const { tokens, size, cost } = usage;
  return [
    agent,
    result,
    seconds(durationMs),
    seconds(firstWordsMs),
    tokens === undefined ? '' : size === undefined ? String(tokens) : `${tokens} of ${size}`,
    cost === undefined ? '' : `${cost.amount} ${cost.currency}`,
    String(toolCalls),
    String(refused.length),
    ...(directory ? [directory.changed === undefined ? 'unknown' : files(directory.changed.length)] : []),
  ];
}

function changesOf(agent: string, { kind, path, changed, kept, look, discard }: Place, paint: Paint): string {
  const what = changed?.map((change) => `  ${MARKS[change.status]} ${paint.foreign(change.path)}\n`).join('') ?? '';
  if (changed?.length === 0) return `${agent} changed nothing; its ${kind} was removed.\n`;
  const count = changed === undefined ? 'unknown files' : files(changed.length);
  if (!kept) return `${agent} changed ${count}; its ${kind} was removed.\n${what}`;
  return `${agent} changed ${count}, in ${path}\n${what}  show:    ${look}\n  remove:  ${discard}\n`;
}

const seconds = (ms: number | undefined): string => (ms === undefined ? '' : `${(ms / 1000).toFixed(1)} s`);
const files = (count: number): string => `${count} file${count === 1 ? '' : 's'}`;
