// Attachments of a prompt: images, audio and files, as far as the agent supports them.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PromptBlocks } from '../../client/acp-methods.ts';
import { CommandFailure } from '../failure.ts';
import { refuse } from '../resolve-config.ts';

export type AttachmentFlags = { readonly image?: readonly string[]; readonly audio?: readonly string[]; readonly file?: readonly string[] };
type PromptCapabilities = { readonly image?: unknown; readonly audio?: unknown; readonly embeddedContext?: unknown };

const TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.svg': 'image/svg+xml',
  '.wav': 'audio/wav',
  '.mp3': 'audio/mpeg',
  '.ogg': 'audio/ogg',
  '.m4a': 'audio/mp4',
  '.flac': 'audio/flac',
};

/** Throws if the agent does not support one, before anything is read or sent. */
export async function attachments(flags: AttachmentFlags, agent: string, capabilities: PromptCapabilities): Promise<PromptBlocks> {
  const { image = [], audio = [], file = [] } = flags;
  for (const kind of ['image', 'audio'] as const)
    if ((flags[kind] ?? []).length > 0 && capabilities[kind] !== true)
      throw new CommandFailure(
        2,
        `agent "${agent}" does not accept ${kind === 'image' ? 'images' : 'audio'}`,
        `remove --${kind} or use another agent`,
      );
  return Promise.all([
    ...image.map((name) => media('image', name)),
    ...audio.map((name) => media('audio', name)),
    ...file.map((name) => (capabilities.embeddedContext === true ? embedded(name) : link(name))),
  ]);
}

async function media(kind: 'image' | 'audio', name: string): Promise<PromptBlocks[number]> {
  const mimeType = TYPES[path.extname(name).toLowerCase()];
  if (!mimeType?.startsWith(`${kind}/`)) {
    const known = Object.entries(TYPES).flatMap(([extension, type]) => (type.startsWith(`${kind}/`) ? [extension] : []));
    throw new CommandFailure(2, `${name} has no known ${kind} extension`, `supported: ${known.join(', ')}`);
  }
  return { type: kind, mimeType, data: (await read(name)).toString('base64') };
}

async function embedded(name: string): Promise<PromptBlocks[number]> {
  const bytes = await read(name);
  const uri = pathToFileURL(path.resolve(name)).href;
  const text = bytes.toString('utf8');
  const isText = Buffer.from(text).equals(bytes);
  return {
    type: 'resource',
    resource: isText
      ? { uri, mimeType: 'text/plain', text }
      : { uri, mimeType: 'application/octet-stream', blob: bytes.toString('base64') },
  };
}

async function link(name: string): Promise<PromptBlocks[number]> {
  await read(name); // report a missing file here, not through the agent
  return { type: 'resource_link', uri: pathToFileURL(path.resolve(name)).href, name: path.basename(name) };
}

async function read(name: string): Promise<Buffer> {
  return readFile(name).catch((error: unknown) => refuse('attachment', name, error));
}
