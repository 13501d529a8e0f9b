// Where a frame from the editor goes, by its method and by whether it names a session.
import { type EditorMethod, FROM_EDITOR, vendorOf } from '../acp/methods.ts';

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
