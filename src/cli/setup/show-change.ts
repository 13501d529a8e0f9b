// A change to a file, made or only shown: the same words and the same envelope for every command that edits one.
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
  /** Where the text from before is kept. */
  readonly backup?: string;
  /** Unified; values that look like secrets are left out. */
  readonly diff: string;
};

/** Writes the new text unless it is only to be shown. `before` is what the reader compares with. */
export async function makeChange(file: EditableFile, text: string, { dryRun = false }: ChangeFlags): Promise<Change> {
  const changed = text !== file.text;
  const backup = changed && !dryRun ? await saveEdited(file, text) : undefined;
  return { file: file.file, changed, dryRun, ...(backup !== undefined && { backup }), diff: unified(file.text, text) };
}

/** What was changed, for people. */
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
  // Hidden before they are compared: what stands on one line may be named on another that is not shown.
  const shown = (text: string) => hideInText(text.replaceAll('\r\n', '\n'));
  return diffLines(shown(before), shown(after))
    .map(({ kind, text }) => marks[kind] + text)
    .join('\n');
}
