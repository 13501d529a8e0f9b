// The key `bus` of the configuration, with its defaults. Small: every start loads it.
import type { BusOptions } from './options.ts';

export type BusConfig = {
  readonly url: string;
  readonly tenant: string;
  readonly credentials?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly tls: { readonly ca?: string | undefined; readonly cert?: string | undefined; readonly key?: string | undefined };
  readonly replicas: number;
};

/** With the address alone, everything else has its default. */
export function busConfig(options: BusOptions): BusConfig {
  if (typeof options === 'string') return { url: options, tenant: 'default', tls: {}, replicas: 1 };
  const { url, tenant = 'default', credentials, token_file, tls = {}, replicas = 1 } = options;
  return { url, tenant, credentials, tokenFile: token_file, tls, replicas };
}
