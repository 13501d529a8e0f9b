// Adds or removes one key in a JSON text that people edit, and leaves every other byte unchanged.
// Does not use the parser's `modify`, which reformats the neighbouring entry and moves its comment.
import { type Node, parseTree } from 'jsonc-parser/lib/esm/main.js';

// Formats values as people write them: short lists on one line, one key per line in objects, with the file's indent.
export type Style = { readonly unit: string; readonly eol: string };

/** The indent and line endings of a text; default: two spaces and line feeds. */
export function styleOf(text: string): Style {
  return {
    unit: /^\s*\{[^\n]*\n(?:[ \t]*(?:\/\/[^\n]*)?\r?\n)*([ \t]+)\S/.exec(text)?.[1] ?? '  ',
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
}

export function write(value: unknown, indent: string, style: Style): string {
  if (Array.isArray(value) && value.some((item) => typeof item === 'object')) {
    const inner = indent + style.unit;
    return `[${value.map((item) => `${style.eol}${inner}${write(item, inner, style)}`).join(',')}${style.eol}${indent}]`;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value) || Object.keys(value).length === 0) return writeInline(value);
  const inner = indent + style.unit;
  const lines = Object.entries(value).map(([key, item]) => `${style.eol}${inner}${JSON.stringify(key)}: ${write(item, inner, style)}`);
  return `{${lines.join(',')}${style.eol}${indent}}`;
}

export function writeInline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeInline).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${writeInline(item)}`);
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}

/** The text is valid, but a value on the path to the key is not an object. */
export class NotAnObject extends Error {
  override readonly name = 'NotAnObject';
  readonly key: string;

  constructor(key: string) {
    super(`${key === '' ? 'the file' : `"${key}"`} is not an object`);
    this.key = key;
  }
}

/** Sets the key at `path`; a new key goes last, with `above` as the comment above it. */
export function withProperty(text: string, path: readonly string[], value: unknown, above?: string): string {
  const style = styleOf(text);
  const root = parseTree(text, [], { allowTrailingComma: true });
  if (!root) return withProperty(`${text}${text === '' || text.endsWith('\n') ? '' : style.eol}{}${style.eol}`, path, value, above);
  let object = objectAt(root, '');
  for (const [depth, key] of path.entries()) {
    const found = memberOf(object, key);
    if (!found) {
      const nested = path.slice(depth + 1).reduceRight((inner, name) => ({ [name]: inner }), value);
      return insert(text, object, { key, value: nested, above }, style);
    }
    if (depth === path.length - 1) {
      const now = isOneLine(text, object) ? writeInline(value) : write(value, lineIndent(text, found.offset), style);
      return splice(text, found.offset, end(found), now);
    }
    object = objectAt(found, path.slice(0, depth + 1).join('.'));
  }
  return text;
}

/** Removes the key at `path`, the comment after it on the same line, and our own comment above it. */
export function withoutProperty(text: string, path: readonly string[], isOurComment: (line: string) => boolean = () => false): string {
  let node = parseTree(text, [], { allowTrailingComma: true });
  for (const key of path.slice(0, -1)) node = node && memberOf(node, key);
  const properties = node?.children ?? [];
  const index = properties.findIndex((property) => keyOf(property) === path.at(-1));
  const property = properties[index];
  if (node?.type !== 'object' || !property) return text;

  const { comma, lineEnd } = behind(text, end(property));
  let [from, to] = [property.offset, comma === undefined ? end(property) : comma + 1];
  const lineStart = text.lastIndexOf('\n', from - 1) + 1;
  const isOwnLine = text.slice(lineStart, from).trim() === '' && /^\r?\n/.test(text.slice(lineEnd));
  if (isOwnLine) {
    [from, to] = [lineStart - (text[lineStart - 2] === '\r' ? 2 : 1), lineEnd];
    const above = text.lastIndexOf('\n', from - 1) + 1;
    if (isOurComment(text.slice(above, from).trim())) from = above - (text[above - 2] === '\r' ? 2 : 1);
  } else while (text[to] === ' ' && text[to + 1] !== '}') to++;

  let edited = splice(text, from, to, '');
  const before = properties[index - 1];
  // The removed key was last and had no comma, so remove the comma of the key before it.
  if (before && comma === undefined && index === properties.length - 1) {
    const { comma: lone } = behind(text, end(before));
    if (lone !== undefined) {
      const tail = isOwnLine || text.slice(lone + 1, from).trim() !== '' ? lone + 1 : from;
      edited = splice(edited, lone, tail, '');
    }
  }
  if (properties.length > 1) return edited;
  const close = end(node) - (to - from) - 1;
  return edited.slice(node.offset + 1, close).trim() === '' ? splice(edited, node.offset + 1, close, '') : edited;
}

/** Whether the object at `path` is empty, without comments. */
export function isBare(text: string, path: readonly string[]): boolean {
  const node = path.reduce<Node | undefined>((at, key) => at && memberOf(at, key), parseTree(text, [], { allowTrailingComma: true }));
  return node?.type === 'object' && text.slice(node.offset + 1, end(node) - 1).trim() === '';
}

type Entry = { readonly key: string; readonly value: unknown; readonly above: string | undefined };

function insert(text: string, object: Node, { key, value, above }: Entry, style: Style): string {
  const { eol, unit } = style;
  const children = object.children ?? [];
  const last = children.at(-1);
  const name = JSON.stringify(key);
  if (last && isOneLine(text, object)) {
    const { comma } = behind(text, end(last));
    const inline = ` ${name}: ${writeInline(value)}`;
    return comma === undefined ? splice(text, end(last), end(last), `,${inline}`) : splice(text, comma + 1, comma + 1, `${inline},`);
  }
  const outer = lineIndent(text, object.offset);
  const first = children[0];
  const isFirstOnItsLine = first !== undefined && lineIndent(text, first.offset).length === columnOf(text, first.offset);
  const indent = isFirstOnItsLine ? lineIndent(text, first.offset) : outer + unit;
  const lines = [...(above === undefined ? [] : [`// ${above}`]), `${name}: ${write(value, indent, style)}`];
  const entry = lines.map((line) => `${eol}${indent}${line}`).join('');
  const { comma, lineEnd: place } = behind(text, last ? end(last) : object.offset + 1);
  const hasLineAfter = text.slice(place, end(object) - 1).includes('\n');
  const edited = splice(text, place, place, `${entry}${comma === undefined ? '' : ','}${hasLineAfter ? '' : eol + outer}`);
  return last && comma === undefined ? splice(edited, end(last), end(last), ',') : edited;
}

