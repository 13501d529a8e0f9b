// The policy of `switchboard serve` when nobody has configured one: the page can start agents, so what they want to do is asked on it.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { packageFile } from '../../app/package-files.ts';
import type { PolicySource } from '../../config/config.ts';
import { userConfigFile } from '../../config/discover.ts';
import { type ConfigFlags, surroundings } from '../resolve-config.ts';

export type DefaultPolicy = {
  /** As it comes with the switchboard. */
  readonly shipped: string;
  /** The user's own, once a rule was saved. */
  readonly own: string;
  source(): PolicySource;
};

export function defaultPolicy(flags: ConfigFlags): DefaultPolicy {
  const from = userConfigFile(surroundings(flags));
  const shipped = packageFile('config', 'policies', 'console.yaml');
  const own = path.join(path.dirname(from), 'console-policy.yaml');
  return {
    shipped,
    own,
    source: () => ({ layer: 'user', from, policy: existsSync(own) ? own : shipped, isFromTrusted: true }),
  };
}
