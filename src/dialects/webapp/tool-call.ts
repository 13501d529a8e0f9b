// Converts tool calls and their content: flat, wrapped, with absolute paths.
import { type Dict, dict, first, isObject, list, lookUp, renamed, text, without } from '../json.ts';
import { absolute, nameOfUri } from '../paths.ts';
import { textsOfDiff, textsOfLines } from '../unified-diff.ts';
import { BARE_CONTENT, BLOCK_KEYS, DIFF_KEYS, TOOL_CALL_KEYS, TOOL_STATUS } from './table.ts';

/** Collects the fields of a tool call, nested or not. The outer object wins. */
export function toolCall(value: Dict, cwd: string | undefined): Dict {
  const call = flat(value);
  const status = text(call.status);
  return {
    ...call,
    ...(status !== undefined && { status: lookUp(TOOL_STATUS, status) ?? status }),
    ...(call.content !== undefined && call.content !== null && { content: toolContent(call.content, cwd) }),
    ...(Array.isArray(call.locations) && { locations: call.locations.map((place) => located(place, cwd)) }),
  };
}

function flat(value: Dict): Dict {
  const known = renamed(value, TOOL_CALL_KEYS);
  const key = ['tool_call', 'toolCall'].find((one) => Object.hasOwn(known, one) && isObject(known[one]));
  if (key === undefined) return known;
  return flat({ ...renamed(dict(known[key]), { ...TOOL_CALL_KEYS, id: 'toolCallId' }), ...without(known, key) });
}

const located = (place: unknown, cwd: string | undefined): unknown => {
  const { path } = dict(place);
  return typeof path === 'string' ? { ...dict(place), path: absolute(cwd, path) } : place;
};

function toolContent(content: unknown, cwd: string | undefined): readonly unknown[] {
  const items = Array.isArray(content) ? content : [content];
  return items.map((item) => {
    if (typeof item === 'string') return { type: 'content', content: { type: 'text', text: item } };
    if (!isObject(item)) return item;
    if (item.type === 'content') return { ...item, content: block(item.content) };
    if (item.type === 'diff') return diff(item, cwd);
    if (item.type === 'terminal') return renamed(item, { terminal_id: 'terminalId' });
    return BARE_CONTENT.has(String(item.type)) ? { type: 'content', content: block(item) } : item;
  });
}

/** Completes a content block with the fields ACP requires. */
export function block(value: unknown): unknown {
  if (typeof value === 'string') return { type: 'text', text: value };
  if (!isObject(value)) return value;
  const known = renamed(value, BLOCK_KEYS);
  if (known.type === 'resource_link') return link(known);
  if (known.type === 'resource' && isObject(known.resource))
    return { ...known, resource: { uri: NAMELESS, ...renamed(known.resource, BLOCK_KEYS) } };
  return known;
}

/** For an embedded text without a URI. */
const NAMELESS = 'urn:acp-switchboard:embedded';

function link(value: Dict): Dict {
  const uri = text(value.uri) ?? '';
  const label = text(value.text);
  return {
    ...without(value, 'text'),
    name: text(value.name) ?? nameOfUri(uri),
    ...(label !== undefined && value.title === undefined && { title: label }),
  };
}

/** The new text as given, else as far as the hunks show it. `_meta` keeps the hunks. */
function diff(value: Dict, cwd: string | undefined): Dict {
  const { hunks, ...known } = renamed(value, DIFF_KEYS) as Record<string, unknown>;
  const shown = textsOfHunks(hunks);
  const newText = text(known.newText) ?? shown?.newText ?? '';
  const oldText = known.oldText !== undefined ? known.oldText : text(known.newText) === undefined ? shown?.oldText : undefined;
  return {
    ...known,
    ...(typeof known.path === 'string' && { path: absolute(cwd, known.path) }),
    ...(oldText !== undefined && { oldText }),
    newText,
    ...(hunks !== undefined && { _meta: { ...dict(known._meta), hunks } }),
  };
}

/** Hunks as text, as lines, or as objects that contain lines. */
function textsOfHunks(hunks: unknown) {
  if (typeof hunks === 'string') return textsOfDiff(hunks);
  const lines = list(hunks).flatMap((hunk) => {
    if (typeof hunk === 'string') return hunk.split('\n');
    const inner = first(dict(hunk), 'lines', 'content', 'text', 'diff');
    return typeof inner === 'string' ? inner.split('\n') : list(inner).flatMap((line) => text(line) ?? []);
  });
  return textsOfLines(lines);
}
