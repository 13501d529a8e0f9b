// The changes of a layer, from a listing of it and of the files below. Pure.
import path from 'node:path/posix';
import { isInside } from '../policy/paths/path.ts';

/** A file of the layer, or of the project below it. */
export type Entry = {
  /** `whiteout`: the layer hides the file below. `special`: a pipe, socket or device. */
  readonly kind: 'file' | 'directory' | 'link' | 'special' | 'whiteout';
  /** Permissions, with the special bits. */
  readonly mode: number;
  readonly size: number;
  /** Changes with the file. All whiteouts have the same. */
  readonly id: string;
  /** A file's hash, or a link's target. Undefined for a file that need not be compared. */
  readonly content?: string | undefined;
  /** Directories of the layer: nothing below shines through. */
  readonly isOpaque?: boolean | undefined;
  /** When the file was created, 0 if the file system does not know. */
  readonly bornNs?: bigint | undefined;
  /** When the file was last changed, in any way. */
  readonly changedNs?: bigint | undefined;
};

/** Paths are relative to the root. `base` has everything that the layer replaces or hides. */
export type Listing = {
  readonly root: string;
  readonly layer: ReadonlyMap<string, Entry>;
  readonly base: ReadonlyMap<string, Entry>;
};

export type Change = {
  readonly kind: 'create' | 'edit' | 'delete' | 'rename' | 'mode';
  readonly what: 'file' | 'directory' | 'link' | 'special';
  /** Absolute. */
  readonly path: string;
  /** Of a renamed file. */
  readonly from?: string | undefined;
  /** In the layer; undefined if it is deleted. */
  readonly after: Entry | undefined;
  /** Below the layer, when it was listed. Of a renamed file: at `from`. */
  readonly before: Entry | undefined;
  /** It makes programs run something. */
  readonly isProtected: boolean;
  /** A link that leads out of the project. */
  readonly leadsOutside: boolean;
  /** The file below is not the one that the agent saw. */
  readonly isConflict: boolean;
};

/** What was decided about a path before, or noted. */
export type Known = {
  readonly how: 'applied' | 'dropped' | 'waiting';
  /** The layer's entry at that time. */
  readonly layer: string | undefined;
  /** The entry below, after it. */
  readonly base: string | undefined;
};

export type About = {
  readonly roots: readonly string[];
  readonly isProtected: (file: string) => boolean;
  readonly known: (file: string) => Known | undefined;
  /** When the turn began: the agent saw nothing that was changed later, unless the layer knows better. */
  readonly sinceNs: bigint;
};

/** Permissions that are applied: never setuid, setgid or sticky. */
export const PERMISSIONS = 0o777;

