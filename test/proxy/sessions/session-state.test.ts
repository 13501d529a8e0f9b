// The states of a session and their transitions.
import { expect, test } from 'vitest';
import {
  admit,
  beginChange,
  beginClose,
  beginLoad,
  beginRecovery,
  type Change,
  type Close,
  changeable,
  changed,
  changeFailed,
  closeRefused,
  DISCOVERED,
  end,
  KNOWN,
  type Load,
  leftToLoad,
  loadAnswered,
  loadable,
  loaded,
  loadedFromTranscript,
  loadFailed,
  loadSent,
  lockAgent,
  lose,
  mayClose,
  mayOpenAnew,
  mayRecover,
  namedByClient,
  opened,
  openedAnew,
  operationOf,
  overtakes,
  type Recovery,
  recovered,
  recoveryAnswered,
  recoveryFailed,
  recoveryRequested,
  recoveryWait,
  replayEnded,
  restingOf,
  resumedInProcess,
  rootsOf,
  type SessionState,
  settle,
  withholdsUpdates,
} from '../../../src/proxy/sessions/session-state.ts';

type Live = Exclude<SessionState, { kind: 'closed' }>;
const live = (state: SessionState): Live => {
  if (state.kind === 'closed') throw new Error('the session is closed');
  return state;
};

const load = (): Load => ({ operation: 'load', abandon: () => {} });
const recovery = (): Recovery => ({ operation: 'recovery', noteActivity: () => {}, join: () => {} });
const change = (): Change => ({ operation: 'change', abandon: () => {} });
const close = (): Close => ({ operation: 'close' });
const recoveryOverdue = (now: Parameters<typeof recoveryWait>[0]) => recoveryWait(now, 'overdue');

const WITH = { openParams: '{"cwd":"/a"}', roots: undefined, agentLocked: false };
const BEGUN = () => true;
const ROOTS = { named: ['/a'], real: ['/a'] };
const open = (): Live => live(opened(KNOWN, WITH));
const lost = (): Live => live(lose(open(), true));

const transcript = (): SessionState => loadedFromTranscript(beginLoad(KNOWN, load()));

/** The nesting of a state: `closing(loading(known))`. */
function shape(state: SessionState | undefined): string {
  if (state === undefined) return 'late';
  return 'from' in state ? `${state.kind}(${shape(state.from)})` : state.kind;
}

function recoverable(state: SessionState): Parameters<typeof beginRecovery>[0] {
  if (mayRecover(state)) return state;
  throw new Error(state.kind);
}

test.each([
  ['a client names a discovered session', () => namedByClient(DISCOVERED), 'known'],
  ['a client names an open session again', () => namedByClient(open()), 'open'],
  ['the agent opens a session that it spoke of before', () => opened(DISCOVERED, WITH), 'open'],
  ['the agent opens a session that is being loaded', () => opened(beginLoad(KNOWN, load()), WITH), 'loading(open)'],
  ['the agent opens a session that is being recovered', () => opened(beginRecovery(recoverable(lost()), recovery()), WITH), 'open'],
  ['an open session loses its agent', () => lost(), 'lost'],
  ['a session without params loses its agent', () => lose(live(opened(KNOWN, { ...WITH, openParams: undefined })), false), 'known'],
  ['a discovered session loses its agent', () => lose(DISCOVERED, false), 'discovered'],
  ['a session loses its agent while it is loaded', () => lose(beginLoad(loadable(open()), load()), false), 'loading(lost)'],
  ['a session loses its agent while that is changed', () => lose(beginChange(changeable(open()), change()), false), 'changing(lost)'],
  ['a session loses its agent while it is closed', () => lose(beginClose(open() as never, close()), false), 'closing(lost)'],
  ['a closed session ends again', () => end(end(open())), 'closed'],
] as const)('%s', (_, state, expected) => {
  expect(shape(state())).toBe(expected);
});

