// How the console names states of agents, of their host tools, and where agents run.
import type { RemoteRow } from '../../../src/console/protocol/state.ts';

export const STATE_LABELS: Readonly<Record<string, string>> = {
  idle: 'not started',
  starting: 'starting',
  ready: 'running',
  unhealthy: 'not responding',
  unavailable: 'not available',
  draining: 'ends',
  stopped: 'stopped',
};

export const STEPS: Readonly<Record<string, string>> = {
  offered: 'offered, not connected',
  connected: 'connected',
  listed: 'connected, tools listed',
  called: 'connected, tools called',
};

export const TRANSPORTS: Readonly<Record<RemoteRow['transport'], string>> = { ws: 'WebSocket', http: 'HTTP', ssh: 'ssh', bus: 'bus' };

const FILES: Readonly<Record<RemoteRow['files'], string>> = {
  none: 'its own',
  same: 'same paths as here',
  map: 'as here, under other paths',
};

/** Whose files an agent on another machine works on. */
export const filesOf = ({ transport, files }: Pick<RemoteRow, 'transport' | 'files'>): string =>
  transport === 'bus' ? 'those of its host' : FILES[files];
