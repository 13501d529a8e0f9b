// How the console names states of agents and of their host tools.
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