test.each(['discovered', 'loading', 'changing', 'closing', 'closed'] as const)('a load cannot begin in a session that is %s', (kind) => {
  const states = {
    discovered: DISCOVERED,
    loading: beginLoad(KNOWN, load()),
    changing: beginChange(changeable(open()), change()),
    closing: beginClose(KNOWN, close()),
    closed: end(KNOWN),
  };
  expect(() => loadable(states[kind])).toThrow(kind);
});

test('a load that fails leaves a session that was in use as it was, and ends one that only the load knew of', () => {
  const op = load();
  const failed = (state: SessionState, origin: 'client' | 'agent' = 'client') =>
    shape(settle<'load'>(beginLoad(loadable(state), op), op, (now) => loadFailed(now, origin)));
  expect(failed(open())).toBe('open');
  expect(failed(lost())).toBe('lost');
  expect(failed(KNOWN)).toBe('closed');
  expect(failed(transcript())).toBe('closed');
  expect(failed(KNOWN, 'agent')).toBe('discovered');
});

test('an operation settles below a close, and the close goes on', () => {
  const op = load();
  const closing = beginClose(beginLoad(KNOWN, op), close());
  expect(shape(settle<'load'>(closing, op, (now) => loaded(now, WITH, BEGUN)))).toBe('closing(open)');
  expect(shape(settle<'load'>(closing, op, (now) => loadFailed(now, 'client')))).toBe('closing(closed)');
});

test('a session whose load fails below a close stays until the close is answered, whatever its agent does', () => {
  const [op, ending] = [load(), close()];
  const closing = live(settle<'load'>(beginClose(beginLoad(KNOWN, op), ending), op, (now) => loadFailed(now, 'client')) ?? KNOWN);
  for (const state of [lose(closing, false), opened(closing, WITH), leftToLoad(closing)]) expect(shape(state)).toBe('closing(closed)');
  expect(restingOf(closing).kind).toBe('closed');
  expect(rootsOf(closing)).toBeUndefined();
  expect(shape(settle<'close'>(closing, ending, closeRefused))).toBe('closed');
});

test('a close makes a change of agent late, and the session closes at the agent it has', () => {
  const op = change();
  const closing = beginClose(beginChange(changeable(open()), op), close());
  expect(shape(closing)).toBe('closing(open)');
  expect(settle<'change'>(closing, op, changed)).toBeUndefined();
});

test('a close that is refused leaves the load under way', () => {
  const op = close();
  expect(shape(settle<'close'>(beginClose(beginLoad(KNOWN, load()), op), op, closeRefused))).toBe('loading(known)');
});

test('an operation is late once the session has ended, or once another has taken its place', () => {
  const first = recovery();
  const begun = beginRecovery(recoverable(lost()), first);
  expect(settle<'recovery'>(end(begun), first, recovered)).toBeUndefined();
  const second = beginRecovery(recoveryOverdue(begun), recovery());
  expect(settle<'recovery'>(second, first, recovered)).toBeUndefined();
});

test('a session that loses its agent twice in one turn is still lost in that turn, and expects no replay any more', () => {
  const inTurn = (first: boolean, second: boolean) => lose(live(lose(open(), first)), second);
  expect(inTurn(true, false)).toMatchObject({ kind: 'lost', wasInTurn: true, openParams: WITH.openParams });
  expect(inTurn(false, true)).toMatchObject({ kind: 'lost', wasInTurn: true });
  expect(inTurn(false, false)).toMatchObject({ kind: 'lost', wasInTurn: false, replaying: [] });
});

test('a session loses its agent during a recovery, and the recovery keeps its ticket', () => {
  const op = recovery();
  const begun = beginRecovery(recoverable(lost()), op);
  expect(shape(lose(begun, false))).toBe('recovering(lost)');
  expect(operationOf(lose(begun, false), 'recovery')?.op).toBe(op);
});

test('an operation under way is found by its name, also below another one', () => {
  const [inner, outer] = [load(), close()];
  const state = beginClose(beginLoad(KNOWN, inner), outer);
  expect(operationOf(state, 'load')?.op).toBe(inner);
  expect(operationOf(state, 'close')?.op).toBe(outer);
  expect(operationOf(state, 'change')).toBeUndefined();
  expect(operationOf(open(), 'load')).toBeUndefined();
});

