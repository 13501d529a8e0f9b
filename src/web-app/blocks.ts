// The content blocks of a page's prompt, checked, and as valid ACP: a link gets a name, an embedded text a URI.
import * as z from 'zod';
import type { PromptBlocks } from '../client/acp-methods.ts';
import { block } from '../dialects/webapp/tool-call.ts';

const base64 = z.string().refine((data) => data.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(data), 'not base64');
const annotations = z.record(z.string(), z.unknown()).optional();

export const promptBlocks = z
  .array(
    z.discriminatedUnion('type', [
      z.object({ type: z.literal('text'), text: z.string(), annotations }),
      z.object({ type: z.literal('image'), data: base64, mimeType: z.string(), uri: z.string().optional(), annotations }),
      z.object({ type: z.literal('audio'), data: base64, mimeType: z.string(), annotations }),
      z.object({
        type: z.literal('resource_link'),
        uri: z.string().min(1),
        text: z.string().optional(),
        name: z.string().optional(),
        title: z.string().optional(),
        description: z.string().optional(),
        mimeType: z.string().optional(),
        size: z.number().optional(),
        annotations,
      }),
      z.object({
        type: z.literal('resource'),
        resource: z.union([
          z.object({ text: z.string(), mimeType: z.string().optional(), uri: z.string().min(1).optional() }),
          z.object({ blob: base64, mimeType: z.string().optional(), uri: z.string().min(1) }),
        ]),
        annotations,
      }),
    ]),
  )
  .min(1, 'the prompt is empty');

export type PageBlocks = z.infer<typeof promptBlocks>;

/** The dialect of the same source document completes what agents send in the same way. */
export const toAcpBlocks = (blocks: PageBlocks): PromptBlocks => blocks.map(block) as unknown as PromptBlocks;
