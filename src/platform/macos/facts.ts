// macOS: a Unix with places of its own, without /proc.
import path from 'node:path';
import { linux } from '../linux/facts.ts';
import type { Platform } from '../platform.ts';

const support = (home: string) => path.join(home, 'Library', 'Application Support');

export const macos: Platform = {
  ...linux,
  configHome: (_, home) => support(home),
  unixConfigHome: (_, home) => path.join(home, '.config'),
  stateHome: (_, home) => path.join(support(home), 'acp-switchboard', 'state'),
  managedPolicy: () => '/Library/Application Support/acp-switchboard/policy.yaml',
  opener: 'open',
  processes: 'ps',
  sandbox: 'seatbelt',
};
