// What a page may ask for. Nothing here takes a program to run: agents go by their names in the configuration.
import { z } from 'zod';

const id = z.string().min(1).max(2000);
const words = z.string().max(16 * 1024 * 1024);
const promptBlock = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: words }),
  z.strictObject({ type: z.enum(['image', 'audio']), data: words, mimeType: z.string().regex(/^(?:image|audio)\/[\w.+-]{1,80}$/) }),
  z.strictObject({ type: z.literal('resource_link'), uri: z.string().max(4000), name: z.string().max(400) }),
  z.strictObject({
    type: z.literal('resource'),
    resource: z.union([
      z.strictObject({ uri: z.string().max(4000), mimeType: z.string().max(200).optional(), text: words }),
      z.strictObject({ uri: z.string().max(4000), mimeType: z.string().max(200).optional(), blob: words }),
    ]),
  }),
]);
const base = { id: z.int().nonnegative() };
const act = <Name extends string, Shape extends z.ZodRawShape>(name: Name, shape: Shape) =>
  z.strictObject({ ...base, act: z.literal(name), ...shape });

const schema = z.discriminatedUnion('act', [
  act('watch', { sessionId: id }),
  act('unwatch', { sessionId: id }),
  act('new', { agent: z.string().max(200).optional(), cwd: z.string().max(4000).optional() }),
  act('prompt', { sessionId: id, blocks: z.array(promptBlock).min(1).max(100) }),
  act('cancel', { sessionId: id }),
  act('close', { sessionId: id }),
  act('answer', { questionId: z.uuid(), option: z.int().nonnegative().nullable() }),
  act('option', { sessionId: id, option: z.string().max(400), value: z.union([z.string().max(4000), z.boolean()]) }),
  act('authenticate', { methodId: z.string().max(400) }),
  act('restart', { agent: z.string().max(200) }),
  act('frames', { filter: z.string().max(1000) }),
  act('noframes', {}),
  act('frame', { n: z.int().nonnegative() }),
  act('search', { words: z.string().max(400) }),
  act('export', { sessionId: id }),
  act('link', {}),
]);

export type Asked = z.infer<typeof schema>;
export type Act<Name extends Asked['act']> = Extract<Asked, { act: Name }>;
export type PromptBlock = z.infer<typeof promptBlock>;

const hello = z.strictObject({
  hello: z.string().max(200),
  epoch: z.string().max(100).optional(),
  since: z.int().nonnegative().optional(),
  sessions: z.array(id).max(50).optional(),
});
export type Hello = z.infer<typeof hello>;

export const readHello = (value: unknown): Hello | undefined => hello.safeParse(value).data;
/** What is asked for, or why it cannot be. */
export function readAsked(value: unknown): Asked | { readonly wrong: string } {
  const read = schema.safeParse(value);
  return read.success ? read.data : { wrong: z.prettifyError(read.error) };
}
