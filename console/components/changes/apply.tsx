// Applies chosen hunks of a change and shows the result. Hunks that do not fit are never written.
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ChangeAt, HunkState } from '../../../src/console/protocol/chat.ts';
import { ask } from '../../socket.ts';
import { Problem } from '../controls/problem.tsx';
import { applySummary, openIn, standingOf } from './hunk-summary.ts';

/** The position of a change in a conversation. */
export type Place = { readonly sessionId: string; readonly toolCallId: string; readonly at: number };

export type Choosing = {
  readonly states: readonly HunkState[];
  readonly chosen: ReadonlySet<number>;
  toggle(hunk: number): void;
};

export type Applying = {
  readonly choosing: Choosing | undefined;
  readonly problem: string;
  readonly isApplied: boolean;
  readonly isBusy: boolean;
  begin(): void;
  apply(): void;
  end(): void;
};

/** `place` is undefined when the change cannot be applied here. */
export function useApplying(place: ChangeAt | undefined): Applying {
  /** The change as the user saw it. The agent may replace it meanwhile. */
  const [looked, setLooked] = useState<ChangeAt>();
  const [states, setStates] = useState<readonly HunkState[]>();
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const [problem, setProblem] = useState('');
  const [isApplied, setApplied] = useState(false);
  const [isBusy, setBusy] = useState(false);

  function take(hunks: readonly HunkState[]): void {
    setStates(hunks);
    setChosen(new Set(hunks.flatMap(({ state }, index) => (state === 'open' ? [index] : []))));
  }
  async function attempt(at: ChangeAt | undefined, action: (at: ChangeAt) => Promise<void>): Promise<void> {
    if (!at) return;
    setBusy(true);
    setProblem('');
    setApplied(false);
    await action(at).catch((error: Error) => setProblem(error.message));
    setBusy(false);
  }
  return {
    choosing: states && {
      states,
      chosen,
      toggle: (hunk) => setChosen(new Set(chosen.has(hunk) ? [...chosen].filter((one) => one !== hunk) : [...chosen, hunk])),
    },
    problem,
    isApplied,
    isBusy,
    begin: () =>
      void attempt(place, async (at) => {
        take((await ask('hunks', at)).hunks);
        setLooked(at);
      }),
    apply: () =>
      void attempt(looked, async (at) => {
        const { isWritten, hunks } = await ask('apply', { ...at, hunks: [...chosen] });
        take(hunks);
        if (isWritten) setApplied(true);
        else setProblem('The file has changed, so nothing was written. Conflicts are marked.');
      }),
    end() {
      setStates(undefined);
      setProblem('');
      setApplied(false);
    },
  };
}

const REASONS = { open: 'can be applied', applied: 'already in the file', conflict: 'conflict' } as const;

/** The checkbox and state of a hunk. */
export function HunkChoice({ choosing, hunk, header }: { choosing: Choosing | undefined; hunk: number; header: string }): VNode {
  const state = choosing?.states[hunk]?.state;
  if (!choosing || state === undefined) return <>{header}</>;
  return (
    <label class="choice">
      <input
        type="checkbox"
        aria-label={`Apply hunk ${hunk + 1}`}
        checked={choosing.chosen.has(hunk)}
        disabled={state !== 'open'}
        onChange={() => choosing.toggle(hunk)}
      />
      {header} <span class={`chip ${state}`}>{REASONS[state]}</span>
    </label>
  );
}

const WHY = {
  changed: 'The file has changed here.',
  twice: 'This text occurs more than once in the file, so its place is ambiguous.',
  exists: 'A file with this name already exists.',
  gone: 'The file no longer exists.',
} as const;

/** The expected and the actual text of a hunk that does not fit. */
export function Conflict({ state, before }: { readonly state: HunkState | undefined; readonly before: string }): VNode | null {
  if (state?.state !== 'conflict') return null;
  return (
    <div class="conflict" role="group" aria-label="Conflict">
      <p>{WHY[state.why]}</p>
      <div class="both">
        <figure>
          <figcaption>The change expects</figcaption>
          <pre>{before === '' ? 'nothing' : before}</pre>
        </figure>
        <figure>
          <figcaption>The file has</figcaption>
          <pre>{state.found === undefined ? 'no such file' : state.found === '' ? 'nothing there' : state.found}</pre>
        </figure>
      </div>
    </div>
  );
}

export function ApplyBar({ applying }: { readonly applying: Applying }): VNode | null {
  const { choosing, problem, isApplied, isBusy } = applying;
  const first = useRef<HTMLButtonElement>(null);
  const isChoosing = choosing !== undefined;
  const isOver = isChoosing && openIn(choosing.states) === 0;
  useEffect(() => {
    if (isChoosing) first.current?.focus();
  }, [isChoosing, isOver]);
  if (!choosing) return problem === '' ? null : <Problem text={problem} />;
  const { chosen, states } = choosing;
  const standing = `${isApplied ? 'Applied. ' : ''}${standingOf(states)}`;
  return (
    <div class="apply">
      {standing !== '' && (
        <span class={isApplied ? 'good' : ''} role="status">
          {standing}
        </span>
      )}
      <div class="buttons">
        {!isOver && (
          <button type="button" class="primary" ref={first} disabled={isBusy || chosen.size === 0} onClick={applying.apply}>
            {applySummary(states, chosen.size)}
          </button>
        )}
        <button type="button" {...(isOver && { ref: first })} onClick={applying.end}>
          {isOver || isApplied ? 'Done' : 'Cancel'}
        </button>
      </div>
      <Problem text={problem} />
    </div>
  );
}
