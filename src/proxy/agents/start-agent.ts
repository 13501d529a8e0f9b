// Starts an agent in the tongue it speaks: as it is set, as it was found the last time, or as its first words show. One that was asked in
// the wrong tongue is started anew, since there is no telling what it has made of the question.
import type { AgentSpec } from '../../agents/defaults.ts';
import type { Handshake } from '../../agents/handshake.ts';
import {
  type FirstOutput,
  initialDialect,
  isSame,
  otherFraming,
  recognise,
  type SelectedDialect,
  settingOf,
} from '../../dialects/select-dialect.ts';
import type { ProxyError } from '../../errors.ts';
import { detach, type Frame } from '../../wire/frame.ts';
import { type AgentConnection, type ConnectionDeps, type ConnectionEvents, openConnection } from './agent-connection.ts';

/** How long an agent of which nothing is known may be silent before it is asked in the other framing as well. */
const SILENCE_MS = 3000;

export type StartDeps = ConnectionDeps & {
  /** How it was found to speak the last time. */
  readonly found?: (() => SelectedDialect | undefined) | undefined;
  /** It has answered before, in lines or as `found` says. */
  readonly isKnown?: (() => boolean) | undefined;
};

export type StartEvents = Omit<ConnectionEvents, 'ready' | 'suspect'> & { ready(handshake: Handshake, selected: SelectedDialect): void };

type Attempt = {
  readonly selected: SelectedDialect;
  readonly run: AgentConnection;
  /** What it has said while another one's words counted. */
  held: Frame[];
};

/** Before its answer to initialize an agent has little to say. */
const MAX_HELD = 1000;

export function startAgent(spec: AgentSpec, deps: StartDeps, on: StartEvents): AgentConnection {
  const setting = settingOf(spec);
  const tried: SelectedDialect[] = [];
  const attempts = new Set<Attempt>();
  const leavings: Promise<void>[] = [];
  /** All that were ever started: of one that is over something may be left. */
  const runs: AgentConnection[] = [];
  /** The one whose words count; the others are asked beside it. */
  let current: Attempt | undefined;
  let isDecided = false;
  let isPaused = false;
  let isActive = false;
  let callOffSilence = () => {};

  function attempt(selected: SelectedDialect): void {
    tried.push(selected);
    let mine: Attempt | undefined;
    let ended: (() => void) | undefined;
    const isCurrent = () => mine === undefined || mine === current;
    const run = openConnection(
      spec,
      deps,
      {
        ready(handshake) {
          isDecided = true;
          callOffSilence();
          for (const other of [...attempts]) if (other !== mine) drop(other);
          if (mine) listenTo(mine);
          on.ready(handshake, selected);
        },
        suspect(words) {
          const better = isDecided ? undefined : otherThanTried(selected, words);
          if (!better || !mine) return false;
          const wasCurrent = isCurrent();
          drop(mine);
          if (wasCurrent) current = undefined;
          attempt(better);
          return true;
        },
        frame(frame) {
          isActive = true;
          if (isCurrent()) on.frame(frame);
          else if (mine && mine.held.length < MAX_HELD) mine.held.push(detach(frame));
        },
        answer: (idText, frame) => void (isCurrent() && on.answer(idText, frame)),
        refused: (refusal) => void (isCurrent() && on.refused(refusal)),
        oversized: (refusal) => void (isCurrent() && on.oversized(refusal)),
        remark: (text) => on.remark?.(text),
        over(error, wasReady, leaving) {
          const tell = () => over(mine, error, wasReady, leaving);
          if (mine) tell();
          else ended = tell;
        },
      },
      selected,
    );
    runs.push(run);
    mine = { selected, run, held: [] };
    attempts.add(mine);
    current ??= mine;
    if (isPaused) run.pause();
    ended?.();
  }
  function otherThanTried(selected: SelectedDialect, words: FirstOutput): SelectedDialect | undefined {
    const better = recognise(setting, selected, words);
    return better && !tried.some((one) => isSame(one, better)) ? better : undefined;
  }
  function listenTo(one: Attempt): void {
    current = one;
    const { held } = one;
    one.held = [];
    for (const frame of held) on.frame(frame);
  }
  function drop(one: Attempt): void {
    attempts.delete(one);
    leavings.push(one.run.retire());
  }
  /** While another is still asked, one end is not the end. */
  function over(one: Attempt | undefined, error: ProxyError, wasReady: boolean, leaving: Promise<void>): void {
    if (one) attempts.delete(one);
    leavings.push(leaving);
    const isLast = attempts.size === 0 || error.key === 'AGENT_SILENT';
    if (!isDecided && !isLast) {
      const [next] = attempts;
      if (one === current && next) listenTo(next);
      return;
    }
    callOffSilence();
    for (const other of [...attempts]) drop(other);
    on.over(
      error,
      wasReady,
      Promise.all(leavings).then(() => {}),
    );
  }

  attempt(initialDialect(setting, deps.found?.()));
  const [first] = tried;
  const other = first && otherFraming(setting, first);
  if (other && attempts.size > 0) {
    const { initializeMs } = spec.timeouts;
    const waitMs = deps.isKnown?.() ? Math.max(SILENCE_MS, initializeMs / 2) : SILENCE_MS;
    const ask = () => {
      if (!isDecided && !isActive && tried.length === 1) attempt(other);
    };
    if (waitMs < initializeMs) callOffSilence = deps.clock.after(waitMs, ask);
  }

  const all = (act: (run: AgentConnection) => Promise<void>): Promise<void> => {
    callOffSilence();
    return Promise.all([...leavings, ...[...attempts].map(({ run }) => act(run))]).then(() => {});
  };
  const spoken = () => (current as Attempt).run;
  const { sinceMs } = spoken();
  const firstPid = spoken().pid();
  return {
    isReady: () => spoken().isReady(),
    isHealthy: () => spoken().isHealthy(),
    pid: () => current?.run.pid() ?? firstPid,
    sinceMs,
    stderrTail: () => spoken().stderrTail(),
    sendFrame: (frame, patches) => spoken().sendFrame(frame, patches),
    sendLine: (line) => spoken().sendLine(line),
    pause() {
      isPaused = true;
      for (const { run } of attempts) run.pause();
    },
    resume() {
      isPaused = false;
      for (const { run } of attempts) run.resume();
    },
    stop: () => all((run) => run.stop()),
    retire: () => all((run) => run.retire()),
    kill() {
      for (const run of runs) run.kill();
    },
  };
}
