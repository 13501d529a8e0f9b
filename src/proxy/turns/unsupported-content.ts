// Content of a prompt that the agent does not support: images and audio are refused or described, embedded resources become text or links.
import { failure, type ProxyError } from '../../errors.ts';
import { fields } from '../../json-object.ts';
import { offers } from '../../router/capabilities.ts';
import type { Frame } from '../../wire/frame.ts';
import { elements, memberAt, members, stringAt } from '../../wire/json-path.ts';
import { briefOf } from '../../wire/scanner/large-frame.ts';
import { doubtOf } from '../../wire/scanner/strict-parse.ts';
import type { Patch } from '../../wire/writer.ts';
import type { Agent } from '../agents/agent.ts';
import type { Media } from '../agents/agent-state.ts';
import type { Parts } from '../parts.ts';
import type { Session } from '../sessions/session.ts';
import { degradeResource } from './resource-as-text.ts';

/** Why the prompt may not be sent. What parsers read differently cannot be described. */
export function refusedContent({ agent }: Session, frame: Frame): ProxyError | undefined {
  const what = unsupportedIn(agent, frame);
  if (what === undefined) return undefined;
  if (agent.spec.unsupportedContent === 'refuse') return failure('CONTENT_UNSUPPORTED', [agent.name, what], { agent: agent.name });
  const doubt = doubtOf(frame);
  return doubt === undefined ? undefined : failure('AMBIGUOUS', [doubt]);
}

/** The first media in the prompt that the agent does not support. */
export function unsupportedIn(agent: Agent, frame: Frame): Media | undefined {
  const { bytes, body } = briefOf(frame);
  const blocks = memberAt(bytes, body, 'prompt');
  const types = (blocks ? elements(bytes, blocks.start) : []).flatMap(({ start }) =>
    members(bytes, start).flatMap(({ key, value }) => (key === 'type' ? [stringAt(bytes, value)] : [])),
  );
  return agent.unsupportedMedia.find((media) => types.includes(media));
}

/** Describes what the agent does not support. Embedded resources only stay if it is the only agent: then no other announced them. */
export function plainContent(proxy: Parts<'pool'>, { agent }: Session, frame: Frame): Patch[] {
  const media = agent.spec.unsupportedContent === 'describe' && unsupportedIn(agent, frame) !== undefined;
  const resources = !proxy.pool.single && !offers(agent.handshake?.result, 'promptCapabilities', 'embeddedContext');
  if (!media && !resources) return [];
  const blocks = memberAt(frame.bytes, frame.body, 'prompt');
  if (!blocks || doubtOf(frame) !== undefined) return [];
  return elements(frame.bytes, blocks.start).flatMap((span) => {
    const block = JSON.parse(frame.bytes.toString('utf8', span.start, span.end));
    const instead = (resources ? degradeResource(block) : undefined) ?? (media ? describedMedia(agent, block) : undefined);
    return instead ? [{ span, text: JSON.stringify(instead) }] : [];
  });
}

const NOUNS: Readonly<Record<Media, string>> = { image: 'images', audio: 'audio' };

/** A link if the client gave one, else a line of text; undefined if the agent supports the block. */
function describedMedia(agent: Agent, value: unknown): Record<string, unknown> | undefined {
  const { type, uri, mimeType, data, annotations, _meta } = fields(value);
  const media = agent.unsupportedMedia.find((one) => one === type);
  if (media === undefined) return undefined;
  const kept = { ...(annotations !== undefined && { annotations }), ...(_meta !== undefined && { _meta }) };
  if (typeof uri === 'string')
    return { type: 'resource_link', uri, name: uri.split('/').at(-1) || uri, ...(mimeType !== undefined && { mimeType }), ...kept };
  const size = typeof data === 'string' ? ` of ${Buffer.byteLength(data, 'base64')} bytes` : '';
  const text = `[${typeof mimeType === 'string' ? mimeType : type}${size}, not shown: ${agent.name} does not support ${NOUNS[media]}]`;
  return { type: 'text', text, ...kept };
}
