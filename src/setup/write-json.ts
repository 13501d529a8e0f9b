// Values as a person would write them into a configuration: short lists on one line, objects a key a line, in the file's own indent.

export type Style = { readonly unit: string; readonly eol: string };

/** The indent and line ends a text already has; two spaces and line feeds where it has none. */
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
