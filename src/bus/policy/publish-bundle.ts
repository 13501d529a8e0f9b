// Puts a policy bundle on the bus, where hosts find it.
import { type Bus, BusFailure } from '../bus.ts';
import { NoBundle, readBundle, type SignedBundle } from './bundle.ts';

/** The one key of the directory. */
export const BUNDLE_KEY = 'bundle';

export type Published = {
  readonly isNew: boolean;
  /** What was there before, and is no bundle of this key. */
  readonly replaced: string | undefined;
};

const TRIES = 5;

/** Rejects with `NoBundle` if the bus has a newer one of this key. */
export async function publishBundle(bus: Bus, name: string, bytes: Buffer): Promise<Published> {
  const bundle = readBundle(bytes);
  const directory = await bus.directory(name);
  for (let tries = 0; tries < TRIES; tries++) {
    const entry = await directory.get(BUNDLE_KEY);
    if (entry?.value.equals(bytes)) return { isNew: false, replaced: undefined };
    const replaced = entry && foreign(entry.value, bundle);
    const written = entry ? await directory.update(BUNDLE_KEY, bytes, entry.revision) : await directory.create(BUNDLE_KEY, bytes);
    if (written !== undefined) return { isNew: true, replaced };
  }
  throw new BusFailure('refused', 'others publish bundles at the same time');
}

/** A bundle that another process put there must not keep ours from its place. */
function foreign(bytes: Buffer, { version, key }: SignedBundle): string | undefined {
  let there: SignedBundle;
  try {
    there = readBundle(bytes);
  } catch (error) {
    if (error instanceof NoBundle) return error.message;
    throw error;
  }
  if (there.key !== key) return `it was signed by ${there.key}`;
  if (there.version >= version) throw new NoBundle(`the bus has bundle ${there.version}, and versions only rise`);
  return undefined;
}
