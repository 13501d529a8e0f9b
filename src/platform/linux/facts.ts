// Linux, and what other Unix systems share with it: the XDG specification, modes, process groups.
import path from 'node:path';
import type { Platform } from '../platform.ts';

export const linux: Platform = {
  configHome: (env, home) => xdg(env.XDG_CONFIG_HOME) ?? path.join(home, '.config'),
  unixConfigHome: (env, home) => xdg(env.XDG_CONFIG_HOME) ?? path.join(home, '.config'),
  stateHome: (env, home) => path.join(xdg(env.XDG_STATE_HOME) ?? path.join(home, '.local', 'state'), 'acp-switchboard'),
  managedPolicy: () => '/etc/acp-switchboard/policy.yaml',
  desktopPath: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
  path: path.posix,
  fileProblem: () => undefined,
  pseudoFiles: ['/proc', '/sys', '/dev'],
  programEndings: () => [''],
  python: { bin: 'bin', ending: '' },
  opener: 'xdg-open',
  shell: 'posix',
  endingSignals: ['SIGTERM', 'SIGINT'],
  hasUserSignals: true,
  hasProcessGroups: true,
  processes: 'proc',
  hasModes: true,
  replacesOpenFiles: true,
  restrictsLinks: false,
  hasNamedPipes: false,
  sandbox: 'bubblewrap',
};

/** The specification says to ignore relative paths. */
function xdg(value: string | undefined): string | undefined {
  return value !== undefined && path.isAbsolute(value) ? value : undefined;
}
