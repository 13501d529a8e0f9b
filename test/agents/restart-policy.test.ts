// When an agent that failed is started again.
import { describe, expect, test } from 'vitest';
import { createRestartPolicy, unlimitedRestarts } from '../../src/agents/restart-policy.ts';

describe('an agent that fails before it answers initialize', () => {
  test('is retried after one second, then two, then four, and at most sixty', () => {
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
  test('is retried after one second again once it has started', () => {
    const policy = createRestartPolicy({ max: 5, windowS: 60 });
    policy.failedToStart(0);
    policy.failedToStart(1000);
    policy.started();
    expect(policy.refusal(1000)).toBeUndefined();
    policy.failedToStart(5000);
    expect(policy.refusal(5000)?.waitMs).toBe(1000);
  });
});

describe('an agent that crashes repeatedly', () => {
  test('is restarted at once after the first crashes, and not after too many within the window', () => {
    const policy = createRestartPolicy({ max: 2, windowS: 10 });
    for (const nowMs of [0, 1000]) {
      policy.crashed(nowMs);
      expect(policy.refusal(nowMs)).toBeUndefined();
    }
    policy.crashed(2000);
    expect(policy.refusal(2000)).toEqual({ kind: 'crash-loop', waitMs: 8000 });
    expect(policy.restarts).toBe(3);
  });
  test('is restarted again once enough crashes are older than the window', () => {
    const policy = createRestartPolicy({ max: 2, windowS: 10 });
    for (const nowMs of [0, 1000, 2000]) policy.crashed(nowMs);
    expect(policy.refusal(9999)?.kind).toBe('crash-loop');
    expect(policy.refusal(10_000)).toBeUndefined();
  });
  test('is never restarted if no restarts are allowed', () => {
    const policy = createRestartPolicy({ max: 0, windowS: 10 });
    expect(policy.refusal(0)).toBeUndefined();
    policy.crashed(0);
    expect(policy.refusal(0)?.kind).toBe('crash-loop');
  });
});

test('an agent on the bus may always start again: a host that dies takes many connections with it, and the next host is free', () => {
  const policy = unlimitedRestarts();
  for (let n = 0; n < 100; n++) {
    policy.crashed(n);
    policy.failedToStart(n);
  }
  expect([policy.refusal(100), policy.restarts]).toEqual([undefined, 100]);
});
