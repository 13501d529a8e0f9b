// A change to a file, applied or previewed: the same output for every command that edits a file.
import { escapeControls } from '../../control-characters.ts';
import { type EditableFile, saveEdited } from '../../setup/edit-file.ts';
import { hideInText } from '../../setup/hide-secrets.ts';
import { diffLines } from '../run/diff-lines.ts';
import { createPaint } from '../run/paint.ts';

export type ChangeFlags = { readonly dryRun?: boolean; readonly json?: boolean };

export type Change = {
  readonly file: string;
  readonly changed: boolean;
  readonly dryRun: boolean;
  /** The backup of the previous text. */
  readonly backup?: string;
  /** A unified diff; values that look like secrets are hidden. */
  readonly diff: string;
};

/** Writes the new text unless --dry-run is set. The diff compares it with `before`. */
export async function makeChange(file: EditableFile, text: string, { dryRun = false }: ChangeFlags): Promise<Change> {
  const changed = text !== file.text;
  const backup = changed && !dryRun ? await saveEdited(file, text) : undefined;
  return { file: file.file, changed, dryRun, ...(backup !== undefined && { backup }), diff: unified(file.text, text) };
}

/** Describes the change for people. */
export function printChange({ file, changed, dryRun, backup, diff }: Change): void {
  if (!changed) return say(`${file}: no changes`);
  const paint = createPaint(process.stdout.isTTY === true, process.env);
  const colour = { '+': paint.green, '-': paint.red, '@': paint.cyan, ' ': paint.dim };
  say(`${file}:`);
  for (const line of diff.split('\n'))
    process.stdout.write(`${(colour[line[0] as keyof typeof colour] ?? paint.dim)(escapeControls(line))}\n`);
  if (dryRun) say('Nothing was written (--dry-run).');
  else if (backup !== undefined) say(`Written. The previous version is in ${backup}`);
  else say('Written.');
}

export function say(line: string): void {
  process.stdout.write(`${escapeControls(line)}\n`);
}

function unified(before: string, after: string): string {
  const marks = { same: ' ', added: '+', removed: '-', hunk: '' };
  // Hide before comparing: the name of a value may be on a line that is not shown.
  const shown = (text: string) => hideInText(text.replaceAll('\r\n', '\n'));
  return diffLines(shown(before), shown(after))
    .map(({ kind, text }) => marks[kind] + text)
    .join('\n');
}
