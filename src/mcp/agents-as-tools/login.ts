// "Authentication required" in words that help: the agent, its login methods, and the command that logs in. Where a method has a URL and the
// client shows URLs, the user is sent there.

import type { AgentShown } from '../../client/agents-shown.ts';
import { fields } from '../../json-object.ts';
import { ToolFailure } from '../server/tool.ts';
import type { Question, Reply } from './open-requests.ts';

const AUTH_REQUIRED = -32000;

/** Undefined if the error is another one. */
export async function loginFailure(
  error: unknown,
  requested: string | undefined,
  agents: readonly AgentShown[],
  ask: (question: Question) => Promise<Reply | undefined>,
): Promise<ToolFailure | undefined> {
  const { code, data, message } = (error ?? {}) as { readonly code?: unknown; readonly data?: unknown; readonly message?: unknown };
  if (code !== AUTH_REQUIRED) return undefined;
  const named = fields(data).agent;
  const name = typeof named === 'string' ? named : (requested ?? agents[0]?.name ?? '');
  const agent = agents.find((one) => one.name === name) ?? (agents.length === 1 ? agents[0] : undefined);
  const logins = agent?.logins ?? [];
  const shown = agent?.name ?? name;
  const own = (id: string) => (id.startsWith(`${shown}/`) ? id.slice(shown.length + 1) : id);
  const methods = logins.map(({ id, name: title }) => `${own(id)} (${title})`).join(', ');
  const withUrl = logins.find(({ url }) => url !== undefined && /^https?:/.test(url));
  if (withUrl?.url !== undefined) {
    const about = `Agent "${shown}" requires a login: ${withUrl.name}`;
    await ask({ kind: 'url', message: about, url: withUrl.url, elicitationId: `login-${withUrl.id}` });
  }
  const first = logins.length === 1 && logins[0] ? own(logins[0].id) : logins.length === 0 ? '' : 'METHOD';
  const steps = [`run: switchboard auth ${shown} ${first}`.trim(), ...(logins.some(isOwn) ? ['or call the tool login'] : [])];
  const link = withUrl ? `; ${own(withUrl.id)} is described at ${withUrl.url}` : '';
  return new ToolFailure(
    `Agent "${shown}" requires a login: ${String(message)}${methods === '' ? '' : `; methods: ${methods}`}${link}; to log in, ${steps.join(', ')}`,
  );
}

/** The agent logs in by itself, without a terminal. */
const isOwn = ({ type }: AgentShown['logins'][number]): boolean => type === undefined || type === 'agent';
