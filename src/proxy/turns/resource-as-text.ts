// Converts an embedded resource for an agent that supports only text and links, without loss.

type Block = { readonly type?: unknown; readonly resource?: unknown; readonly annotations?: unknown; readonly _meta?: unknown };
type Resource = { readonly uri?: unknown; readonly text?: unknown; readonly mimeType?: unknown };

/** The block to send instead; undefined if it can stay. */
export function degradeResource(block: unknown): Record<string, unknown> | undefined {
  const { type, resource, annotations, _meta } = (block ?? {}) as Block;
  if (type !== 'resource' || typeof resource !== 'object' || resource === null) return undefined;
  const { uri, text, mimeType } = resource as Resource;
  const kept = { ...(annotations !== undefined && { annotations }), ...(_meta !== undefined && { _meta }) };
  const name = typeof uri === 'string' ? uri : 'resource';
  if (typeof text === 'string') return { type: 'text', text: `<context ref="${name}">\n${text}\n</context>`, ...kept };
  return { type: 'resource_link', uri: name, name: name.split('/').at(-1) || name, ...(mimeType !== undefined && { mimeType }), ...kept };
}
