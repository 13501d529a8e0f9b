// What a screen brings to the server: acts that its pages may ask for, topics that they may follow. What a page gives is held against the shape
// of it before anything is done. Nothing that can be asked for takes a program to run.
import { z } from 'zod';
import { ClientError } from '../../client/client.ts';
import { neutralise } from '../state/clean-text.ts';
import type { Page } from './page-connection.ts';

type ActTypes = { readonly give: unknown; readonly get: unknown };
type TopicTypes = { readonly give: unknown; readonly news: unknown };

/** Acts as `wire/` has their types. What `perform` throws is what the page hears. */
export type ActionsOf<All> = {
  readonly [Name in keyof All]: All[Name] extends ActTypes
    ? { readonly gives: z.ZodType<All[Name]['give']>; perform(given: All[Name]['give'], page: Page): Awaitable<All[Name]['get']> }
    : never;
};

/** Topics likewise. `follow` says how to end it; `tell` is to be spared while the page is behind. */
export type TopicsOf<All> = {
  readonly [Name in keyof All]: All[Name] extends TopicTypes
    ? {
        readonly gives: z.ZodType<All[Name]['give']>;
        follow(given: All[Name]['give'], tell: Tell<All[Name]['news']>, page: Page): () => void;
      }
    : never;
};

type Awaitable<T> = T | Promise<T>;
type Tell<News> = (news: News) => void;

export type Part = {
  readonly acts?: Readonly<Record<string, { readonly gives: z.ZodType; perform(given: never, page: Page): unknown }>>;
  readonly topics?: Readonly<
    Record<string, { readonly gives: z.ZodType; follow(given: never, tell: Tell<unknown>, page: Page): () => void }>
  >;
};

export type Parts = {
  perform(act: string, given: unknown, page: Page): unknown;
  follow(topic: string, given: unknown, tell: Tell<unknown>, page: Page): () => void;
};

export function joinParts(parts: readonly Part[]): Parts {
  const acts = tableOf(parts.map((part) => part.acts ?? {}));
  const topics = tableOf(parts.map((part) => part.topics ?? {}));
  return {
    perform(act, given, page) {
      const found = acts.get(act);
      if (!found) throw new ClientError(-32601, `there is no act "${neutralise(act)}"`);
      return found.perform(read(found.gives, given) as never, page);
    },
    follow(topic, given, tell, page) {
      const found = topics.get(topic);
      if (!found) throw new ClientError(-32601, `there is no topic "${neutralise(topic)}"`);
      return found.follow(read(found.gives, given) as never, tell, page);
    },
  };
}

function tableOf<Entry>(tables: readonly Readonly<Record<string, Entry>>[]): ReadonlyMap<string, Entry> {
  const all = new Map<string, Entry>();
  for (const table of tables)
    for (const [name, entry] of Object.entries(table)) {
      if (all.has(name)) throw new Error(`two screens have "${name}"`);
      all.set(name, entry);
    }
  return all;
}

function read(shape: z.ZodType, given: unknown): unknown {
  const found = shape.safeParse(given);
  if (found.success) return found.data;
  throw new ClientError(-32602, z.prettifyError(found.error));
}
