// How the bench evaluates goals, on invented figures.
import { describe, expect, test } from 'vitest';

// Plain JavaScript without types, so it is imported by its address.
const at = (file: string) => import(new URL(`../../bench/${file}`, import.meta.url).href);
const { evaluate, goals } = await at('goals.mjs');
const { allWorkloads } = await at('lib/workloads.mjs');

const figure = (best: number) => ({ best, median: best, n: 5 });
const burst = (cpuUs: Record<string, number>) => ({
  burst: Object.fromEntries(Object.entries(cpuUs).map(([variant, value]) => [variant, { cpuUs: figure(value) }])),
});
const statusOf = (id: string, results: unknown, features: string[] = []) =>
  evaluate(results, features).find((goal: { id: string }) => goal.id === id).status;

describe('a goal', () => {
  test.each([
    ['met at its limit', { raw: 0.3, ours: 1.5 }, 'met'],
    ['missed beyond it', { raw: 0.3, ours: 1.51 }, 'missed'],
    ['not measured without the figures', { ours: 1.5 }, 'not measured'],
  ])('is %s', (_, cpuUs, status) => {
    expect(statusOf('G1', burst(cpuUs))).toBe(status);
  });

  test('with a lower limit is missed below it', () => {
    expect(statusOf('G13', burst({ ours: 1, naive: 2, jsonrpc: 5, sdk: 15 }))).toBe('met');
    expect(statusOf('G13', burst({ ours: 1, naive: 1.9, jsonrpc: 5, sdk: 15 }))).toBe('missed');
  });

  test('with several checks is missed when one of them is missed, and met in part when others were not measured', () => {
    expect(statusOf('G13', burst({ ours: 1, naive: 1.5 }))).toBe('missed');
    expect(statusOf('G13', burst({ ours: 1, naive: 2.5 }))).toBe('met in part');
  });

  test('uses the variant without log and transcripts if there is one', () => {
    expect(statusOf('G1', burst({ raw: 0.3, ours: 2, bare: 1.4 }))).toBe('met');
    expect(statusOf('G1', burst({ raw: 0.3, ours: 2.2, bare: 1.4 }))).toBe('missed');
  });

  test('of a missing feature is neither met nor missed', () => {
    const results = burst({ raw: 0.3, bare: 1, logged: 2 });
    expect(statusOf('G12', results)).toBe('not yet');
    expect(statusOf('G12', results, ['frame log'])).toBe('missed');
  });

  test('with heldAt fails the gate only beyond that value', () => {
    const cold = (ours: number) => ({ single: { raw: { coldCpuMs: figure(10) }, ours: { coldCpuMs: figure(ours) } } });
    const held = (ours: number) => evaluate(cold(ours), []).find((goal: { id: string }) => goal.id === 'G3');
    const [{ atMost, heldAt }] = goals.find(({ id }: { id: string }) => id === 'G3').checks;
    expect(held(10 * atMost)).toMatchObject({ status: 'met', isHeld: false });
    expect(held(10 * heldAt)).toMatchObject({ status: 'missed', isHeld: true });
    expect(held(10 * heldAt + 1)).toMatchObject({ status: 'missed', isHeld: false });
    expect(evaluate(burst({ raw: 0.3, ours: 9 })).find((goal: { id: string }) => goal.id === 'G1').isHeld).toBe(false);
  });

  test('is missed when our variant failed, whatever the figures', () => {
    expect(statusOf('G1', { burst: { raw: { cpuUs: figure(1) }, ours: { failure: 'a frame is wrong' } } })).toBe('missed');
  });
});

test('there are twenty-one goals, and each needs workloads that exist', async () => {
  const names = (await allWorkloads()).map(({ name }: { name: string }) => name);
  expect(goals.map(({ id }: { id: string }) => id)).toEqual(Array.from({ length: 21 }, (_, index) => `G${index + 1}`));
  for (const { needs } of goals) expect(names).toEqual(expect.arrayContaining(needs));
});

test('every figure of a goal comes from one of its workloads', async () => {
  const workloads = await allWorkloads();
  for (const { id, needs, checks } of goals)
    for (const { of } of checks)
      of((path: string) => {
        const [name, variant, metric] = path.split('.');
        const workload = workloads.find((one: { name: string }) => one.name === name);
        expect(needs, `${id} reads ${path}`).toContain(name);
        expect(workload.variants, `${id} reads ${path}`).toContain(variant);
        expect(Object.keys(workload.metrics), `${id} reads ${path}`).toContain(metric);
        return 1;
      });
});