test('any session can be closed that is not closed or being closed', () => {
  const begun = beginRecovery(recoverable(lost()), recovery());
  const changing = beginChange(changeable(open()), change());
  for (const state of [DISCOVERED, KNOWN, open(), lost(), transcript(), beginLoad(KNOWN, load()), begun, changing])
    expect(mayClose(state)).toBe(true);
  for (const state of [beginClose(KNOWN, close()), end(KNOWN)]) expect(mayClose(state)).toBe(false);
});

test.each([
  // state, then what becomes of: a prompt, a notification, a load, a close, a cancel
  ['discovered', () => DISCOVERED, 'pass', 'pass', 'pass', 'pass', 'pass'],
  ['known', () => KNOWN, 'pass', 'pass', 'pass', 'pass', 'pass'],
  ['open', open, 'pass', 'pass', 'pass', 'pass', 'pass'],
  ['lost', lost, 'recover', 'drop', 'pass', 'pass', 'pass'],
  ['a transcript', transcript, 'refuse', 'refuse', 'pass', 'pass', 'pass'],
  ['being loaded', () => beginLoad(KNOWN, load()), 'wait', 'wait', 'wait', 'pass', 'pass'],
  ['being recovered for a request', () => beginRecovery(recoverable(lost()), recovery()), 'wait', 'wait', 'wait', 'pass', 'pass'],
  [
    'being recovered for nobody',
    () => recoveryWait(beginRecovery(recoverable(lost()), recovery()), 'unawaited'),
    ...['recover', 'drop', 'pass', 'pass', 'pass'],
  ],
  [
    'being recovered for too long',
    () => recoveryOverdue(beginRecovery(recoverable(lost()), recovery())),
    ...['recover', 'drop', 'pass', 'pass', 'pass'],
  ],
  ['changing its agent', () => beginChange(changeable(open()), change()), 'wait', 'wait', 'wait', 'pass', 'pass'],
  ['being closed', () => beginClose(KNOWN, close()), 'wait', 'wait', 'wait', 'wait', 'pass'],
  ['being closed while it is loaded', () => beginClose(beginLoad(KNOWN, load()), close()), 'wait', 'wait', 'wait', 'wait', 'pass'],
  ['closed', () => end(KNOWN), 'reroute', 'reroute', 'reroute', 'reroute', 'reroute'],
] as const)('a session that is %s admits frames from the client', (_, state, prompt, note, loads, closes, cancels) => {
  const now = state();
  expect(admit(now, 'session/prompt', true)).toBe(prompt);
  expect(admit(now, '_vendor/note', false)).toBe(note);
  for (const method of ['session/load', 'session/resume']) expect(admit(now, method, true)).toBe(loads);
  for (const method of ['session/close', 'session/delete']) expect(admit(now, method, true)).toBe(closes);
  expect(admit(now, 'session/cancel', false)).toBe(cancels);
});

test('a cancel, a close and a delete overtake waiting frames, and nothing else does', () => {
  expect(['session/cancel', 'session/close', 'session/delete'].every(overtakes)).toBe(true);
  expect(['session/prompt', 'session/load', 'session/resume', 'session/set_mode', '_vendor/note'].some(overtakes)).toBe(false);
});

test('a change of agent keeps the params and directories of the session, also when it begins during a recovery', () => {
  const begun = beginRecovery(recoverable(lose(live(opened(KNOWN, { ...WITH, roots: ROOTS })), false)), recovery());
  expect(changed(beginChange(begun, change()))).toEqual({ kind: 'open', openParams: WITH.openParams, roots: ROOTS, agentLocked: false });
  expect(changed(beginChange(changeable(open()), change()))).toEqual({ kind: 'open', ...WITH });
});

