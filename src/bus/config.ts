// The key `bus` of the configuration, with its defaults. Small: every start loads it.
import type { BusOptions } from './options.ts';

export type BusConfig = {
  readonly url: string;
  readonly tenant: string;
  readonly name?: string | undefined;
  readonly credentials?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly tls: { readonly ca?: string | undefined; readonly cert?: string | undefined; readonly key?: string | undefined };
  readonly replicas: number;
  /** Hosts obey policy bundles that one of these keys signed. */
  readonly policy?: { readonly keys: readonly string[]; readonly maxAgeMs?: number | undefined } | undefined;
};

/** An Ed25519 public key: its 32 bytes in base64url. */
export const PUBLIC_KEY = /^ed25519:([\w-]{43})$/;

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `24h`; undefined for what is no duration. */
export function durationMs(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (UNIT_MS[unit] ?? 0);
}

/** With the address alone, everything else has its default. */
export function busConfig(options: BusOptions): BusConfig {
  if (typeof options === 'string') return { url: options, tenant: 'default', tls: {}, replicas: 1 };
  const { url, tenant = 'default', name, credentials, token_file, tls = {}, replicas = 1, policy } = options;
  const pinned = policy && {
    keys: [policy.key].flat(),
    ...(policy.max_age !== undefined && { maxAgeMs: durationMs(policy.max_age) }),
  };
  return { url, tenant, name, credentials, tokenFile: token_file, tls, replicas, ...(pinned && { policy: pinned }) };
}
