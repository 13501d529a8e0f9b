// What a screen registers with the server: actions and topics. Parameters are validated first. No action runs a program that the page
// names.
import { z } from 'zod';
import { ClientError } from '../../client/client-error.ts';
import { neutralise } from '../../control-characters.ts';
import type { Page } from './page-connection.ts';

type ActionTypes = { readonly params: unknown; readonly result: unknown };
type TopicTypes = { readonly params: unknown; readonly news: unknown };

/** Handlers for actions declared in `protocol/`. The page gets the error `perform` throws. */
export type ActionsOf<All> = {
  readonly [Name in keyof All]: All[Name] extends ActionTypes
    ? { readonly params: z.ZodType<All[Name]['params']>; perform(given: All[Name]['params'], page: Page): Awaitable<All[Name]['result']> }
    : never;
};

/** Handlers for topics. `subscribe` returns how to end it, and must not `send` while the page is behind. */
export type TopicsOf<All> = {
  readonly [Name in keyof All]: All[Name] extends TopicTypes
    ? {
        readonly params: z.ZodType<All[Name]['params']>;
        subscribe(given: All[Name]['params'], send: Send<All[Name]['news']>, page: Page): () => void;
      }
    : never;
};

type Awaitable<T> = T | Promise<T>;
type Send<News> = (news: News) => void;

export type Handlers = {
  readonly actions?: Readonly<Record<string, { readonly params: z.ZodType; perform(given: never, page: Page): unknown }>>;
  readonly topics?: Readonly<
    Record<string, { readonly params: z.ZodType; subscribe(given: never, send: Send<unknown>, page: Page): () => void }>
  >;
};

export type AllHandlers = {
  perform(action: string, given: unknown, page: Page): unknown;
  subscribe(topic: string, given: unknown, send: Send<unknown>, page: Page): () => void;
};

export function joinHandlers(handlers: readonly Handlers[]): AllHandlers {
  const actions = tableOf(handlers.map((handlers) => handlers.actions ?? {}));
  const topics = tableOf(handlers.map((handlers) => handlers.topics ?? {}));
  return {
    perform(action, given, page) {
      const found = actions.get(action);
      if (!found) throw new ClientError(-32601, `there is no action "${neutralise(action)}"`);
      return found.perform(read(found.params, given) as never, page);
    },
    subscribe(topic, given, send, page) {
      const found = topics.get(topic);
      if (!found) throw new ClientError(-32601, `there is no topic "${neutralise(topic)}"`);
      return found.subscribe(read(found.params, given) as never, send, page);
    },
  };
}

function tableOf<Entry>(tables: readonly Readonly<Record<string, Entry>>[]): ReadonlyMap<string, Entry> {
  const all = new Map<string, Entry>();
  for (const table of tables)
    for (const [name, entry] of Object.entries(table)) {
      if (all.has(name)) throw new Error(`two screens register "${name}"`);
      all.set(name, entry);
    }
  return all;
}

function read(shape: z.ZodType, given: unknown): unknown {
  const found = shape.safeParse(given);
  if (found.success) return found.data;
  throw new ClientError(-32602, z.prettifyError(found.error));
}
