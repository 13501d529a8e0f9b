// The agents behind a connection and the sessions they list, read from the answers to `initialize` and `session/list`.
import { isOffered } from '../acp/shapes.ts';
import { fields, type JsonObject, textOf as text } from '../json-object.ts';

export type LoginMethod = {
  readonly id: string;
  readonly name: string;
  readonly type?: string | undefined;
  readonly url?: string | undefined;
};
export type AgentShown = {
  readonly name: string;
  readonly title: string;
  readonly logins: readonly LoginMethod[];
  /** Content that its prompts take besides text and links. */
  readonly takes: { readonly image: boolean; readonly audio: boolean; readonly embedded: boolean };
};

export type ListedSession = {
  readonly sessionId: string;
  readonly agent: string | undefined;
  readonly cwd: string | undefined;
  readonly title: string | undefined;
  readonly updatedAt: string | undefined;
};

export type ListPage = { readonly sessions: readonly ListedSession[]; readonly nextCursor: string | undefined };

export function listPage(result: unknown): ListPage {
  const { sessions, nextCursor } = fields(result);
  return { sessions: (Array.isArray(sessions) ? sessions : []).flatMap(listed), nextCursor: text(nextCursor) };
}

function listed(one: unknown): ListedSession[] {
  const { sessionId, cwd, title, updatedAt, _meta } = fields(one);
  if (typeof sessionId !== 'string') return [];
  const agent = text(fields(fields(_meta)['acp-switchboard']).agent);
  return [{ sessionId, agent, cwd: text(cwd), title: text(title), updatedAt: text(updatedAt) }];
}

/** From the result of `initialize`; a single agent does not say its configured name. */
export function agentsIn({ agentInfo, agentCapabilities, authMethods }: JsonObject, onlyAgent?: string): readonly AgentShown[] {
  const capabilities = fields(agentCapabilities);
  const described = fields(fields(capabilities._meta)['acp-switchboard']).agents;
  const logins = (Array.isArray(authMethods) ? authMethods : []).map(fields).map(loginOf);
  const takes = (prompts: JsonObject) => ({
    image: isOffered(prompts.image),
    audio: isOffered(prompts.audio),
    embedded: isOffered(prompts.embeddedContext),
  });
  if (described === undefined) {
    const { name, title } = fields(agentInfo);
    const known = onlyAgent ?? text(name) ?? 'agent';
    return [{ name: known, title: text(title) ?? text(name) ?? known, logins, takes: takes(fields(capabilities.promptCapabilities)) }];
  }
  return Object.entries(fields(described)).map(([name, about]) => ({
    name,
    title: text(fields(about).title) ?? name,
    logins: logins.filter(({ id }) => id.startsWith(`${name}/`)),
    takes: takes(fields(fields(about).promptCapabilities ?? capabilities.promptCapabilities)),
  }));
}

function loginOf({ id, name, type, link, url }: JsonObject): LoginMethod {
  return { id: String(id), name: text(name) ?? String(id), type: text(type), url: text(link) ?? text(url) };
}
