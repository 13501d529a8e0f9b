// A change as people see it: in a word, in a line, and as two texts.
import { constants } from 'node:fs';
import { inLayer } from './apply-change.ts';
import { type Change, PERMISSIONS } from './changes.ts';
import type { Layer } from './layers.ts';
import { chunksOf, openExactly } from './read-layer.ts';

/** Above this, a text is not shown. */
const MAX_BYTES = 512 * 1024;

export type Texts = {
  readonly oldText: string | undefined;
  readonly newText: string | undefined;
  /** Why there is no text to show. */
  readonly note: string | undefined;
};

const MADE: Readonly<Record<Change['kind'], string>> = {
  create: 'new',
  edit: 'edited',
  delete: 'deleted',
  rename: 'renamed',
  mode: 'mode',
};

/** A file's path as people know it in a project. */
export const relativeTo =
  (directory: string | undefined) =>
  (file: string): string =>
    directory !== undefined && file.startsWith(`${directory}/`) ? file.slice(directory.length + 1) : file;

/** `edited src/a.ts`, with what deserves attention after it. */
export function lineOf(change: Change, isShort: (file: string) => string = (file) => file): string {
  const { kind, what, path, from, after, before, leadsOutside, isProtected, isConflict } = change;
  const name = from === undefined ? isShort(path) : `${isShort(from)} -> ${isShort(path)}`;
  const mode = (entry: typeof after) => ((entry?.mode ?? 0) & PERMISSIONS).toString(8);
  const remarks = [
    ...(what === 'directory' ? ['directory'] : []),
    ...(what === 'special' ? ['a pipe, socket or device; never applied'] : []),
    ...(after?.kind === 'link' ? [`link to ${after.content}${leadsOutside ? ', OUTSIDE the project' : ''}`] : []),
    ...(kind === 'mode' ? [`${mode(before)} -> ${mode(after)}`] : []),
    ...(kind === 'create' && after?.kind === 'file' && after.mode & 0o111 ? ['executable'] : []),
    ...(after && after.kind !== 'directory' && after.mode & 0o6000 ? ['setuid or setgid, which is not applied'] : []),
    ...(isProtected ? ['makes programs run something'] : []),
    ...(isConflict ? ['CONFLICT: also changed in the project'] : []),
  ];
  return `${MADE[kind]} ${name}${remarks.length > 0 ? ` (${remarks.join('; ')})` : ''}`;
}

export async function textsOf(layer: Layer, change: Change): Promise<Texts> {
  const { kind, path, from, after, before } = change;
  const none = { oldText: undefined, newText: undefined };
  if (kind === 'mode' || change.what === 'directory' || change.what === 'special') return { ...none, note: lineOf(change) };
  const side = async (entry: typeof after, file: string): Promise<string | undefined | { readonly note: string }> => {
    if (!entry) return undefined;
    if (entry.kind === 'link') return `link to ${entry.content}\n`;
    if (entry.kind !== 'file') return undefined;
    return (
      (entry.size > MAX_BYTES ? undefined : await readText(file)) ?? {
        note: `${entry.size} bytes that are not shown: too large, or not text`,
      }
    );
  };
  const [old, now] = await Promise.all([side(before, from ?? path), side(after, inLayer(layer, path))]);
  const note = [old, now].find((one) => typeof one === 'object');
  if (typeof note === 'object') return { ...none, note: note.note };
  return { oldText: old as string | undefined, newText: now as string | undefined, note: undefined };
}

async function readText(file: string): Promise<string | undefined> {
  try {
    const { handle, stats } = await openExactly(file);
    try {
      if ((stats.mode & constants.S_IFMT) !== constants.S_IFREG) return undefined;
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of chunksOf(handle)) {
        size += chunk.length;
        if (size > MAX_BYTES) return undefined;
        chunks.push(Buffer.from(chunk));
      }
      const bytes = Buffer.concat(chunks);
      return bytes.includes(0) ? undefined : new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
}
