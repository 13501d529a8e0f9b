// Requests that concern every agent: logout and auth/status.
import { failure } from '../../errors.ts';
import { offers } from '../../router/capabilities.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import type { ClientRequest } from '../boundary.ts';
import type { Parts } from '../parts.ts';
import type { Agent } from './agent.ts';

type Reply = { readonly agent: Agent; readonly value: unknown; readonly problem: string | undefined };

function askAll(agents: readonly Agent[], method: string, paramsText: string, done: (replies: readonly Reply[]) => void): void {
  const replies: Reply[] = [];
  const one = (reply: Reply) => {
    replies.push(reply);
    if (replies.length === agents.length) done(agents.map((agent) => replies.find((r) => r.agent === agent) as Reply));
  };
  if (agents.length === 0) return done([]);
  for (const agent of agents)
    agent.request(method, paramsText, {
      onFail: (error) => one({ agent, value: undefined, problem: error.message }),
      onAnswer(answer) {
        const body = readBody(answer);
        if (!body.ok) return one({ agent, value: undefined, problem: body.reason });
        const message = (body.value as { message?: unknown } | undefined)?.message;
        one({
          agent,
          value: body.value,
          problem: answer.outcome === 'error' ? (typeof message === 'string' ? message : 'an error without a message') : undefined,
        });
      },
    });
}

export function logout(proxy: Parts<'pool' | 'client'>, request: ClientRequest, paramsText: string): void {
  const agents = proxy.pool.all().filter(({ handshake }) => offers(handshake?.result, 'auth', 'logout'));
  if (agents.length === 0) return proxy.client.fail(request, failure('METHOD_UNROUTABLE', ['logout']));
  askAll(agents, 'logout', paramsText, (replies) => {
    const failed = replies.filter(({ problem }) => problem !== undefined);
    if (failed.length === 0) return proxy.client.succeed(request, '{}');
    const words = failed.map(({ agent, problem }) => `${agent.name} (${problem})`).join('; ');
    proxy.client.fail(request, failure('FAN_OUT', ['logout', words], { agents: failed.map(({ agent }) => agent.name) }));
  });
}

type Status = { readonly state?: unknown; readonly accounts?: unknown };

/** Unauthenticated if any agent is; accounts carry their agent's name, those of the default agent first. It never fails. */
export function authStatus(proxy: Parts<'pool' | 'client'>, request: ClientRequest, paramsText: string): void {
  const agents = proxy.pool.all().filter(({ handshake }) => offers(handshake?.result, 'auth', 'status'));
  const inOrder = [...agents].sort(
    (a, b) => Number(b.name === proxy.pool.choice.defaultAgent) - Number(a.name === proxy.pool.choice.defaultAgent),
  );
  askAll(inOrder, 'auth/status', paramsText, (replies) => {
    const states = replies.map(({ value, problem }) =>
      problem === undefined ? ((value as Status | null)?.state ?? 'unknown') : 'unknown',
    );
    const state = ['unauthenticated', 'unknown', 'authenticated'].find((candidate) => states.includes(candidate)) ?? states[0] ?? 'unknown';
    const accounts = replies.flatMap(({ agent, value }) => {
      const listed = (value as Status | null | undefined)?.accounts;
      return Array.isArray(listed) ? listed.map((account) => ({ ...account, label: `${agent.title}: ${account?.label ?? ''}` })) : [];
    });
    proxy.client.succeed(request, JSON.stringify({ state, ...(accounts.length > 0 && { accounts }) }));
  });
}