/** Links out of the project and protected files first, then by path. */
export function changesOf(listings: readonly Listing[], about: About): readonly Change[] {
  const all = listings.flatMap((listing) => changesIn(listing, about));
  const isFirst = ({ leadsOutside, isProtected }: Change): number => (leadsOutside ? 0 : isProtected ? 1 : 2);
  return withRenames(all).sort((a, b) => isFirst(a) - isFirst(b) || (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

function changesIn({ root, layer, base }: Listing, about: About): readonly Change[] {
  const changes: Change[] = [];
  const children = childrenOf(base);
  const filled = new Set([...layer].flatMap(([name, { kind }]) => (kind === 'whiteout' ? [] : [path.dirname(name)])));
  const put = (kind: Change['kind'], name: string, after: Entry | undefined, before: Entry | undefined): void => {
    const file = path.join(root, name);
    const known = about.known(file);
    // A whiteout stays as it is for good, and so do its decisions, until the file below changes.
    const isSettled = known !== undefined && known.how !== 'waiting' && known.layer === (after?.id ?? 'whiteout');
    if (isSettled) return;
    const what = after ?? before;
    changes.push({
      kind,
      what: what === undefined || what.kind === 'whiteout' ? 'file' : what.kind,
      path: file,
      after,
      before,
      isProtected: about.isProtected(file),
      leadsOutside:
        after?.kind === 'link' && !about.roots.some((one) => isInside(one, path.resolve(path.dirname(file), after.content ?? ''))),
      isConflict: isConflict(after, before, known, about.sinceNs),
    });
  };
  const remove = (name: string, entry: Entry): void => {
    for (const below of children.get(name) ?? []) remove(below, base.get(below) as Entry);
    put('delete', name, undefined, entry);
  };
  for (const [name, entry] of layer) {
    const before = base.get(name);
    if (entry.kind === 'whiteout') {
      if (before) remove(name, before);
      continue;
    }
    if (entry.kind === 'directory') {
      if (before?.kind === 'directory') {
        if (name !== '' && permissions(entry) !== permissions(before)) put('mode', name, entry, before);
        if (entry.isOpaque) for (const below of children.get(name) ?? []) if (!layer.has(below)) remove(below, base.get(below) as Entry);
        continue;
      }
      if (before) remove(name, before);
      if (!filled.has(name)) put('create', name, entry, undefined);
      continue;
    }
    if (before?.kind === 'directory') {
      remove(name, before);
      put('create', name, entry, undefined);
    } else if (!before) put('create', name, entry, undefined);
    else if (entry.kind !== before.kind || entry.content !== before.content || entry.kind === 'special') put('edit', name, entry, before);
    else if (entry.kind === 'file' && permissions(entry) !== permissions(before)) put('mode', name, entry, before);
  }
  return changes;
}

const permissions = ({ mode }: Entry): number => mode & PERMISSIONS;

function childrenOf(entries: ReadonlyMap<string, Entry>): ReadonlyMap<string, readonly string[]> {
  const children = new Map<string, string[]>();
  for (const name of entries.keys()) {
    if (name === '') continue;
    const parent = path.dirname(name) === '.' ? '' : path.dirname(name);
    const list = children.get(parent);
    if (list) list.push(name);
    else children.set(parent, [name]);
  }
  return children;
}

/** Known by what was noted of it; else by time: the layer's copy is as old as the agent's first change. */
function isConflict(after: Entry | undefined, before: Entry | undefined, known: Known | undefined, sinceNs: bigint): boolean {
  if (!before) return known?.how === 'waiting' && known.base !== undefined;
  if (known && known.base === before.id) return false;
  if (known?.how === 'waiting' && known.layer === (after?.id ?? 'whiteout')) return true;
  const seenNs = after?.kind === 'file' && after.bornNs ? after.bornNs : sinceNs;
  return (before.changedNs ?? 0n) > seenNs;
}

/** A new file with the content of a deleted one. */
function withRenames(changes: readonly Change[]): Change[] {
  const deleted = new Map<string, Change[]>();
  for (const change of changes) {
    const { kind, before } = change;
    if (kind !== 'delete' || before?.kind !== 'file' || before.content === undefined || before.size === 0) continue;
    const same = deleted.get(before.content);
    if (same) same.push(change);
    else deleted.set(before.content, [change]);
  }
  const used = new Set<Change>();
  const renamed = changes.map((change): Change => {
    const from = change.kind === 'create' && change.after?.content !== undefined ? deleted.get(change.after.content)?.shift() : undefined;
    if (!from) return change;
    used.add(from);
    const { before, isConflict, isProtected } = from;
    return {
      ...change,
      kind: 'rename',
      from: from.path,
      before,
      isConflict: change.isConflict || isConflict,
      isProtected: change.isProtected || isProtected,
    };
  });
  return renamed.filter((change) => !used.has(change));
}

/** In an order in which they can be applied: deletions from the inside out, then git's objects before what names them. */
export function inOrder(changes: readonly Change[]): readonly Change[] {
  const rank = ({ kind, path: file }: Change): number =>
    kind === 'delete' ? 0 : !file.includes('/.git/') ? 1 : file.includes('/.git/objects/') ? 2 : 3;
  return [...changes].sort((a, b) => rank(a) - rank(b) || (a.kind === 'delete' ? b.path.length - a.path.length : a.path < b.path ? -1 : 1));
}
