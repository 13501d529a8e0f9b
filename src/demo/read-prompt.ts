// A prompt's content blocks, read the way the scenes want them: words to act on, and what came along.
import { type ContentBlock, RequestError } from '@agentclientprotocol/sdk';
import type { Persona } from './agents.ts';

export type ReadPrompt = { readonly text: string; readonly attachments: readonly string[] };

/** Refuses what the persona never advertised: a proxy that lets it through should hear of it. */
export function readPrompt(persona: Persona, blocks: readonly ContentBlock[]): ReadPrompt {
  const { image, audio, embeddedContext } = persona.agentCapabilities.promptCapabilities ?? {};
  const takes = { text: true, resource_link: true, image, audio, resource: embeddedContext };
  const refused = blocks.find((block) => takes[block.type] !== true);
  if (refused !== undefined)
    throw RequestError.invalidParams({ type: refused.type }, `${persona.title} takes no ${refused.type} in a prompt`);
  return {
    text: blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n'),
    attachments: blocks.flatMap(nameOf),
  };
}

function nameOf(block: ContentBlock): string[] {
  if (block.type === 'resource_link') return [block.name];
  if (block.type === 'resource') return [block.resource.uri];
  return block.type === 'image' ? [`an image (${block.mimeType})`] : [];
}
