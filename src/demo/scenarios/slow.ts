// Speaks slowly, so that there is something to cancel and something to interleave with.
import { setTimeout as delay } from 'node:timers/promises';
import type { Scene } from './scenario.ts';
import { SceneFailure } from './scene-failure.ts';

const CHUNK_EVERY_MS = 50;
const DEFAULT_SECONDS = 2;
const MAX_SECONDS = 600;

export const slow: Scene = async (turn, { rest }) => {
  const seconds = rest === '' ? DEFAULT_SECONDS : Number(rest);
  if (!(seconds >= 0 && seconds <= MAX_SECONDS)) throw new SceneFailure(`How many seconds, up to ${MAX_SECONDS}? Try /slow 2.`);
  const chunks = Math.ceil((seconds * 1000) / CHUNK_EVERY_MS);
  for (let chunk = 1; chunk <= chunks; chunk += 1) {
    await turn.sayChunk(`${chunk} of ${chunks}\n`);
    await delay(CHUNK_EVERY_MS, undefined, { signal: turn.signal });
  }
  await turn.sayChunk('Done.');
};
