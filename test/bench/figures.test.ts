// How the bench sums up, names its peers and draws.
import { describe, expect, test } from 'vitest';

const at = (file: string) => import(new URL(`../../bench/${file}`, import.meta.url).href);
const { collect, summary } = await at('lib/collect.mjs');
const { RunFailure } = await at('lib/measure.mjs');
const { evaluate } = await at('goals.mjs');
const { peers } = await at('lib/variants.mjs');
const { table } = await at('lib/report.mjs');
const { chart } = await at('lib/chart.mjs');
const { digest, makeFrames } = await at('lib/load-frames.mjs');

describe('a summary', () => {
  test('keeps the best and the median', () => {
    expect(summary([3, 1, 2])).toEqual({ best: 1, median: 2, n: 3 });
    expect(summary([3, 1, 2], 'higher')).toEqual({ best: 3, median: 2, n: 3 });
  });

  test('leaves out what could not be measured', () => {
    expect(summary([Number.NaN, 2])).toEqual({ best: 2, median: 2, n: 1 });
    expect(summary([Number.NaN])).toBeUndefined();
  });
});

test('a workload whose program ends has no figures and misses its goal', async () => {
  const measure = async () => {
    throw new RunFailure('exit code 1');
  };
  const results = await collect([{ name: 'remote', measure }], {});
  expect(results).toEqual({ remote: { ours: { failure: 'exit code 1' } } });
  expect(evaluate(results).find(({ id }: { id: string }) => id === 'G19').status).toBe('missed');
});

describe('BENCH_PEERS', () => {
  const agents = [['load', 'agent', 'a0']];

  test.each([
    ['mux=acp-mux --fast', ['acp-mux', '--fast', 'load', 'agent', 'a0'], false],
    ['mux=acp-mux {agent} --fast', ['acp-mux', 'load', 'agent', 'a0', '--fast'], false],
    ['mux=node p.mjs {agents}', ['node', 'p.mjs', JSON.stringify(agents)], true],
  ])('%s', (text, command, several) => {
    const { mux } = peers(text);
    expect(mux.command(agents, '/nowhere')).toEqual(command);
    expect(mux.several).toBe(several);
  });

  test('names several, and one that is built on the SDK', () => {
    expect(Object.keys(peers('a=x; b@sdk=y'))).toEqual(['a', 'b']);
    expect(peers('b@sdk=y').b.layout).toBe('sdk');
    expect(peers(undefined)).toEqual({});
  });
});

test('a table lines up, figures to the right', () => {
  expect(table(['variant', 'µs'], [['raw', '0.31']])).toBe('| variant |   µs |\n| ------- | ---: |\n| raw     | 0.31 |');
});

test('the chart draws what was measured, and nothing when nothing was', () => {
  expect(chart(undefined, '')).toBeUndefined();
  const svg = chart({ raw: { cpuUs: { best: 0.3 } }, ours: { cpuUs: { best: 1.5 } }, sdk: { failure: 'no' } }, 'today');
  expect(svg).toContain('1.5 µs (5.0x raw)');
  expect(svg.match(/<rect/g)).toHaveLength(2);
  expect(svg).not.toContain('SDK');
});

describe('frames of the load', () => {
  test.each(['small', 'diff', 'base64', 'note'])('%s: each is valid JSON with its number in it, in either order of members', (kind) => {
    for (const layout of ['usual', 'sdk']) {
      const text = makeFrames(kind, 2000, 'ses_1', layout)(1234).toString();
      expect(text.endsWith('\n')).toBe(true);
      expect(JSON.parse(text).params.sessionId).toBe('ses_1');
      expect(text).toContain('00001234');
    }
  });

  test('a digest tells order, content and length apart', () => {
    const of = (...texts: string[]) => texts.reduce((sum, text) => digest(sum, Buffer.from(text), 0, Buffer.byteLength(text)), 0);
    const all = [of('abcd', 'efgh'), of('efgh', 'abcd'), of('abcd', 'efgi'), of('abcd', 'efg'), of('abcd')];
    expect(new Set(all).size).toBe(all.length);
  });
});
