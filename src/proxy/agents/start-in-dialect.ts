// Starts an agent in its dialect: as configured, as found the last time, or as its first output shows. An agent that was
// started in the wrong dialect is started again, since its reaction to the first request is unknown.
import type { AgentSpec } from '../../agents/defaults.ts';
import type { Handshake } from '../../agents/handshake.ts';
import { initialDialect, isSame, otherFraming, recognise, type SelectedDialect, settingOf } from '../../dialects/select-dialect.ts';
import type { ProxyError } from '../../errors.ts';
import { type AgentConnection, type ConnectionDeps, type ConnectionEvents, openConnection } from './agent-connection.ts';

export type StartDeps = ConnectionDeps & {
  /** The dialect of its last connection. */
  readonly found?: (() => SelectedDialect | undefined) | undefined;
};

export type StartEvents = Omit<ConnectionEvents, 'ready' | 'suspect'> & { ready(handshake: Handshake, selected: SelectedDialect): void };

/** What programs write when they expect the other framing, and then exit or wait for more. */
const EXPECTS: Readonly<Record<SelectedDialect['framing'], RegExp>> = {
  ndjson: /content-length|\bheaders?\b/i,
  'content-length': /unexpected token|not valid json|json.{0,20}pars|pars.{0,20}json/i,
};

/** Another dialect is tried on evidence only: silence is none, since many agents take long to start. */
export function startAgent(spec: AgentSpec, deps: StartDeps, on: StartEvents): AgentConnection {
  const setting = settingOf(spec);
  const tried: SelectedDialect[] = [];
  const processEnds: Promise<void>[] = [];
  /** All attempts: an ended one may have left processes. */
  const connections: AgentConnection[] = [];
  let current: AgentConnection | undefined;
  let isDecided = false;
  let isPaused = false;
  let isStopped = false;

  function attempt(selected: SelectedDialect): void {
    tried.push(selected);
    let opened: AgentConnection | undefined;
    let ended: (() => void) | undefined;
    const isCurrent = () => opened === undefined || opened === current;
    const connection = openConnection(
      spec,
      deps,
      {
        ready(handshake) {
          isDecided = true;
          on.ready(handshake, selected);
        },
        suspect(output) {
          const better = isDecided ? undefined : recognise(setting, selected, output);
          if (!better || isTried(better) || !opened) return false;
          retry(better);
          return true;
        },
        frame: (frame) => void (isCurrent() && on.frame(frame)),
        batch: (batch) => isDecided && isCurrent() && on.batch?.(batch) === true,
        answer: (idText, frame) => void (isCurrent() && on.answer(idText, frame)),
        refused: (refusal) => void (isCurrent() && on.refused(refusal)),
        oversized: (refusal) => void (isCurrent() && on.oversized(refusal)),
        remark: (text, level) => on.remark?.(text, level),
        ended(error, wasReady, processEnd) {
          const report = () => over(selected, error, wasReady, processEnd);
          if (opened) report();
          else ended = report;
        },
      },
      selected,
    );
    connections.push(connection);
    opened = connection;
    current = connection;
    if (isPaused) connection.pause();
    ended?.();
  }
  const isTried = (wanted: SelectedDialect): boolean => tried.some((one) => isSame(one, wanted));
  function retry(selected: SelectedDialect): void {
    if (current) processEnds.push(current.retire());
    attempt(selected);
  }
  function over(selected: SelectedDialect, error: ProxyError, wasReady: boolean, processEnd: Promise<void>): void {
    processEnds.push(processEnd);
    const other = isDecided || isStopped ? undefined : otherFraming(setting, selected);
    if (other && !isTried(other) && expectsOther(selected, error)) return attempt(other);
    on.ended(
      error,
      wasReady,
      Promise.all(processEnds).then(() => {}),
    );
  }

  attempt(initialDialect(setting, deps.found?.()));
  const all = (act: (connection: AgentConnection) => Promise<void>): Promise<void> => {
    isStopped = true;
    return Promise.all([...processEnds, ...(current ? [act(current)] : [])]).then(() => {});
  };
  const active = () => current as AgentConnection;
  const { sinceMs } = active();
  return {
    state: () => active().state(),
    isReady: () => active().isReady(),
    isHealthy: () => active().isHealthy(),
    pid: () => active().pid(),
    sinceMs,
    stderrTail: (withinMs) => active().stderrTail(withinMs),
    get refusal() {
      return active().refusal;
    },
    get uncovered() {
      return active().uncovered;
    },
    get reach() {
      return active().reach;
    },
    sendFrame: (frame, patches) => active().sendFrame(frame, patches),
    sendLine: (line) => active().sendLine(line),
    pause() {
      isPaused = true;
      active().pause();
    },
    resume() {
      isPaused = false;
      active().resume();
    },
    stop: () => all((connection) => connection.stop()),
    retire: () => all((connection) => connection.retire()),
    kill() {
      isStopped = true;
      for (const connection of connections) connection.kill();
    },
  };
}

/** The agent exited, or gave up waiting, and its last lines show that it expected the other framing. */
function expectsOther({ framing }: SelectedDialect, { key, data }: ProxyError): boolean {
  if (key !== 'AGENT_GONE' && key !== 'AGENT_SILENT') return false;
  const lines = (data?.stderr as readonly string[] | undefined) ?? [];
  return lines.some((line) => EXPECTS[framing].test(line));
}
