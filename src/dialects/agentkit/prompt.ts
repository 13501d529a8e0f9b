// A prompt in the parts the Go server has fields for, and the command in it.
import { type Dict, dict, list, text } from '../json.ts';
import { COMMAND, PARTS } from './table.ts';

export function promptParams(params: Dict): Dict {
  const parts = list(params.prompt).map((block) => part(dict(block)));
  const [only] = parts;
  const [, name, input] = (parts.length === 1 && only?.type === 'text' ? COMMAND.exec(text(only.text) ?? '') : undefined) ?? [];
  const command = name === undefined ? {} : { command: { name, ...(input !== undefined && input !== '' && { input }) } };
  return { sessionId: params.sessionId, prompt: parts, ...command };
}

/** Links and files are said in words: there is no other place for them. */
function part(block: Dict): Dict {
  const { type, text: words, data, mimeType } = block;
  if (PARTS.has(String(type)))
    return {
      type,
      ...(words !== undefined && { text: words }),
      ...(data !== undefined && { data }),
      ...(mimeType !== undefined && { mimeType }),
    };
  if (type === 'resource_link') return { type: 'text', text: `[${text(block.title) ?? text(block.name) ?? ''}](${text(block.uri) ?? ''})` };
  if (type === 'resource') {
    const { uri, text: content, mimeType: mime } = dict(block.resource);
    const inside = typeof content === 'string' ? content : `(${text(mime) ?? 'binary'} content, not shown)`;
    return { type: 'text', text: `${text(uri) ?? ''}\n\`\`\`\n${inside}\n\`\`\`` };
  }
  return { type: 'text', text: JSON.stringify(block) };
}
