// An editor's settings with the agents in them, and ourselves among those or not.
import { isOurProxy } from '../agents/recursion.ts';
import type { Document } from '../config/document.ts';
import { fields } from '../config/layer.ts';
import { parseDocument } from '../config/parse.ts';
import { ConfigError } from '../config/problems.ts';
import { type EditableFile, readToEdit } from './edit-file.ts';
import { isBare, withoutProperty, withProperty } from './edit-jsonc.ts';
import type { Editor } from './editors.ts';
import type { Start } from './start-command.ts';

export type Listed = { readonly name: string; readonly entry: unknown; readonly start: Start | undefined; readonly isUs: boolean };
export type EditorFile = EditableFile & { readonly editor: Editor; readonly document: Document; readonly agents: readonly Listed[] };

/** Throws a ConfigError with the places of what cannot be parsed. */
export async function openEditorFile(editor: Editor, file: string): Promise<EditorFile> {
  const found = await readToEdit(file);
  const document = parsed(editor, file, found.text);
  if (document.problems.length > 0) throw new ConfigError(document.problems);
  return { ...found, editor, document, agents: agentsIn(editor, document) };
}

const parsed = ({ isStrict }: Editor, file: string, text: string): Document =>
  parseDocument(file, text.trim() === '' ? '{}' : text, { isStrict });

const listIn = ({ path }: Editor, document: Document): unknown => path.reduce<unknown>((value, key) => fields(value)[key], document.value);

function agentsIn(editor: Editor, document: Document): readonly Listed[] {
  const entries = fields(listIn(editor, document));
  return document.keys(editor.path).map((name) => {
    const start = editor.fromEntry(entries[name]);
    return { name, entry: entries[name], start, isUs: start !== undefined && isOurProxy(start.command, start.args) };
  });
}

/** The text with our entry in it. One that is there keeps the keys that are the user's own. */
export function connected({ text, editor, agents }: EditorFile, name: string, start: Start): string {
  const ours = editor.toEntry(start);
  const present = agents.find((agent) => agent.name === name);
  if (!present) return withProperty(text, [...editor.path, name], ours);
  const changed = Object.entries(ours).filter(([key, value]) => JSON.stringify(fields(present.entry)[key]) !== JSON.stringify(value));
  return changed.reduce((before, [key, value]) => withProperty(before, [...editor.path, name, key], value), text);
}

/**
 * The text without the entries named. A list that is empty then goes too where it is known that we made it: `before` is what our last change
 * found. Else it stays, since there are editors (acp-ui) that do not start without one.
 */
export function disconnected({ file, text, editor }: EditorFile, names: readonly string[], before: string | undefined): string {
  const without = names.reduce((left, name) => withoutProperty(left, [...editor.path, name]), text);
  const isOurs = before !== undefined && listIn(editor, parsed(editor, file, before)) === undefined;
  return names.length > 0 && isOurs && isBare(without, editor.path) ? withoutProperty(without, editor.path) : without;
}
