// Turns browser files into prompt blocks that the agent accepts.
import type { Accepts } from '../../../src/console/protocol/conversation.ts';
import type { PromptBlock } from '../../../src/console/protocol/sessions.ts';

export type Attached = { readonly name: string; readonly size: number; readonly block: PromptBlock };

export const MAX_FILE_BYTES = 8 * 1024 * 1024;
/** Limit of one prompt; the server accepts no larger message. */
const MAX_ALL_BYTES = 16 * 1024 * 1024;

export const sizeOf = (bytes: number): string =>
  bytes < 1024 ? `${bytes} B` : bytes < 1_048_576 ? `${Math.round(bytes / 1024)} kB` : `${(bytes / 1_048_576).toFixed(1)} MB`;

export function attachTitle({ image, audio, embeddedContext }: Accepts): string {
  const kinds = [image && 'images', audio && 'audio', embeddedContext ? 'files' : 'text files'].filter((kind) => kind !== false);
  return `Attach ${kinds.join(', ')}`;
}

/** Why the agent does not accept a block. Another agent may have been chosen since it was attached. */
export function refusalOf({ name, block }: Attached, accepts: Accepts): string | undefined {
  if (block.type === 'image' && !accepts.image) return `${name}: this agent does not accept images`;
  if (block.type === 'audio' && !accepts.audio) return `${name}: this agent does not accept audio`;
  if (block.type === 'resource' && !accepts.embeddedContext)
    return `${name}: this agent does not accept files; attach it again to send it as text`;
  return undefined;
}

/** The blocks with one more, or a reason. */
export async function attach(file: File, accepts: Accepts, before: readonly Attached[]): Promise<Attached | string> {
  const { name, size, type } = file;
  if (size > MAX_FILE_BYTES) return `${name} is too large: ${sizeOf(size)}; the limit is ${sizeOf(MAX_FILE_BYTES)}`;
  if (before.reduce((sum, one) => sum + one.size, size) > MAX_ALL_BYTES)
    return `${name} was not attached: the limit for one prompt is ${sizeOf(MAX_ALL_BYTES)}`;
  try {
    return await made(file, type, accepts);
  } catch {
    return `${name} could not be read`;
  }
}

async function made(file: File, type: string, accepts: Accepts): Promise<Attached | string> {
  const { name, size } = file;
  const [kind] = type.split('/');
  if (kind === 'image' || kind === 'audio') {
    if (!accepts[kind]) return `${name} was not attached: this agent does not accept ${kind === 'image' ? 'images' : 'audio'}`;
    return { name, size, block: { type: kind, mimeType: type, data: await base64(file) } };
  }
  const text = await textOf(file);
  const uri = `file:///${encodeURIComponent(name)}`;
  if (accepts.embeddedContext && text !== undefined)
    return { name, size, block: { type: 'resource', resource: { uri, mimeType: type || 'text/plain', text } } };
  if (accepts.embeddedContext)
    return {
      name,
      size,
      block: { type: 'resource', resource: { uri, mimeType: type || 'application/octet-stream', blob: await base64(file) } },
    };
  if (text === undefined) return `${name} was not attached: this agent accepts only text`;
  return { name, size, block: { type: 'text', text: `${name}:\n\n\`\`\`\n${text}\n\`\`\`` } };
}

/** A link to a file: every agent accepts it. */
export function linkTo(path: string, cwd: string): Attached {
  const whole = path.startsWith('/') ? path : `${cwd}/${path}`;
  const uri = `file://${whole.split('/').map(encodeURIComponent).join('/')}`;
  const name = whole.split('/').at(-1) || whole;
  return { name, size: 0, block: { type: 'resource_link', uri, name } };
}

async function textOf(file: File): Promise<string | undefined> {
  const bytes = await file.arrayBuffer();
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(reader.error ?? new Error('not readable'));
    reader.readAsDataURL(file);
  });
}