test('a change of agent that fails leaves the session as it was', () => {
  const op = change();
  const before = changeable(open());
  expect(settle<'change'>(beginChange(before, op), op, changeFailed)).toBe(before);
});

test('the session below the operations is the one that rests', () => {
  expect(restingOf(beginClose(beginLoad(loadable(open()), load()), close())).kind).toBe('open');
  expect(restingOf(KNOWN)).toBe(KNOWN);
});

test('a session recovers with the params and directories it was opened with', () => {
  const op = recovery();
  const lost = lose(live(opened(KNOWN, { ...WITH, roots: ROOTS })), false);
  expect(settle<'recovery'>(beginRecovery(recoverable(lost), op), op, recovered)).toEqual({ kind: 'open', ...WITH, roots: ROOTS });
});

test('a first prompt locks the agent, also if it came before a load; a load or a change of agent does not', () => {
  const op = load();
  const begun = beginLoad(KNOWN, op);
  expect(loaded(begun, WITH, BEGUN).agentLocked).toBe(true);
  expect(loaded(begun, WITH, () => false).agentLocked).toBe(false);
  const state = open();
  if (state.kind !== 'open') throw new Error(state.kind);
  const lost = recoverable(lose(state, false));
  for (const from of [state, lost, beginRecovery(lost, recovery())])
    expect(loaded(beginLoad(from, op), WITH, BEGUN).agentLocked).toBe(false);
  const prompted = lockAgent(state);
  const gone = recoverable(lose(prompted, true));
  for (const from of [prompted, gone, beginRecovery(gone, recovery())])
    expect(loaded(beginLoad(from, op), WITH, () => false).agentLocked).toBe(true);
  expect([state, prompted].map((held) => resumedInProcess(begun, held).agentLocked)).toEqual([false, true]);
  expect(changed(beginChange(state, change())).agentLocked).toBe(false);
});

test('only a session that nobody has open here and that never had a prompt is opened anew', () => {
  const op = load();
  const isAllowed = (from: Parameters<typeof beginLoad>[0], hasBegun: boolean) => mayOpenAnew(beginLoad(from, op), () => hasBegun);
  expect([isAllowed(KNOWN, false), isAllowed(KNOWN, true)]).toEqual([true, false]);
  const state = open();
  if (state.kind !== 'open') throw new Error(state.kind);
  const gone = recoverable(lose(state, false));
  for (const from of [state, gone, beginRecovery(gone, recovery()), lockAgent(state), loadable(transcript())])
    expect(isAllowed(from, false), from.kind).toBe(false);
  const begun = loadSent(beginLoad(KNOWN, op), 'shown', ROOTS);
  const anew = settle<'load'>(begun, op, (now) => openedAnew(now, { openParams: '{}', roots: undefined }));
  expect(anew).toEqual({ kind: 'open', openParams: '{}', roots: ROOTS, agentLocked: false });
});

test('the directories of a load apply while it is in progress', () => {
  const sent = loadSent(beginLoad(KNOWN, load()), undefined, ROOTS);
  expect(rootsOf(beginClose(sent, close()))).toEqual(ROOTS);
  expect(loaded(sent, { openParams: '{}', roots: undefined }, BEGUN).roots).toEqual(ROOTS);
  const other = { named: ['/b'], real: ['/b'] };
  expect(loaded(sent, { openParams: '{}', roots: other }, BEGUN).roots).toEqual(other);
});

test('an open session and a lost one keep their directories, also while an operation is under way; others have none', () => {
  const withRoots = live(opened(KNOWN, { ...WITH, roots: ROOTS }));
  for (const state of [
    withRoots,
    lose(withRoots, false),
    beginLoad(loadable(withRoots), load()),
    beginChange(changeable(withRoots), change()),
  ])
    expect(rootsOf(state)).toEqual(ROOTS);
  for (const state of [KNOWN, DISCOVERED, end(KNOWN), beginClose(KNOWN, close())]) expect(rootsOf(state)).toBeUndefined();
});

