// What becomes of a prompt during a turn, by the setting and by what the agent announces.
import { expect, test } from 'vitest';
import { whileRunning } from '../../src/router/while-running.ts';

const STEERS = { protocolVersion: 1, _meta: { steering: { supported: true } } };
const QUEUES = { protocolVersion: 1, agentCapabilities: { _meta: { claudeCode: { promptQueueing: true } } } };
const PLAIN = {
  protocolVersion: 1,
  agentCapabilities: { _meta: { vendor: null, other: { promptQueueing: 'yes' } } },
  _meta: { steering: true },
};

test.each([
  ['pass', PLAIN, 'pass'],
  ['queue', PLAIN, 'queue'],
  ['queue', STEERS, 'queue'],
  ['queue', QUEUES, 'pass'],
  ['steer', PLAIN, 'queue'],
  ['steer', undefined, 'queue'],
  ['steer', STEERS, 'steer'],
  ['steer', QUEUES, 'pass'],
  ['steer', { ...STEERS, ...QUEUES }, 'steer'],
  ['refuse', QUEUES, 'refuse'],
] as const)('%s with %j is %s', (wanted, initialized, expected) => {
  expect(whileRunning(wanted, initialized)).toBe(expected);
});

test.each([
  ['queue', 'steer', STEERS, 'steer'],
  ['pass', 'steer', { ...STEERS, ...QUEUES }, 'steer'],
  ['pass', 'steer', PLAIN, 'pass'],
  ['queue', 'steer', PLAIN, 'queue'],
  ['steer', 'queue', STEERS, 'queue'],
  ['steer', 'queue', { ...STEERS, ...QUEUES }, 'pass'],
  ['pass', 'queue', PLAIN, 'queue'],
  ['queue', 'refuse', PLAIN, 'queue'],
  ['refuse', 'steer', STEERS, 'refuse'],
] as const)('%s, and the client asks for %s of %j: %s', (wanted, asked, initialized, expected) => {
  expect(whileRunning(wanted, initialized, asked)).toBe(expected);
});
