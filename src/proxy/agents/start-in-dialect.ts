// Starts an agent in its dialect: as configured, as found the last time, or as its first output shows. An agent that was
// started in the wrong dialect is started again, since its reaction to the first request is unknown.
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

/** How long an unknown agent may be silent before the other framing is tried in parallel. */
const SILENCE_MS = 3000;

export type StartDeps = ConnectionDeps & {
  /** The dialect of its last connection. */
  readonly found?: (() => SelectedDialect | undefined) | undefined;
  /** It has answered before, in the dialect `found` or in plain ACP. */
  readonly isKnown?: (() => boolean) | undefined;
};

export type StartEvents = Omit<ConnectionEvents, 'ready' | 'suspect'> & { ready(handshake: Handshake, selected: SelectedDialect): void };

type Attempt = {
  readonly selected: SelectedDialect;
  readonly connection: AgentConnection;
  /** Its frames while another attempt is selected. */
  held: Frame[];
};

/** Before its answer to initialize an agent sends little. */
const MAX_HELD = 1000;

export function startAgent(spec: AgentSpec, deps: StartDeps, on: StartEvents): AgentConnection {
  const setting = settingOf(spec);
  const tried: SelectedDialect[] = [];
  const attempts = new Set<Attempt>();
  const processEnds: Promise<void>[] = [];
  /** All attempts: an ended one may have left processes. */
  const connections: AgentConnection[] = [];
  /** The attempt whose frames are passed on; others may run at the same time. */
  let current: Attempt | undefined;
  let isDecided = false;
  let isPaused = false;
  let isActive = false;
  let cancelSilence = () => {};

  function attempt(selected: SelectedDialect): void {
    tried.push(selected);
    let mine: Attempt | undefined;
    let ended: (() => void) | undefined;
    const isCurrent = () => mine === undefined || mine === current;
    const connection = openConnection(
      spec,
      deps,
      {
        ready(handshake) {
          isDecided = true;
          cancelSilence();
          for (const other of [...attempts]) if (other !== mine) drop(other);
          if (mine) listenTo(mine);
          on.ready(handshake, selected);
        },
        suspect(output) {
          const better = isDecided ? undefined : otherThanTried(selected, output);
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
        batch: (batch) => isDecided && isCurrent() && on.batch?.(batch) === true,
        answer: (idText, frame) => void (isCurrent() && on.answer(idText, frame)),
        refused: (refusal) => void (isCurrent() && on.refused(refusal)),
        oversized: (refusal) => void (isCurrent() && on.oversized(refusal)),
        remark: (text) => on.remark?.(text),
        over(error, wasReady, processEnd) {
          const report = () => over(mine, error, wasReady, processEnd);
          if (mine) report();
          else ended = report;
        },
      },
      selected,
    );
    connections.push(connection);
    mine = { selected, connection, held: [] };
    attempts.add(mine);
    current ??= mine;
    if (isPaused) connection.pause();
    ended?.();
  }
  function otherThanTried(selected: SelectedDialect, output: FirstOutput): SelectedDialect | undefined {
    const better = recognise(setting, selected, output);
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
    processEnds.push(one.connection.retire());
  }
  /** The connection ends with its last attempt. */
  function over(one: Attempt | undefined, error: ProxyError, wasReady: boolean, processEnd: Promise<void>): void {
    if (one) attempts.delete(one);
    processEnds.push(processEnd);
    const isLast = attempts.size === 0 || error.key === 'AGENT_SILENT';
    if (!isDecided && !isLast) {
      const [next] = attempts;
      if (one === current && next) listenTo(next);
      return;
    }
    cancelSilence();
    for (const other of [...attempts]) drop(other);
    on.over(
      error,
      wasReady,
      Promise.all(processEnds).then(() => {}),
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
    if (waitMs < initializeMs) cancelSilence = deps.clock.after(waitMs, ask);
  }

  const all = (act: (connection: AgentConnection) => Promise<void>): Promise<void> => {
    cancelSilence();
    return Promise.all([...processEnds, ...[...attempts].map(({ connection }) => act(connection))]).then(() => {});
  };
  const active = () => (current as Attempt).connection;
  const { sinceMs } = active();
  const firstPid = active().pid();
  return {
    state: () => active().state(),
    isReady: () => active().isReady(),
    isHealthy: () => active().isHealthy(),
    pid: () => current?.connection.pid() ?? firstPid,
    sinceMs,
    stderrTail: () => active().stderrTail(),
    sendFrame: (frame, patches) => active().sendFrame(frame, patches),
    sendLine: (line) => active().sendLine(line),
    pause() {
      isPaused = true;
      for (const { connection } of attempts) connection.pause();
    },
    resume() {
      isPaused = false;
      for (const { connection } of attempts) connection.resume();
    },
    stop: () => all((connection) => connection.stop()),
    retire: () => all((connection) => connection.retire()),
    kill() {
      for (const connection of connections) connection.kill();
    },
  };
}
