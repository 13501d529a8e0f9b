// Updates of single resources of one server, in either era. All listeners of a resource share one subscription, which outlives a lost
// connection.
import type { Client } from '@modelcontextprotocol/client';

export type ResourceWatch = {
  /** The server is connected, perhaps again. */
  connected(client: Client): void;
  /** Rejects if the server refuses. Returns a function that unsubscribes. */
  add(uri: string, onUpdate: () => void): Promise<() => void>;
};

type Subscription = { readonly listeners: Set<() => void>; end: () => void };

export function createResourceWatch(): ResourceWatch {
  const subscriptions = new Map<string, Subscription>();
  let client: Client | undefined;

  async function subscribe(at: Client, uri: string): Promise<() => void> {
    if (at.getNegotiatedProtocolVersion()?.startsWith('2026')) {
      const listening = await at.listen({ resourceSubscriptions: [uri] });
      return () => void listening.close().catch(() => {});
    }
    await at.subscribeResource({ uri });
    return () => void at.unsubscribeResource({ uri }).catch(() => {}); // a server that exited has forgotten it
  }
  async function open(at: Client, uri: string, subscription: Subscription): Promise<void> {
    const end = await subscribe(at, uri);
    if (subscriptions.get(uri) === subscription) subscription.end = end;
    else end(); // the last listener left meanwhile
  }

  return {
    connected(now) {
      client = now;
      now.setNotificationHandler('notifications/resources/updated', ({ params }) => {
        for (const onUpdate of [...(subscriptions.get(params.uri)?.listeners ?? [])]) onUpdate();
      });
      for (const [uri, subscription] of subscriptions) void open(now, uri, subscription).catch(() => {});
    },
    async add(uri, onUpdate) {
      const known = subscriptions.get(uri);
      const subscription: Subscription = known ?? { listeners: new Set(), end: () => {} };
      subscription.listeners.add(onUpdate);
      const remove = () => {
        subscription.listeners.delete(onUpdate);
        if (subscription.listeners.size > 0 || subscriptions.get(uri) !== subscription) return;
        subscriptions.delete(uri);
        subscription.end();
      };
      if (known) return remove;
      subscriptions.set(uri, subscription);
      try {
        if (client) await open(client, uri, subscription);
      } catch (error) {
        remove();
        throw error;
      }
      return remove;
    },
  };
}

/** The resources that a request of the 2026 era wants to hear about; none for any other request. */
export function listenedResources(body: unknown): readonly string[] {
  const { method, params } = (body ?? {}) as { method?: unknown; params?: { notifications?: { resourceSubscriptions?: unknown } } };
  const uris = method === 'subscriptions/listen' ? params?.notifications?.resourceSubscriptions : undefined;
  return Array.isArray(uris) ? uris.map(String) : [];
}
