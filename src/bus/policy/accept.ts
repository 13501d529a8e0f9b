// Whether a host may use a bundle: signed by a pinned key, no older version than it has seen, and not too old. Pure.
import { NoBundle, readBundle, type SignedBundle } from './bundle.ts';

export type Pinned = {
  /** The public keys whose bundles count. */
  readonly keys: readonly string[];
  /** A shorter life than bundles name themselves. */
  readonly maxAgeMs?: number | undefined;
};

/** The highest version that a host has used. */
export type SeenVersion = { readonly version: number; readonly sha256: string };

export type Accepted = { readonly bundle: SignedBundle; readonly expiresAtMs: number };
export type Refused = { readonly why: string };

/** Clocks of machines differ by this much at most. */
const SKEW_MS = 5 * 60_000;

export function accept(bytes: Buffer, pinned: Pinned, seen: SeenVersion | undefined, nowMs: number): Accepted | Refused {
  let bundle: SignedBundle;
  try {
    bundle = readBundle(bytes);
  } catch (error) {
    if (error instanceof NoBundle) return { why: `what is on the bus cannot be used: ${error.message}` };
    throw error;
  }
  const { version, key, sha256, issuedAtMs } = bundle;
  if (!pinned.keys.includes(key)) return { why: `policy bundle ${version} is signed by ${key}, which "bus.policy.key" does not name` };
  if (seen && version < seen.version)
    return { why: `policy bundle ${version} is older than bundle ${seen.version}, which this host has used` };
  if (seen && version === seen.version && sha256 !== seen.sha256)
    return { why: `policy bundle ${version} is not the one of that version that this host has used` };
  if (issuedAtMs > nowMs + SKEW_MS)
    return { why: `policy bundle ${version} was issued at ${shown(issuedAtMs)}, which is in the future: compare the clocks` };
  const expiresAtMs = issuedAtMs + Math.min(bundle.maxAgeMs, pinned.maxAgeMs ?? Number.POSITIVE_INFINITY);
  if (expiresAtMs <= nowMs) return { why: `policy bundle ${version} expired at ${shown(expiresAtMs)}` };
  return { bundle, expiresAtMs };
}

export const shown = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
