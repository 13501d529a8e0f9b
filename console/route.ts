// The current screen, in the address after `#`: the screen's name and an optional argument.
import { signal } from '@preact/signals';

export type Route = { readonly screen: string; readonly rest: string };

function read(): Route {
  const [, screen = '', rest = ''] = /^#\/(\w*)\/?(.*)$/.exec(location.hash) ?? [];
  try {
    return { screen, rest: decodeURIComponent(rest) };
  } catch {
    return { screen, rest };
  }
}

export const route = signal<Route>({ screen: '', rest: '' });
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
