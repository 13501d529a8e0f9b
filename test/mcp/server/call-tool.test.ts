// One call of a host tool, without a server.
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { callTool } from '../../../src/mcp/server/call-tool.ts';
import type { HostTool, SessionHost } from '../../../src/mcp/server/tool.ts';

const host = { sessionId: 's1', agent: 'one', cwd: '/w', roots: [] } as unknown as SessionHost;
const caller = () => ({ abort: new AbortController(), progress: () => {} });
const tool = (timeoutMs: number, run: HostTool['run']) =>
  ({ name: 'build', server: 'switchboard', timeoutMs, effect: 'execute', run }) as unknown as HostTool;

test("a tool's time limit starts when the call is allowed, however long the decision took", async () => {
  const gate = async () => {
    await once(AbortSignal.timeout(40), 'abort');
    return { allow: true } as const;
  };
  const outcome = await callTool(
    tool(20, async () => ({ content: [{ type: 'text', text: 'done' }] })),
    {},
    host,
    caller(),
    { gate, check: async () => undefined, onEvent: () => {}, maxOutputBytes: 1000 },
  );
  expect(outcome).toEqual({ content: [{ type: 'text', text: 'done' }] });
});

// Seed 92013575 of the simulator.
test('a call that is cancelled right behind its decision does not run', async () => {
  const { abort, progress } = caller();
  let isRun = false;
  const gate = () => {
    const decided = Promise.resolve({ allow: true } as const);
    void decided.then(() => queueMicrotask(() => abort.abort())); // behind the check of the gate, before the call goes on
    return decided;
  };
  const build = tool(1000, async () => {
    isRun = true;
    return { content: [] };
  });
  const deps = { gate, check: async () => undefined, onEvent: () => {}, maxOutputBytes: 1000 };
  const outcome = await callTool(build, {}, host, { abort, progress }, deps);
  expect([isRun, outcome.isError]).toEqual([false, true]);
});

test.each([
  ['structured content', { structuredContent: { all: 'x'.repeat(2000) } }],
  ['what it says of itself', { _meta: { all: 'x'.repeat(2000) } }],
  ['something that nobody knows', { all: 'x'.repeat(2000) }],
])('%s counts as output: it is left out if it is too long, with a note', async (_, other) => {
  const deps = { gate: async () => ({ allow: true }) as const, check: async () => undefined, onEvent: () => {}, maxOutputBytes: 1000 };
  const run = (more: object) =>
    callTool(
      tool(1000, async () => ({ content: [{ type: 'text', text: 'done' }], ...more })),
      {},
      host,
      caller(),
      deps,
    );
  expect(await run({ isError: true, ...other })).toEqual({
    isError: true,
    content: [
      { type: 'text', text: 'done' },
      { type: 'text', text: "[cut: a tool's output may have 1000 bytes]" },
    ],
  });
  expect(await run({ structuredContent: { few: 1 } })).toEqual({
    content: [{ type: 'text', text: 'done' }],
    structuredContent: { few: 1 },
  });
});

test('a tool that ignores its abort signal is not awaited beyond its limit', async () => {
  const outcome = await callTool(
    tool(20, () => new Promise(() => {})),
    {},
    host,
    caller(),
    { gate: async () => ({ allow: true }), check: async () => undefined, onEvent: () => {}, maxOutputBytes: 1000 },
  );
  expect(outcome).toMatchObject({ isError: true, content: [{ text: 'build failed: it did not finish within 20 ms' }] });
});
