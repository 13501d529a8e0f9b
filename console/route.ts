// Where the page is, in the address behind the `#`.
import { signal } from '@preact/signals';

export type Route =
  | { readonly screen: 'sessions' | 'inbox' | 'frames' | 'agents' }
  | { readonly screen: 'chat'; readonly sessionId: string }
  | { readonly screen: 'new' };

function read(): Route {
  const [, screen = '', rest = ''] = /^#\/(\w*)\/?(.*)$/.exec(location.hash) ?? [];
  if (screen === 'session' && rest !== '') return { screen: 'chat', sessionId: decodeURIComponent(rest) };
  if (screen === 'inbox' || screen === 'frames' || screen === 'agents' || screen === 'new') return { screen };
  return { screen: 'sessions' };
}

export const route = signal<Route>({ screen: 'sessions' });
export const toSession = (sessionId: string): string => `#/session/${encodeURIComponent(sessionId)}`;
export const go = (hash: string): void => {
  location.hash = hash;
};

/** Called once the link's token is gone from the address. */
export function followAddress(): void {
  const look = () => {
    route.value = read();
  };
  addEventListener('hashchange', look);
  look();
}
