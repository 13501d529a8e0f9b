// Helpers for workloads: steps for the load client, and figures from its results.

export const rounds = (count, options) => Array.from({ length: count }, () => `round:${options}`);
export const ofStep = (results, step) => results.filter((result) => result.step === step);

/** NaN, and so no sample, where the system does not count CPU time. */
export const cpu = ({ cpuNs }) => (cpuNs >= 0 ? cpuNs : Number.NaN);
export const cpuUsPerFrame = (round) => cpu(round) / round.frames / 1000;
export const megabytesPerSecond = ({ bytes, wallNs }) => bytes / 1e6 / (wallNs / 1e9);
export const mb = (kb) => kb / 1024;

export const frames = (count, share) => Math.max(1, Math.round(count * share));
