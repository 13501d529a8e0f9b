// Rows of the charts that have data.
import { expect, test } from 'vitest';
import { filledRows } from '../../console/components/records/filled-rows.ts';
import { createCharts } from '../../src/console/state/charts.ts';

const prompt = { leg: 'mime', session: 's', method: 'session/prompt' };

test('an update within the millisecond of its prompt is in the table of first updates; idle seconds are in no table', () => {
  const charts = createCharts();
  charts.sample(1000);
  charts.record({ ...prompt, t: 1500, dir: 'toAgent', kind: 'request' });
  charts.record({ ...prompt, t: 1500, method: 'session/update', dir: 'fromAgent', kind: 'notification' });
  charts.passed('agent', 10);
  charts.sample(2000);
  charts.pause();
  const [, second] = charts.rows();
  expect(filledRows({ lines: [{ key: 'first' }], isSparse: true }, charts.rows())).toEqual([second]);
  expect(filledRows({ lines: [{ key: 'fromAgents' }, { key: 'fromClient' }] }, charts.rows())).toEqual([second]);
});
