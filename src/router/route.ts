// Where a frame goes, by its method: one lookup in the table of acp/methods.ts, for either direction.

import picomatch from 'picomatch';
import { type ClientMethod, FROM_AGENT, FROM_CLIENT, type Key, type Method, type Receiver, vendorOf } from '../acp/methods.ts';
import { failure, type ProxyError, shown } from '../errors.ts';

export type Route =
  /** A protocol method that the proxy handles. */
  | { readonly to: 'step'; readonly method: ClientMethod; readonly key: Key; readonly receiver: Receiver }
  /** The agent that owns the named session. */
  | { readonly to: 'owner' }
  /** The only agent. */
  | { readonly to: 'singleAgent' }
  /** A vendor method without a session: the agent that announced the vendor, else the default agent if it is configured. */
  | { readonly to: 'vendor'; readonly vendor: string | undefined }
  /** A notification without a session: every running agent. */
  | { readonly to: 'everyone' }
  | { readonly to: 'nobody' };

/** Maps, because a frame may use any property name of an object as its method. */
const CLIENT_METHODS: ReadonlyMap<string, Method> = new Map(Object.entries(FROM_CLIENT));
const AGENT_METHODS: ReadonlyMap<string, Method> = new Map(Object.entries(FROM_AGENT));

export function routeFromClient(
  frame: { readonly method: string; readonly kind: string; readonly hasSession: boolean },
  isSingleAgent: boolean,
): Route {
  const { method, kind, hasSession } = frame;
  const known = CLIENT_METHODS.get(method);
  // A protocol method sent as the wrong kind (request or notification) is not the protocol's: the agent may know it.
  if (known?.kind === kind) {
    const receiver = isSingleAgent ? known.singleAgent : known.several;
    return receiver === 'nobody' ? { to: 'nobody' } : { to: 'step', method: method as ClientMethod, key: known.key, receiver };
  }
  if (isSingleAgent) return { to: 'singleAgent' };
  if (hasSession) return { to: 'owner' };
  if (kind === 'notification') return { to: 'everyone' };
  const vendor = vendorOf(method);
  return vendor === undefined ? { to: 'nobody' } : { to: 'vendor', vendor };
}

/** A method that is not in the table, or is of the other kind, goes to the client. */
const OTHER_METHOD: Pick<Method, 'key' | 'singleAgent' | 'several'> = { key: 'none', singleAgent: 'client', several: 'client' };

/** The row for a frame from an agent. Called for every update, so it allocates nothing. */
export function routeFromAgent({ method, kind }: { readonly method: string | undefined; readonly kind: string }): typeof OTHER_METHOD {
  const known = method === undefined ? undefined : AGENT_METHODS.get(method);
  return known?.kind === kind ? known : OTHER_METHOD;
}

export type Choice = {
  readonly agents: readonly string[];
  readonly defaultAgent: string;
  readonly routes: readonly { readonly cwd: string; readonly agent: string }[];
};

/** The first that applies: the agent the request names, a route, the default. (`--agent` leaves only one agent.) */
export function chooseAgent(choice: Choice, requested: unknown, cwd: string): string | ProxyError {
  if (requested !== undefined) {
    if (typeof requested === 'string' && choice.agents.includes(requested)) return requested;
    return failure('AGENT_UNKNOWN', [shown(requested), choice.agents.join(', ')], { agent: requested, agents: choice.agents });
  }
  const route = choice.routes.find(({ cwd: glob }) => picomatch.isMatch(cwd, glob, { dot: true }));
  return route?.agent ?? choice.defaultAgent;
}