const TRIVIA = /\/\/[^\r\n]*|\/\*[\s\S]*?\*\/|\s|,/y;

/** The position of the comma after a value, if any, and the end of the last token or comment on its line. */
function behind(text: string, from: number): { readonly comma: number | undefined; readonly lineEnd: number } {
  let comma: number | undefined;
  let lineEnd = from;
  let hasLeftLine = false;
  for (let at = from; at < text.length; ) {
    TRIVIA.lastIndex = at;
    const trivia = TRIVIA.exec(text)?.[0] ?? '';
    if (trivia === '' || (trivia === ',' && comma !== undefined)) break;
    if (trivia === ',') comma = at;
    // A comma on a later line: continue there, and leave everything in between.
    if (trivia === ',' && hasLeftLine) [hasLeftLine, lineEnd] = [false, at + 1];
    if (/[\r\n]/.test(trivia)) hasLeftLine = true;
    at += trivia.length;
    if (!hasLeftLine && trivia.trim() !== '') lineEnd = at;
    if (hasLeftLine && comma !== undefined) break;
  }
  return { comma, lineEnd };
}

const end = (node: Node): number => node.offset + node.length;
const keyOf = (property: Node): unknown => property.children?.[0]?.value;
const memberOf = (object: Node, key: string): Node | undefined =>
  object.type === 'object' ? object.children?.find((property) => keyOf(property) === key)?.children?.[1] : undefined;
const splice = (text: string, from: number, to: number, now: string): string => text.slice(0, from) + now + text.slice(to);
const columnOf = (text: string, offset: number): number => offset - (text.lastIndexOf('\n', offset - 1) + 1);
const isOneLine = (text: string, node: Node): boolean =>
  (node.children ?? []).length > 0 && !text.slice(node.offset, end(node)).includes('\n');

function lineIndent(text: string, offset: number): string {
  const start = offset - columnOf(text, offset);
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
}

function objectAt(node: Node, key: string): Node {
  if (node.type !== 'object') throw new NotAnObject(key);
  return node;
}
