// An agent's request has two sides, the agent's and the client's. They close separately.
import { expect, test } from 'vitest';
import type { Agent } from '../../../src/proxy/agents/agent.ts';
import { resultLine } from '../../../src/proxy/json-rpc-lines.ts';
import { type AgentRequest, createAgentRequests } from '../../../src/proxy/requests/agent-requests.ts';
import { createSession } from '../../../src/proxy/sessions/session.ts';
import type { Frame } from '../../../src/wire/frame.ts';
import { parseLine } from '../../../src/wire/scanner/strict-parse.ts';

function setup(method = 'session/request_permission') {
  const toClient: {
    readonly id?: number;
    readonly method?: string;
    readonly params?: { readonly requestId?: number; readonly terminalId?: string };
  }[] = [];
  const toAgent: [string, unknown][] = [];
  const counters = { strayAnswers: 0 };
  const client = { notify() {}, line: (line: string) => void toClient.push(JSON.parse(line)) };
  const requests = createAgentRequests({ client, counters });
  const agent = {
    succeed: (idText: string, result: string) => void toAgent.push([idText, JSON.parse(result)]),
    fail: (idText: string, error: { readonly key: string }) => void toAgent.push([idText, error.key]),
    answer: (answer: Frame, idText: string) => void toAgent.push([idText, answer.outcome]),
  } as unknown as Agent;
  const session = createSession('s', agent, 's', undefined);
  const put = (n: number, more: Partial<AgentRequest> = {}) =>
    requests.putOwn({ idText: String(n), method, agent, session, ...more }, '{}');
  const answer = (key: string) => requests.answered(parseLine(resultLine(key, '{}')) as Frame);
  const withdrawn = () => toClient.flatMap(({ method, params }) => (method === '$/cancel_request' ? [String(params?.requestId)] : []));
  return { requests, agent, session, put, answer, withdrawn, toClient, toAgent, counters };
}

const cancelled = { outcome: { outcome: 'cancelled' } };

test("the client's answer closes both sides, and a second answer counts as stray", () => {
  const { requests, agent, session, put, answer, toAgent, counters } = setup();
  const { key } = put(7);
  expect([requests.isWaiting(session), requests.find(agent, '7')?.key]).toEqual([true, key]);
  answer(key);
  answer(key);
  expect([toAgent, counters.strayAnswers]).toEqual([[['7', 'result']], 1]);
  expect([requests.isWaiting(session), requests.find(agent, '7')]).toEqual([false, undefined]);
});

test("a cancelled turn closes the agent's side only: the client's late answer is dropped, and the session's end withdraws the request", () => {
  const { requests, agent, session, put, answer, withdrawn, toAgent } = setup();
  const [first, second] = [put(1), put(2)];
  requests.cancel(session);
  expect(toAgent).toEqual([
    ['1', cancelled],
    ['2', cancelled],
  ]);
  expect([requests.isWaiting(session), requests.find(agent, '1')?.isOpen, withdrawn()]).toEqual([false, false, []]);
  answer(first.key);
  requests.endOf(session);
  requests.endOf(session);
  expect([toAgent.length, withdrawn()]).toEqual([2, [second.key]]);
});

test("a request is withdrawn once, even if its agent's connection ends after its session", () => {
  const { requests, agent, session, put, withdrawn } = setup();
  const request = put(1);
  requests.withdraw(request);
  requests.withdraw(request);
  requests.endOf(session);
  requests.endOfConnection(agent);
  expect([withdrawn(), request.isOpen]).toEqual([[request.key], false]);
});

test('a request that the protocol cannot cancel stays open when the turn is cancelled, and fails when the session ends', () => {
  const { requests, session, put, withdrawn, toAgent } = setup('_vendor/ask');
  const { key } = put(1);
  requests.cancel(session);
  expect([toAgent, requests.isWaiting(session)]).toEqual([[], true]);
  requests.endOf(session);
  expect([toAgent, withdrawn()]).toEqual([[['1', 'SESSION_UNKNOWN']], [key]]);
});

test('the late answer to a withdrawn terminal/create of our own releases the terminal, once', () => {
  const { requests, toClient } = setup();
  requests.ask('terminal/create', '{"sessionId":"s"}', () => {})();
  for (let times = 2; times > 0; times--) requests.answered(parseLine(resultLine('0', '{"terminalId":"t1"}')) as Frame);
  expect(toClient.slice(2)).toMatchObject([{ method: 'terminal/release', params: { sessionId: 's', terminalId: 't1' } }]);
});

test('a request of our own is withdrawn once, and not after its answer', () => {
  const { requests, answer, withdrawn, counters } = setup();
  const answers: unknown[] = [];
  const ask = () => requests.ask('elicitation/create', '{}', ({ outcome }) => answers.push(outcome));
  const [first, second] = [ask(), ask()];
  expect([requests.methodOf('0'), requests.methodOf('1')]).toEqual(['elicitation/create', 'elicitation/create']);
  answer('0');
  for (const withdraw of [first, second, second]) withdraw();
  answer('1');
  expect([answers, withdrawn(), counters.strayAnswers]).toEqual([['result'], ['1'], 1]);
});

test('requests that we have answered and the client never does are forgotten, the oldest first', () => {
  const { requests, agent, session, put } = setup();
  for (let n = 0; n < 1100; n++) put(n);
  requests.cancel(session);
  const kept = Array.from({ length: 1100 }, (_, n) => requests.find(agent, String(n))).filter((request) => request !== undefined);
  expect([kept.length, kept[0]?.idText]).toEqual([1000, '100']);
});

test('if an agent that does not read dies of an answer, its next connection gets no answers to earlier requests', () => {
  const { requests, agent, session, put } = setup();
  const answered: string[] = [];
  Object.assign(agent, {
    succeed(idText: string) {
      answered.push(idText);
      requests.endOfConnection(agent); // its queue overflowed
    },
  });
  for (const n of [0, 1, 2]) put(n);
  requests.cancel(session);
  expect(answered).toEqual(['0']);
});
