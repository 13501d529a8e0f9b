// A diff, unified or side by side, with changed words marked.
import { signal } from '@preact/signals';
import { diffWordsWithSpace } from 'diff';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { ChangeAt } from '../../../src/console/protocol/chat.ts';
import { type Change, type Hunk as Cut, hunksOf, MAX_COMPARED } from '../../../src/console/protocol/hunks.ts';
import { isOutside, OUTSIDE, shortened } from '../controls/format.ts';
import { ApplyBar, type Choosing, Conflict, HunkChoice, useApplying } from './apply.tsx';
import { fetchPainter, painted } from './code.tsx';

const MAX_LINE = 2000;

type Line = { readonly kind: 'same' | 'old' | 'new'; readonly text: string; readonly n: number; readonly pair?: string };
type Hunk = { readonly header: string; readonly before: string; readonly lines: readonly Line[] };

const isSideBySide = signal(localStorage.getItem('switchboard-diff') === 'side');
/** Long lines wrap, or scroll. */
const isWrapped = signal(localStorage.getItem('switchboard-wrap') !== 'no');

/** `place` is the change's position, if it can be applied. */
export function Diff({ path, oldText, newText, cwd, place }: Change & { cwd?: string; place?: ChangeAt | undefined }): VNode {
  const before = oldText ?? '';
  const isLarge = before.length + newText.length > MAX_COMPARED;
  const hunks = useMemo(() => (isLarge ? [] : hunksOf({ path, oldText, newText }).map(shownHunk)), [oldText, newText, isLarge]);
  const applying = useApplying(place);
  const { choosing } = applying;
  const language = /\.(\w+)$/.exec(path)?.[1] ?? '';
  useEffect(() => {
    if (language !== '') fetchPainter();
  }, [language]);
  const added = hunks.reduce((sum, { lines }) => sum + lines.filter(({ kind }) => kind === 'new').length, 0);
  const removed = hunks.reduce((sum, { lines }) => sum + lines.filter(({ kind }) => kind === 'old').length, 0);
  const isAway = isOutside(path, cwd);
  return (
    <figure class={isWrapped.value ? 'diff' : 'diff unwrapped'}>
      <figcaption>
        <span class={isAway ? 'path outside' : 'path'} title={isAway ? OUTSIDE : path}>
          {isAway ? `⚠ ${path}` : shortened(path, cwd)}
        </span>
        {oldText === undefined && <span class="chip">new file</span>}
        <span class="counts">
          <ins>+{added}</ins> <del>−{removed}</del>
        </span>
        <button
          type="button"
          class="quiet wide-only"
          aria-pressed={isSideBySide.value}
          onClick={() => {
            isSideBySide.value = !isSideBySide.value;
            localStorage.setItem('switchboard-diff', isSideBySide.value ? 'side' : 'one');
          }}
        >
          {isSideBySide.value ? 'Unified' : 'Side by side'}
        </button>
        <button
          type="button"
          class="quiet"
          aria-pressed={isWrapped.value}
          onClick={() => {
            isWrapped.value = !isWrapped.value;
            localStorage.setItem('switchboard-wrap', isWrapped.value ? 'yes' : 'no');
          }}
        >
          Wrap
        </button>
        {place && hunks.length > 0 && !choosing && (
          <button type="button" class="quiet" disabled={applying.isBusy} onClick={applying.begin}>
            Apply…
          </button>
        )}
      </figcaption>
      {isLarge ? (
        <p class="quiet-text">
          The file is too large to compare: {before.length.toLocaleString()} characters before, {newText.length.toLocaleString()} after.
        </p>
      ) : hunks.length === 0 ? (
        <p class="quiet-text">Nothing changes.</p>
      ) : (
        <div class="lines">
          {isSideBySide.value ? (
            <Sides hunks={hunks} choosing={choosing} language={language} />
          ) : (
            <Unified hunks={hunks} choosing={choosing} language={language} />
          )}
        </div>
      )}
      <ApplyBar applying={applying} />
    </figure>
  );
}

const SIGNS = { same: ' ', old: '−', new: '+' } as const;

type Hunks = { readonly hunks: readonly Hunk[]; readonly choosing: Choosing | undefined; readonly language: string };

