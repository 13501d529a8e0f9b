// The changes that an agent showed in a session, and where a page may apply them: `diff.apply` has only a path and the new text, so the text
// that a change is based on comes from here.
import { createHash } from 'node:crypto';
import { absolute } from '../dialects/paths.ts';
import { fields, type JsonObject } from '../json-object.ts';

/** The file's old text; null: there was no file. A hash, if the agent did not show the old text. */
export type Base = { readonly text: string | null } | { readonly hash: string | null };

export type ShownChanges = {
  /** Notes the diffs of a tool call. `look` reads a file for a diff without its old text. */
  note(update: JsonObject, look: (file: string) => Promise<string | undefined>): void;
  baseOf(file: string, newText: string): Promise<Base | undefined>;
};

const MOST_KEPT = 200;
/** Larger ones are not remembered; a page can still send the old text itself. */
const MAX_CHARACTERS = 4 * 1024 * 1024;

export const hashOf = (text: string | undefined): string | null =>
  text === undefined ? null : createHash('sha256').update(text).digest('hex');

export function createShownChanges(cwd: string): ShownChanges {
  const kept = new Map<string, Base | Promise<Base | undefined>>();
  const keyOf = (file: string, newText: string) => `${file}\n${hashOf(newText)}`;
  function keep(key: string, base: Base | Promise<Base | undefined>): void {
    kept.delete(key);
    kept.set(key, base);
    const [oldest] = kept.keys();
    if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
  }
  return {
    note(update, look) {
      if (update.sessionUpdate !== 'tool_call' && update.sessionUpdate !== 'tool_call_update') return;
      for (const item of Array.isArray(update.content) ? update.content : []) {
        const { type, path, oldText, newText } = fields(item);
        if (type !== 'diff' || typeof path !== 'string' || typeof newText !== 'string') continue;
        const file = absolute(cwd, path);
        const key = keyOf(file, newText);
        const isText = typeof oldText === 'string';
        if (newText.length + (isText ? oldText.length : 0) > MAX_CHARACTERS) continue;
        if (isText || oldText === null) keep(key, { text: oldText });
        else if (!kept.has(key))
          keep(
            key,
            look(file).then(
              (text) => ({ hash: hashOf(text) }),
              () => undefined,
            ),
          );
      }
    },
    baseOf: async (file, newText) => kept.get(keyOf(file, newText)),
  };
}

export type Applied = { readonly text: string } | { readonly isThere: true } | { readonly conflict: string };

/** The file's text after the change. The old text may be a part of the file, if it occurs once. */
export function applyChange(current: string | undefined, base: Base | undefined, newText: string): Applied {
  if (current === newText) return { isThere: true };
  if (current === undefined)
    return base && (('text' in base && base.text !== null && base.text !== '') || ('hash' in base && base.hash !== null))
      ? { conflict: 'the file does not exist any more' }
      : { text: newText };
  if (!base)
    return {
      conflict:
        'the file exists, and no change of it with this text was shown in the session; send oldText, the text that the change replaces',
    };
  if ('hash' in base)
    return base.hash === hashOf(current) ? { text: newText } : { conflict: 'the file has changed since the change was shown' };
  if (base.text === current) return { text: newText };
  if (base.text === null || base.text === '') return { conflict: 'the change makes a new file, and the file exists' };
  const parts = current.split(base.text);
  // The agent, or another page, has made the change already. Old text that is still there may be a part of the new one.
  if (newText !== '' && current.includes(newText) && (parts.length === 1 || newText.includes(base.text))) return { isThere: true };
  if (parts.length === 2) return { text: parts.join(newText) };
  if (parts.length > 2) return { conflict: 'the text that the change replaces occurs more than once' };
  return { conflict: 'the file does not have the text that the change replaces' };
}
