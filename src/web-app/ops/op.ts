// One op of the service: the shape of its payload, and what it does.
import type * as z from 'zod';
import type { Page, Principal } from '../principal.ts';
import { problemsIn, refusals } from '../refusal.ts';

export type OpContext = { readonly principal: Principal; readonly page: Page };
/** `after` runs once the response is on its way. */
export type Answer = { readonly result: unknown; readonly after?: () => void };
export type Op = (context: OpContext, payload: unknown, name: string) => Promise<Answer>;

/** Refuses a payload of another shape, with the place of the problem. */
export function op<Schema extends z.ZodType>(
  schema: Schema,
  run: (context: OpContext, payload: z.output<Schema>) => Promise<unknown> | unknown,
): Op {
  return opWithAfter(schema, async (context, payload) => ({ result: (await run(context, payload)) ?? {} }));
}

export function opWithAfter<Schema extends z.ZodType>(
  schema: Schema,
  run: (context: OpContext, payload: z.output<Schema>) => Promise<Answer>,
): Op {
  return async (context, payload, name) => {
    const { success, data, error } = schema.safeParse(payload);
    if (!success) throw refusals.payload(name, problemsIn(error));
    return run(context, data);
  };
}
