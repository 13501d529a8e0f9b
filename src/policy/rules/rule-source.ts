// A rule as its author wrote it: the lines of the file from where it stands to where it ends.

/** `line` is 1-based, that of the rule. Without the indentation and the dash that make it one of a list. */
export function sourceOf(text: string, line: number): string {
  const lines = text.split('\n').slice(line - 1);
  const [first = ''] = lines;
  const [, dash] = /^(\s*-\s+)/.exec(first) ?? [];
  if (dash === undefined) return first.trim(); // one of a list in brackets
  const depth = dash.length;
  const end = lines.findIndex((one, index) => index > 0 && one.trim() !== '' && one.search(/\S/) < depth);
  return lines
    .slice(0, end === -1 ? undefined : end)
    .map((one) => one.slice(depth))
    .join('\n')
    .replace(/(?:\n\s*(?:#.*)?)+$/, '')
    .trimEnd();
}
