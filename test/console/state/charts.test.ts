// The data of the charts.
import { expect, test } from 'vitest';
import { createCharts } from '../../../src/console/state/charts.ts';

const prompt = { leg: 'mime', session: 's', method: 'session/prompt' };

test('a second is a row: frames, bytes, time in switchboard, and each error once', () => {
  const charts = createCharts();
  charts.passed('editor', 100);
  charts.passed('agent', 50);
  charts.passed('agent', 70);
  for (const ms of [0.1, 0.2, 0.3, 4]) charts.added(ms);
  charts.record({ t: 0, dir: 'fromAgent', kind: 'response', error: -1 });
  charts.record({ t: 0, dir: 'toEditor', kind: 'response', error: -1 }); // the same frame, forwarded
  charts.record({ t: 0, dir: 'toEditor', kind: 'response', error: -1, ours: true });
  charts.record({ t: 0, event: 'down', reason: 'stopped' });
  charts.sample(10_000);
  expect(charts.rows()).toEqual([
    {
      ...{ t: 10, fromClient: 1, fromAgents: 2, bytesFromClient: 100, bytesFromAgents: 120, errors: 2 },
      ...{ addedMedian: 0.3, addedP95: 4, addedMost: 4, turn: null, first: null, wait: null },
    },
  ]);
});

test('turns, first updates and permission waits are timed', () => {
  const charts = createCharts();
  charts.record({ ...prompt, t: 1000, dir: 'toAgent', kind: 'request' });
  charts.record({ ...prompt, t: 1150, method: 'session/update', dir: 'fromAgent', kind: 'notification' });
  charts.record({ ...prompt, t: 1900, method: 'session/update', dir: 'fromAgent', kind: 'notification' });
  charts.record({ ...prompt, t: 2000, method: 'session/request_permission', dir: 'toAgent', kind: 'response', ms: 700 });
  charts.record({ ...prompt, t: 2000, dir: 'fromAgent', kind: 'response', ms: 1000 });
  charts.sample(2000);
  expect(charts.rows()).toMatchObject([{ first: 150, wait: 700, turn: 1000 }]);
});

test('rates are per second, however late a sample is; rows are kept for a quarter of an hour, and gaps stay gaps', () => {
  const charts = createCharts();
  charts.sample(1000);
  for (let n = 0; n < 30; n++) charts.passed('agent', 10);
  charts.sample(4000);
  expect(charts.rows().slice(1)).toMatchObject([{ t: 4, fromAgents: 10, bytesFromAgents: 100 }]);
  charts.pause();
  charts.pause();
  charts.sample(60_000);
  expect(
    charts
      .rows()
      .slice(1)
      .map(({ t, fromAgents }) => [t, fromAgents]),
  ).toEqual([
    [4, 10],
    [5, null],
    [60, 0],
  ]);
  for (let s = 61; s < 2000; s++) charts.sample(s * 1000);
  expect(charts.rows()).toHaveLength(900);
});