function Head({
  hunk: { header, before },
  at,
  choosing,
  span,
}: {
  hunk: Hunk;
  at: number;
  choosing: Choosing | undefined;
  span: number;
}): VNode {
  return (
    <tr class="hunk">
      <td colSpan={span}>
        <HunkChoice choosing={choosing} hunk={at} header={header} />
        <Conflict state={choosing?.states[at]} before={before} />
      </td>
    </tr>
  );
}

function Unified({ hunks, choosing, language }: Hunks): VNode {
  return (
    <table class="unified">
      {hunks.map((hunk, at) => (
        <tbody>
          <Head hunk={hunk} at={at} choosing={choosing} span={3} />
          {hunk.lines.map((line) => (
            <tr class={line.kind}>
              <td class="n">{line.n}</td>
              <td class="sign">{SIGNS[line.kind]}</td>
              <td class="text">{renderLine(line, language)}</td>
            </tr>
          ))}
        </tbody>
      ))}
    </table>
  );
}

function Sides({ hunks, choosing, language }: Hunks): VNode {
  return (
    <table class="sides">
      <colgroup>
        <col class="numbers" />
        <col />
        <col class="numbers" />
        <col />
      </colgroup>
      {hunks.map((hunk, at) => (
        <tbody>
          <Head hunk={hunk} at={at} choosing={choosing} span={4} />
          {rowsOf(hunk.lines).map(([left, right]) => (
            <tr>
              <td class="n">{left?.n}</td>
              <td class={`text ${left?.kind ?? 'none'}`}>{left && renderLine(left, language)}</td>
              <td class="n">{right?.n}</td>
              <td class={`text ${right?.kind ?? 'none'}`}>{right && renderLine(right, language)}</td>
            </tr>
          ))}
        </tbody>
      ))}
    </table>
  );
}

function rowsOf(lines: readonly Line[]): (readonly [Line | undefined, Line | undefined])[] {
  const rows: (readonly [Line | undefined, Line | undefined])[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] as Line;
    if (line.kind === 'same') {
      rows.push([line, line]);
      at++;
      continue;
    }
    const [old, now] = changeAt(lines, at);
    for (let row = 0; row < Math.max(old.length, now.length); row++) rows.push([old[row], now[row]]);
    at += old.length + now.length;
  }
  return rows;
}

/** Removed and added lines. */
function changeAt(lines: readonly Line[], from: number): readonly [Line[], Line[]] {
  let at = from;
  while (lines[at]?.kind === 'old') at++;
  let end = at;
  while (lines[end]?.kind === 'new') end++;
  return [lines.slice(from, at), lines.slice(at, end)];
}

function shownHunk({ oldStart, oldLines, newStart, newLines, lines, before }: Cut): Hunk {
  let [old, now] = [oldStart, newStart];
  const read = lines.map((line): Line => {
    const text = line.slice(1);
    if (line.startsWith('-')) return { kind: 'old', text, n: old++ };
    if (line.startsWith('+')) return { kind: 'new', text, n: now++ };
    old++;
    return { kind: 'same', text, n: now++ };
  });
  return { header: `@@ −${oldStart},${oldLines} +${newStart},${newLines} @@`, before, lines: paired(read) };
}

/** Paired lines are compared word by word. */
function paired(lines: readonly Line[]): Line[] {
  const made: Line[] = [];
  for (let at = 0; at < lines.length; ) {
    const [old, now] = changeAt(lines, at);
    if (old.length === 0 && now.length === 0) {
      made.push(lines[at++] as Line);
      continue;
    }
    made.push(...old.map((line, index) => ({ ...line, ...(now[index] && { pair: now[index].text }) })));
    made.push(...now.map((line, index) => ({ ...line, ...(old[index] && { pair: old[index].text }) })));
    at += old.length + now.length;
  }
  return made;
}

function renderLine({ kind, text, pair }: Line, language: string): ComponentChildren {
  if (text.length > MAX_LINE) return `${text.slice(0, MAX_LINE)}… (${text.length.toLocaleString()} characters)`;
  if (pair === undefined || pair.length > MAX_LINE) return text === '' ? ' ' : painted([{ text, isMarked: false }], language);
  const parts = kind === 'old' ? diffWordsWithSpace(text, pair) : diffWordsWithSpace(pair, text);
  const its = parts.filter(({ added, removed }) => (kind === 'old' ? !added : !removed));
  return painted(
    its.map(({ value, added, removed }) => ({ text: value, isMarked: added || removed })),
    language,
  );
}