test('a replay is withheld from a client that did not ask for it, until the agent has answered', () => {
  const sent = loadSent(beginLoad(KNOWN, load()), 'withheld', undefined);
  expect(withholdsUpdates(sent)).toBe(true);
  expect(withholdsUpdates(beginClose(sent, close()))).toBe(true);
  expect(withholdsUpdates(loadAnswered(sent))).toBe(false);
  expect(withholdsUpdates(loadSent(beginLoad(KNOWN, load()), 'shown', undefined))).toBe(false);
});

test('a replay that is shown stays shown after the answer, and a second request of the load keeps it so', () => {
  const shown = loadSent(beginLoad(KNOWN, load()), 'shown', undefined);
  expect(loadAnswered(shown).replay).toBe('shown');
  expect(loadSent(shown, undefined, ROOTS)).toMatchObject({ kind: 'loading', replay: 'shown', roots: ROOTS });
});

test('no update is withheld while a session rests, is opened, closed or moved, or before its load has left', () => {
  const begun = beginRecovery(recoverable(lost()), recovery());
  const states = [open(), lost(), KNOWN, begun, recoveryRequested(begun, 'session/resume'), beginLoad(KNOWN, load())];
  for (const state of [...states, beginChange(changeable(open()), change()), beginClose(KNOWN, close())])
    expect(withholdsUpdates(state)).toBe(false);
});

test('a load that begins during a recovery withholds its replay until the load asks for one itself', () => {
  const asked = recoveryRequested(beginRecovery(recoverable(lost()), recovery()), 'session/load');
  const begun = beginLoad(loadable(asked), load());
  expect(withholdsUpdates(begun)).toBe(true);
  expect(withholdsUpdates(loadSent(begun, 'shown', undefined))).toBe(false);
  expect(withholdsUpdates(beginChange(changeable(asked), change()))).toBe(true);
  expect(withholdsUpdates(recoveryAnswered(asked))).toBe(false);
});

test('a new attempt to recover is neither overdue nor withholding, and an attempt becomes overdue once', () => {
  const begun = beginRecovery(recoverable(lost()), recovery());
  expect(begun).toMatchObject({ withholdsReplay: false, wait: 'awaited' });
  expect(recoveryOverdue(begun)).toMatchObject({ kind: 'recovering', wait: 'overdue' });
  expect(mayRecover(begun)).toBe(true);
  for (const state of [open(), KNOWN, end(KNOWN), beginLoad(KNOWN, load())]) expect(mayRecover(state)).toBe(false);
});

test('the end of one replaced recovery leaves the replay of another withheld', () => {
  const [first, second] = [recovery(), recovery()];
  const asked = (state: SessionState, op: Recovery) =>
    recoveryOverdue(recoveryRequested(beginRecovery(recoverable(state), op), 'session/load'));
  const third = beginRecovery(asked(asked(lost(), first), second), recovery());
  expect(withholdsUpdates(replayEnded(third, first))).toBe(true);
  expect(withholdsUpdates(replayEnded(live(replayEnded(third, first)), second))).toBe(false);
  expect(replayEnded(open(), first)).toEqual(open());
});

test('the replay of a recovery that was replaced stays withheld until that one is answered too', () => {
  const first = recovery();
  const second = recovery();
  const asked = recoveryRequested(beginRecovery(recoverable(lost()), first), 'session/load');
  expect(withholdsUpdates(asked)).toBe(true);
  const next = beginRecovery(recoveryOverdue(asked), second);
  expect(withholdsUpdates(recoveryRequested(next, 'session/resume'))).toBe(true);
  const failed = settle<'recovery'>(recoveryAnswered(next), second, recoveryFailed) as Live;
  expect(withholdsUpdates(failed)).toBe(true);
  expect(withholdsUpdates(replayEnded(failed, first))).toBe(false);
  expect(withholdsUpdates(lose(failed, false))).toBe(false);
  // A client that loads the session itself is shown the replay it asked for.
  expect(withholdsUpdates(loadSent(beginLoad(loadable(failed), load()), 'shown', undefined))).toBe(false);
});
