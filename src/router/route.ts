// Where a frame from the editor goes, by its method and by whether it names a session.

import picomatch from 'picomatch';
import { type EditorMethod, FROM_EDITOR, vendorOf } from '../acp/methods.ts';
import { failure, type ProxyError, shown } from '../errors.ts';

export type Route =
  /** A method of the protocol that the proxy has a step for. */
  | { readonly to: 'step'; readonly method: EditorMethod }
  /** The agent that owns the session it names. */
  | { readonly to: 'owner' }
  /** The one agent there is. */
  | { readonly to: 'alone' }
  /** A vendor's own method without a session: whichever agent announced that vendor, else the default one if it was named. */
  | { readonly to: 'vendor'; readonly vendor: string | undefined }
  /** A notification without a session: every agent that runs. */
  | { readonly to: 'everyone' }
  | { readonly to: 'nobody' };

export function routeFromEditor(
  frame: { readonly method: string; readonly kind: string; readonly hasSession: boolean },
  isAlone: boolean,
): Route {
  const { method, kind, hasSession } = frame;
  if (Object.hasOwn(FROM_EDITOR, method)) {
    const known = FROM_EDITOR[method as EditorMethod];
    // A notification in a request's clothes, or the other way round, is not the protocol's method: the agent may know what it is.
    if (known.kind === kind)
      return known[isAlone ? 'alone' : 'several'] === 'nobody' ? { to: 'nobody' } : { to: 'step', method: method as EditorMethod };
  }
  if (isAlone) return { to: 'alone' };
  if (hasSession) return { to: 'owner' };
  if (kind === 'notification') return { to: 'everyone' };
  const vendor = vendorOf(method);
  return vendor === undefined ? { to: 'nobody' } : { to: 'vendor', vendor };
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
