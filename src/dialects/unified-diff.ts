// Splits a unified diff into the old and the new text, as far as it shows them: ACP's form of a diff.

export type Texts = { readonly oldText: string | null; readonly newText: string };

/** Undefined if it has no changed line. */
export function textsOfDiff(diff: string): Texts | undefined {
  const lines = diff.split('\n');
  const from = lines.findIndex((line) => line.startsWith('@@'));
  const texts = textsOfLines(from === -1 ? lines.filter((line) => !/^(---|\+\+\+|diff |index )/.test(line)) : lines.slice(from));
  if (!texts) return undefined;
  return /^--- \/dev\/null\s*$/m.test(diff) ? { ...texts, oldText: null } : texts;
}

/** The lines of hunks: ` ` in both, `-` in the old one, `+` in the new one. */
export function textsOfLines(lines: readonly string[]): Texts | undefined {
  const before: string[] = [];
  const after: string[] = [];
  let isChanged = false;
  for (const line of lines) {
    const rest = line.slice(1);
    if (line.startsWith('-')) before.push(rest);
    else if (line.startsWith('+')) after.push(rest);
    else if (line.startsWith(' ')) {
      before.push(rest);
      after.push(rest);
    } else continue;
    isChanged ||= !line.startsWith(' ');
  }
  if (!isChanged) return undefined;
  return { oldText: joined(before), newText: joined(after) };
}

const joined = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
