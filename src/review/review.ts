// The changes of sessions at the level `review`: they lie in a layer over the project until they are applied or dropped.
import { chmodSync, lstatSync, realpathSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { ProxyError } from '../errors.ts';
import { executableConfig } from '../policy/paths/path-glob.ts';
import type { Program } from '../sandbox/run/contain.ts';
import { appendLines } from '../store/append-lines.ts';
import { applyChange, inLayer } from './apply-change.ts';
import { type Change, changesOf, inOrder, type Known } from './changes.ts';
import {
  allLayers,
  bindLayer,
  disownLayer,
  findLayer,
  type Layer,
  type LedgerLine,
  ledgerFile,
  openLayer,
  ownerOf,
  ownLayer,
  readLayer,
  readLedger,
  removeLayer,
} from './layers.ts';
import { mountLayer, type Namespace, type NoOverlay } from './namespace.ts';
import { entryAt, identityOf, readListings } from './read-layer.ts';
import { copyInto, type Inside } from './renew-view.ts';
import { type Texts, textsOf } from './show-change.ts';

export type { Change } from './changes.ts';

/** `kept`: it could not be applied and waits. */
export type Outcome = { readonly how: 'applied' | 'dropped' } | { readonly how: 'kept'; readonly why: string };

export type Review = {
  /** The layer of a session that an earlier process left. */
  layerOf(sessionId: string): string | undefined;
  /** Mounts a layer, which is created if need be. The command that it returns starts in there. */
  start(id: string, about: Pick<Layer, 'roots' | 'agent'>, inside: Inside): ((program: Program) => Program) | NoOverlay;
  /** Shows the agent what was changed below, without what was dropped. */
  beginTurn(id: string, sessionId: string): Promise<void>;
  changes(id: string): Promise<readonly Change[]>;
  show(id: string, change: Change): Promise<Texts>;
  /** In the order in which they can be applied. */
  apply(id: string, changes: readonly Change[]): Promise<ReadonlyMap<Change, Outcome>>;
  drop(id: string, changes: readonly Change[]): Promise<void>;
  /** Notes changes that wait, and what is below them. */
  wait(id: string, changes: readonly Change[]): void;
  /** The session has ended. Its layer stays if changes wait. */
  release(id: string): Promise<void>;
  /** The same for all layers; when their agents have ended. */
  close(): Promise<void>;
};

type Live = { readonly namespace: Namespace; inside: Inside };

const insideOf =
  ({ namespace, inside }: Live) =>
  (program: Program) =>
    inside(program, namespace.enter);

export function createReview(stateDir: string, now: () => string): Review {
  const live = new Map<string, Live>();
  const layers = new Map<string, Layer>();
  const layer = (id: string): Layer => {
    const known = layers.get(id) ?? allLayers(stateDir).find((one) => one.id === id);
    if (!known) throw new Error(`there is no layer ${id}`);
    layers.set(id, known);
    return known;
  };
  const release = async (id: string): Promise<void> => {
    const ended = layers.get(id);
    if (!ended) return;
    live.get(id)?.namespace.close();
    live.delete(id);
    layers.delete(id);
    disownLayer(ended);
    await removeIfDecided(ended);
  };
  return {
    layerOf: (sessionId) => findLayer(stateDir, sessionId)?.id,
    start(id, about, inside) {
      const running = live.get(id);
      if (running) {
        running.inside = inside;
        return running.namespace.enter;
      }
      const opened = openLayer(stateDir, id, about, now());
      if (JSON.stringify(opened.roots) !== JSON.stringify(about.roots))
        return {
          problem: `changes of this session wait for other directories (${opened.roots.join(', ')})`,
          next: `Decide about them: switchboard changes list ${opened.sessionId ?? id}`,
        };
      if (!ownLayer(opened))
        return { problem: 'another switchboard has this session open, and a layer has one owner', next: 'Close the session there' };
      removeDecided(opened);
      const namespace = mountLayer(opened);
      if ('problem' in namespace) {
        disownLayer(opened);
        return namespace;
      }
      layers.set(id, opened);
      live.set(id, { namespace, inside });
      return namespace.enter;
    },
    async beginTurn(id, sessionId) {
      const running = live.get(id);
      if (!running) return;
      if (layer(id).sessionId !== sessionId) layers.set(id, bindLayer(layer(id), sessionId));
      const stale = await staleIn(layer(id));
      if (stale.length > 0) await copyInto(layer(id), stale, insideOf(running));
      appendLines(ledgerFile(layer(id)), `${JSON.stringify({ turn: String(BigInt(Date.now()) * 1_000_000n) })}\n`);
    },
    changes: (id) => changesIn(layer(id)),
    show: (id, change) => textsOf(layer(id), change),
    apply: (id, changes) => applyAll(layer(id), changes),
    async drop(id, changes) {
      dropAll(layer(id), changes);
      const running = live.get(id);
      if (running) await copyInto(layer(id), pathsOf(changes), insideOf(running));
    },
    wait: (id, changes) => note(layer(id), changes, 'waiting'),
    release,
    async close() {
      // A layer that cannot be read stays.
      await Promise.allSettled([...layers.keys()].map(release));
    },
  };
}

export async function changesIn(layer: Layer): Promise<readonly Change[]> {
  const { known, turnNs } = readLedger(layer);
  const config = executableConfig();
  const roots = { cwd: layer.roots[0] ?? '/', home: undefined };
  return changesOf(await readListings(layer), {
    roots: layer.roots,
    isProtected: (file) => config.matches(file, roots),
    known: (file) => known.get(file),
    sinceNs: turnNs,
  });
}

export async function applyAll(layer: Layer, changes: readonly Change[]): Promise<ReadonlyMap<Change, Outcome>> {
  const outcomes = new Map<Change, Outcome>();
  for (const change of inOrder(changes)) {
    try {
      if (change.isConflict) outcomes.set(change, { how: 'kept', why: 'the file was also changed in the project' });
      else {
        const base = await applyChange(layer, change);
        note(layer, [change], 'applied', base);
        outcomes.set(change, { how: 'applied' });
      }
    } catch (error) {
      outcomes.set(change, { how: 'kept', why: error instanceof ProxyError ? error.message : String((error as Error).message) });
    }
  }
  return outcomes;
}

export const dropAll = (layer: Layer, changes: readonly Change[]): void => note(layer, changes, 'dropped');

function note(layer: Layer, changes: readonly Change[], how: Known['how'], base?: string): void {
  const lines = changes.flatMap(({ path: file, from, after, before }): LedgerLine[] => {
    const below = how === 'applied' ? base : from === undefined ? before?.id : undefined;
    const own = { path: file, how, layer: after?.id ?? 'whiteout', base: below };
    return from === undefined ? [own] : [own, { path: from, how, layer: 'whiteout', base: how === 'applied' ? undefined : before?.id }];
  });
  if (lines.length > 0) appendLines(ledgerFile(layer), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

const pathsOf = (changes: readonly Change[]): readonly string[] =>
  changes.flatMap(({ path: file, from }) => (from === undefined ? [file] : [from, file]));

/** Decided paths that the agent does not see as they are below. */
async function staleIn(layer: Layer): Promise<readonly string[]> {
  const stale: string[] = [];
  for (const [file, { how, layer: id, base }] of readLedger(layer).known) {
    if (how === 'waiting') continue;
    const entry = await entryAt(inLayer(layer, file)).catch(() => undefined);
    if (entry?.id !== id) continue; // the agent has changed it since, or it has been renewed
    const below = await entryAt(file).catch(() => undefined);
    if (how === 'dropped' || below?.id !== base) stale.push(file);
  }
  return stale;
}

/** Before the layer is mounted: what is decided shows the file below. */
function removeDecided(layer: Layer): void {
  for (const [file, { how, layer: id }] of readLedger(layer).known) {
    const at = inLayer(layer, file);
    try {
      // An agent may have left a link in the place of a directory.
      if (how === 'waiting' || realpathSync(path.dirname(at)) !== path.dirname(at)) continue;
      const stats = lstatSync(at, { bigint: true });
      const isWhiteout = stats.isCharacterDevice() && stats.rdev === 0n;
      if (!stats.isDirectory() && (isWhiteout ? 'whiteout' : identityOf(stats)) === id) unlinkSync(at);
    } catch {
      // The layer does not have it any more.
    }
  }
}

/** Removes a layer without changes that wait, unless a process uses it. */
export async function removeIfDecided(layer: Layer): Promise<boolean> {
  if (ownerOf(layer) !== undefined || !readLayer(layer.directory)) return false;
  if ((await changesIn(layer)).length > 0) return false;
  removeLayer(layer, (directory) => chmodSync(directory, 0o700));
  return true;
}
