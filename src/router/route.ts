// Where a frame goes, by its method: one look at the table in acp/methods.ts, in either direction.

import picomatch from 'picomatch';
import { type ClientMethod, FROM_AGENT, FROM_CLIENT, type Key, type Method, type Receiver, vendorOf } from '../acp/methods.ts';
import { failure, type ProxyError, shown } from '../errors.ts';

export type Route =
  /** A method of the protocol that the proxy has a step for. */
  | { readonly to: 'step'; readonly method: ClientMethod; readonly key: Key; readonly receiver: Receiver }
  /** The agent that owns the session it names. */
  | { readonly to: 'owner' }
  /** The one agent there is. */
  | { readonly to: 'singleAgent' }
  /** A vendor's own method without a session: whichever agent announced that vendor, else the default one if it was named. */
  | { readonly to: 'vendor'; readonly vendor: string | undefined }
  /** A notification without a session: every agent that runs. */
  | { readonly to: 'everyone' }
  | { readonly to: 'nobody' };

/** Maps, since a frame may name any property of an object as its method. */
const EDITOR_METHODS: ReadonlyMap<string, Method> = new Map(Object.entries(FROM_CLIENT));
const AGENT_METHODS: ReadonlyMap<string, Method> = new Map(Object.entries(FROM_AGENT));

export function routeFromClient(
  frame: { readonly method: string; readonly kind: string; readonly hasSession: boolean },
  isAlone: boolean,
): Route {
  const { method, kind, hasSession } = frame;
  const known = EDITOR_METHODS.get(method);
  // A notification in a request's clothes, or the other way round, is not the protocol's method: the agent may know what it is.
  if (known?.kind === kind) {
    const receiver = isAlone ? known.singleAgent : known.several;
    return receiver === 'nobody' ? { to: 'nobody' } : { to: 'step', method: method as ClientMethod, key: known.key, receiver };
  }
  if (isAlone) return { to: 'singleAgent' };
  if (hasSession) return { to: 'owner' };
  if (kind === 'notification') return { to: 'everyone' };
  const vendor = vendorOf(method);
  return vendor === undefined ? { to: 'nobody' } : { to: 'vendor', vendor };
}

/** A method that is not in the table, or there as the other kind, is the client's to make something of. */
const OTHER_METHOD: Pick<Method, 'key' | 'singleAgent' | 'several'> = { key: 'none', singleAgent: 'editor', several: 'editor' };

/** The row for a frame from an agent. Every update asks for it, so nothing is made here. */
export function routeFromAgent({ method, kind }: { readonly method: string | undefined; readonly kind: string }): typeof OTHER_METHOD {
  const known = method === undefined ? undefined : AGENT_METHODS.get(method);
  return known?.kind === kind ? known : OTHER_METHOD;
}

// Which agent gets a new session.
export type Choice = {
  readonly agents: readonly string[];
  readonly defaultAgent: string;
  readonly routes: readonly { readonly cwd: string; readonly agent: string }[];
};

/** The first that applies: what the request itself asks for, a route, the default. (`--agent` leaves only one agent to begin with.) */
export function chooseAgent(choice: Choice, asked: unknown, cwd: string): string | ProxyError {
  if (asked !== undefined) {
    if (typeof asked === 'string' && choice.agents.includes(asked)) return asked;
    return failure('AGENT_UNKNOWN', [shown(asked), choice.agents.join(', ')], { agent: asked, agents: choice.agents });
  }
  const route = choice.routes.find(({ cwd: glob }) => picomatch.isMatch(cwd, glob, { dot: true }));
  return route?.agent ?? choice.defaultAgent;
}
