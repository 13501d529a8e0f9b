// Formats a change as a unified diff for people.

export type DiffLine = { readonly kind: 'same' | 'added' | 'removed' | 'hunk'; readonly text: string };

const CONTEXT = 3;
/** Above this, comparing every pair of lines takes too long; the middle is then shown as replaced. */
const MAX_CELLS = 4_000_000;

export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let tail = 0;
  while (tail < old.length - start && tail < now.length - start && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  const same = (text: string | undefined): DiffLine => ({ kind: 'same', text: text ?? '' });
  const middle = compare(old.slice(start, old.length - tail), now.slice(start, now.length - tail));
  return inHunks([...old.slice(0, start).map(same), ...middle, ...old.slice(old.length - tail).map(same)]);
}

function linesOf(text: string): string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** The longest common subsequence, from the front. */
function compare(old: readonly string[], now: readonly string[]): DiffLine[] {
  const removed = (text: string | undefined): DiffLine => ({ kind: 'removed', text: text ?? '' });
  const added = (text: string | undefined): DiffLine => ({ kind: 'added', text: text ?? '' });
  if (old.length * now.length > MAX_CELLS) return [...old.map(removed), ...now.map(added)];
  const width = now.length + 1;
  const longest = new Uint32Array((old.length + 1) * width);
  const at = (i: number, j: number) => longest[i * width + j] as number;
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      longest[i * width + j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push({ kind: 'same', text: old[i] ?? '' });
      i++;
      j++;
    } else if (i < old.length && (j === now.length || at(i + 1, j) >= at(i, j + 1))) lines.push(removed(old[i++]));
    else lines.push(added(now[j++]));
  }
  return lines;
}

/** The changes with some context and their positions. */
function inHunks(lines: readonly DiffLine[]): DiffLine[] {
  const isNear = lines.map((_, index) =>
    lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(({ kind }) => kind !== 'same'),
  );
  const shown: DiffLine[] = [];
  let [oldLine, newLine] = [1, 1];
  for (const [index, line] of lines.entries()) {
    if (isNear[index] && !isNear[index - 1]) {
      const end = isNear.indexOf(false, index);
      const hunk = lines.slice(index, end === -1 ? undefined : end);
      const count = (kind: DiffLine['kind']) => hunk.filter((one) => one.kind === kind || one.kind === 'same').length;
      const [oldCount, newCount] = [count('removed'), count('added')];
      const range = (from: number, length: number) => `${length === 0 ? from - 1 : from}${length === 1 ? '' : `,${length}`}`;
      shown.push({ kind: 'hunk', text: `@@ -${range(oldLine, oldCount)} +${range(newLine, newCount)} @@` });
    }
    if (isNear[index]) shown.push(line);
    if (line.kind !== 'added') oldLine++;
    if (line.kind !== 'removed') newLine++;
  }
  return shown;
}
