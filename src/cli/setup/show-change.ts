// A change to a file, applied or previewed: the same output for every command that edits a file.

import { diffLines } from '../../client/diff-lines.ts';
import { escapeControls } from '../../control-characters.ts';
import { type EditableFile, saveEdited } from '../../setup/edit-file.ts';
import { hideInText } from '../../setup/hide-secrets.ts';
import { CommandFailure } from '../failure.ts';
import { shownCommands } from '../output.ts';
import { createPaint } from '../run/paint.ts';

const FAILED = 1;
const INTERRUPTED = 130;

export type ChangeFlags = { readonly dryRun?: boolean; readonly json?: boolean; readonly yes?: boolean };

export type Change = {
  readonly file: string;
  readonly changed: boolean;
  readonly dryRun: boolean;
  /** The backup of the previous text. */
  readonly backup?: string;
  /** A unified diff; values that look like secrets are hidden. */
  readonly diff: string;
};

/** A new text for a file, not written yet. */
export type Planned = { readonly file: EditableFile; readonly text: string };

/** Writes the new text unless --dry-run is set. */
export async function makeChange({ file, text }: Planned, { dryRun = false }: ChangeFlags): Promise<Change> {
  const changed = text !== file.text;
  const backup = changed && !dryRun ? await saveEdited(file, text) : undefined;
  return { file: file.file, changed, dryRun, ...(backup !== undefined && { backup }), diff: unified(file.text, text) };
}

/** At a terminal, shows the changes and asks before anything is written; true if the user has seen them. Throws if the user declines. */
export async function confirmChanges(planned: readonly Planned[], { yes, dryRun, json }: ChangeFlags): Promise<boolean> {
  const changed = planned.filter(({ file, text }) => text !== file.text);
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  if (yes || dryRun || json || !isTerminal || changed.length === 0) return false;
  for (const { file, text } of changed) printDiff(file.file, unified(file.text, text));
  await confirmOrStop(changed.length === 1 ? 'Write this change?' : 'Write these changes?', 'nothing was written', {});
  return true;
}

/** At a terminal, asks; throws unless the user agrees. */
export async function confirmOrStop(message: string, otherwise: string, { yes, json }: ChangeFlags): Promise<void> {
  if (yes || json || process.stdin.isTTY !== true || process.stdout.isTTY !== true) return;
  const { confirm, isCancel } = await import('@clack/prompts');
  const answer = await confirm({ message });
  if (isCancel(answer)) throw new CommandFailure(INTERRUPTED, `interrupted: ${otherwise}`);
  if (!answer) throw new CommandFailure(FAILED, otherwise, 'to go on without being asked, use --yes');
}

/** Describes the change for people. */
export function printChange({ file, changed, dryRun, backup, diff }: Change, isShown = false): void {
  if (!changed) return say(`${file}: no changes`);
  if (!isShown) printDiff(file, diff);
  const where = isShown ? ` ${file}` : '';
  if (dryRun) say('Nothing was written (--dry-run).');
  else if (backup !== undefined) say(`Written${where}. The previous version is in ${backup}`);
  else say(`Written${where}.`);
}

export function printDiff(file: string, diff: string): void {
  const paint = createPaint(process.stdout.isTTY === true, process.env);
  const colour = { '+': paint.green, '-': paint.red, '@': paint.cyan, ' ': paint.dim };
  say(`${file}:`);
  for (const line of diff.split('\n'))
    process.stdout.write(`${(colour[line[0] as keyof typeof colour] ?? paint.dim)(escapeExceptTabs(line))}\n`);
}

const escapeExceptTabs = (line: string): string => line.split('\t').map(escapeControls).join('\t');

export function say(line: string): void {
  process.stdout.write(`${escapeControls(shownCommands(line))}\n`);
}

function unified(before: string, after: string): string {
  const marks = { same: ' ', added: '+', removed: '-', hunk: '' };
  // Hide before comparing: the name of a value may be on a line that is not shown.
  const shown = (text: string) => hideInText(text.replaceAll('\r\n', '\n'));
  return diffLines(shown(before), shown(after))
    .map(({ kind, text }) => marks[kind] + text)
    .join('\n');
}
