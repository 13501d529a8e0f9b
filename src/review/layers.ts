// The layers in the state directory: one for each session at the level `review`. A layer stays until all of its changes are decided.
import { closeSync, constants, lstatSync, openSync, readdirSync, readFileSync, realpathSync, rmSync, unlinkSync, writeSync } from 'node:fs';
import path from 'node:path';
import { isObject } from '../json-object.ts';
import { makeDirectory, replaceFile } from '../private-files.ts';
import { lockOwner, mayBeAlive } from '../processes/lock-owner.ts';
import type { Known } from './changes.ts';

export type Layer = {
  readonly id: string;
  readonly directory: string;
  /** Canonical, outermost only. The layer of root `n` is in the directory `n`. */
  readonly roots: readonly string[];
  readonly agent: string;
  /** Undefined until the session is open. */
  readonly sessionId: string | undefined;
  /** When its first process started. */
  readonly since: string;
};

export const layersDirectory = (stateDir: string): string => path.join(stateDir, 'layers');

export const partsOf = ({ directory }: Pick<Layer, 'directory'>, index: number) => {
  const at = (name: string) => path.join(directory, String(index), name);
  return { upper: at('upper'), work: at('work'), lower: at('lower'), view: at('view') };
};

/** Creates it if need be. */
export function openLayer(stateDir: string, id: string, { roots, agent }: Pick<Layer, 'roots' | 'agent'>, now: string): Layer {
  makeDirectory(layersDirectory(stateDir));
  const directory = path.join(realpathSync(layersDirectory(stateDir)), id);
  const known = readLayer(directory);
  if (known) return known;
  roots.forEach((_, index) => {
    for (const part of Object.values(partsOf({ directory }, index))) makeDirectory(part);
  });
  const layer: Layer = { id, directory, roots, agent, sessionId: undefined, since: now };
  writeLayer(layer);
  return layer;
}

export function bindLayer(layer: Layer, sessionId: string): Layer {
  const bound = { ...layer, sessionId };
  writeLayer(bound);
  return bound;
}

function writeLayer({ directory, roots, agent, sessionId, since }: Layer): void {
  replaceFile(path.join(directory, 'layer.json'), `${JSON.stringify({ roots, agent, sessionId, since })}\n`);
}

/** Undefined if there is none, or none that can be read. */
export function readLayer(directory: string): Layer | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path.join(directory, 'layer.json'), 'utf8'));
    if (!isObject(value) || !Array.isArray(value.roots) || typeof value.agent !== 'string') return undefined;
    const { roots, agent, sessionId, since } = value;
    return {
      ...{ id: path.basename(directory), directory, roots, agent, since: String(since) },
      sessionId: typeof sessionId === 'string' ? sessionId : undefined,
    };
  } catch {
    return undefined;
  }
}

export function allLayers(stateDir: string): readonly Layer[] {
  let names: string[];
  try {
    names = readdirSync(layersDirectory(stateDir));
  } catch {
    return [];
  }
  const directory = realpathSync(layersDirectory(stateDir));
  return names.flatMap((name) => readLayer(path.join(directory, name)) ?? []);
}

/** The layer of a session, or one by its own id. */
export const findLayer = (stateDir: string, named: string): Layer | undefined =>
  allLayers(stateDir).find(({ id, sessionId }) => sessionId === named || id === named);

const ownerFile = ({ directory }: Layer): string => path.join(directory, 'owner');

/** The process that has the layer mounted; undefined if none is alive. */
export function ownerOf(layer: Layer): string | undefined {
  try {
    const owner = readFileSync(ownerFile(layer), 'utf8');
    return mayBeAlive(owner) ? owner : undefined;
  } catch {
    return undefined;
  }
}

/** False if another process has it: a layer must not be mounted twice. */
export function ownLayer(layer: Layer): boolean {
  for (let tries = 0; tries < 3; tries++) {
    try {
      const file = openSync(ownerFile(layer), constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
      writeSync(file, lockOwner());
      closeSync(file);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const owner = ownerOf(layer);
    if (owner === lockOwner()) return true;
    if (owner !== undefined) return false;
    disownLayer(layer);
  }
  return false;
}

export function disownLayer(layer: Layer): void {
  try {
    unlinkSync(ownerFile(layer));
  } catch {
    // Another process has removed it.
  }
}

/** The kernel leaves a directory without permissions in `work`, and an agent may have made others. */
export function removeLayer({ directory }: Layer, chmod: (directory: string) => void): void {
  openUp(directory, chmod);
  rmSync(directory, { recursive: true, force: true });
}

function openUp(directory: string, chmod: (directory: string) => void): void {
  chmod(directory);
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const at = path.join(directory, entry.name);
    if (entry.isDirectory() && lstatSync(at).isDirectory()) openUp(at, chmod);
  }
}

// The ledger: what was decided about each path, as JSON lines.

export type LedgerLine = { readonly path: string } & Known;
export type Ledger = { readonly known: ReadonlyMap<string, Known> /** When the last turn began. */; readonly turnNs: bigint };

export const ledgerFile = ({ directory }: Pick<Layer, 'directory'>): string => path.join(directory, 'ledger.jsonl');

/** The last line about a path counts. A line that a killed process left incomplete is skipped. */
export function readLedger(layer: Layer): Ledger {
  const known = new Map<string, Known>();
  let turnNs = BigInt(Date.parse(layer.since) || 0) * 1_000_000n;
  let text = '';
  try {
    text = readFileSync(ledgerFile(layer), 'utf8');
  } catch {
    // No turn has begun.
  }
  for (const line of text.split('\n')) {
    try {
      const value = JSON.parse(line) as Partial<LedgerLine> & { turn?: string };
      if (value.turn !== undefined) turnNs = BigInt(value.turn);
      if (value.path !== undefined && value.how !== undefined)
        known.set(value.path, { how: value.how, layer: value.layer, base: value.base });
    } catch {
      // Not a line.
    }
  }
  return { known, turnNs };
}
