// The table in src/acp/methods.ts does the routing: changing a row changes what happens to the frame.
import { expect, test } from 'vitest';
import { FROM_AGENT, FROM_CLIENT, type Method } from '../../src/acp/methods.ts';
import { open, UNANSWERED } from '../e2e/harness.ts';
import { able, CWD, connected } from './actors.ts';

/** The row without a receiver for the method. */
async function withoutReceiver(row: Method, run: () => Promise<void>): Promise<void> {
  const before = { ...row };
  Object.assign(row, { singleAgent: 'nobody', several: 'nobody' });
  try {
    await run();
  } finally {
    Object.assign(row, before);
  }
}

const cases = (table: Readonly<Record<string, Method>>) =>
  Object.entries(table).flatMap(([method, row]) => [1, 2].map((count) => ({ method, kind: row.kind, row, count })));

test.each(cases(FROM_AGENT))(
  '$method of an agent, a $kind: without a receiver it does not reach the client ($count agents)',
  async ({ method, kind, row, count }) => {
    const left = able('left');
    const client = await connected([left, able('right')].slice(0, count));
    client.on('*', () => UNANSWERED);
    const { id: sessionId } = await open(client, CWD, count === 1 ? undefined : 'left');
    await withoutReceiver(row, async () => {
      const params = { sessionId, terminalId: 't', serverId: 'tools', requestId: 'r', elicitationId: 'e' };
      if (kind === 'request')
        expect(await left.refused(method, params)).toEqual({
          code: -32601,
          message: `Method not found: ${method}`,
          data: { method, reason: 'method_unknown', retryable: false },
        });
      else left.notify(method, params);
      left.notify('_test/behind', { sessionId });
      await client.got('_test/behind');
      expect(client.all(method).filter(({ msg }) => msg.params.terminalId === 't')).toEqual([]);
    });
  },
);

const fromClient = cases(FROM_CLIENT).filter(({ method, kind }) => kind === 'request' && method !== 'initialize');
test.each(fromClient)('$method of the client: without a receiver it is refused ($count agents)', async ({ method, row, count }) => {
  const left = able('left');
  const client = await connected([left, able('right')].slice(0, count));
  const { id: sessionId } = await open(client, CWD, count === 1 ? undefined : 'left');
  await withoutReceiver(row, async () => {
    expect((await client.refused(method, { sessionId, cwd: CWD, mcpServers: [], methodId: 'left/key' })).code).toBe(-32601);
  });
});
