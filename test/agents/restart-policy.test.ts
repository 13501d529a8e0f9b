import { describe, expect, test } from 'vitest';
import { createRestartPolicy } from '../../src/agents/restart-policy.ts';

describe('an agent that does not get as far as initialize', () => {
  test('is tried again after one second, then two, then four, and never later than after sixty', () => {
    const policy = createRestartPolicy({ max: 5, windowS: 60 });
    const waits: number[] = [];
    let nowMs = 0;
    for (let n = 0; n < 9; n++) {
      policy.failedToStart(nowMs);
      const refusal = policy.refusal(nowMs);
      expect(refusal?.kind).toBe('backing-off');
      waits.push(refusal?.waitMs as number);
      nowMs += refusal?.waitMs as number;
      expect(policy.refusal(nowMs)).toBeUndefined();
    }
    expect(waits.map((ms) => ms / 1000)).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
  });
  test('begins with one second again once it has started', () => {
    const policy = createRestartPolicy({ max: 5, windowS: 60 });
    policy.failedToStart(0);
    policy.failedToStart(1000);
    policy.started();
    expect(policy.refusal(1000)).toBeUndefined();
    policy.failedToStart(5000);
    expect(policy.refusal(5000)?.waitMs).toBe(1000);
  });
});

describe('an agent that crashes again and again', () => {
  test('is started at once after each of the first crashes, and left alone after one too many within the window', () => {
    const policy = createRestartPolicy({ max: 2, windowS: 10 });
    for (const nowMs of [0, 1000]) {
      policy.crashed(nowMs);
      expect(policy.refusal(nowMs)).toBeUndefined();
    }
    policy.crashed(2000);
    expect(policy.refusal(2000)).toEqual({ kind: 'crash-loop', waitMs: 8000 });
    expect(policy.restarts).toBe(3);
  });
  test('may start again when enough crashes have passed out of the window', () => {
    const policy = createRestartPolicy({ max: 2, windowS: 10 });
    for (const nowMs of [0, 1000, 2000]) policy.crashed(nowMs);
    expect(policy.refusal(9999)?.kind).toBe('crash-loop');
    expect(policy.refusal(10_000)).toBeUndefined();
  });
  test('is not started again at all when none are allowed', () => {
    const policy = createRestartPolicy({ max: 0, windowS: 10 });
    expect(policy.refusal(0)).toBeUndefined();
    policy.crashed(0);
    expect(policy.refusal(0)?.kind).toBe('crash-loop');
  });
});
