// The transitions of a session in any order: each operation settles at most once.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
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
  loadable,
  loaded,
  loadedFromTranscript,
  loadFailed,
  lockAgent,
  lose,
  mayClose,
  mayRecover,
  namedByClient,
  opened,
  operationOf,
  type Recovery,
  recovered,
  recoveryFailed,
  recoveryRequested,
  recoveryWait,
  restingOf,
  type SessionState,
  settle,
} from '../../../src/proxy/sessions/session-state.ts';

const load = (): Load => ({ operation: 'load', abandon: () => {} });
const recovery = (): Recovery => ({ operation: 'recovery', noteActivity: () => {}, join: () => {} });
const change = (): Change => ({ operation: 'change', abandon: () => {} });
const close = (): Close => ({ operation: 'close' });
const recoveryOverdue = (now: Parameters<typeof recoveryWait>[0]) => recoveryWait(now, 'overdue');

const WITH = { openParams: '{"cwd":"/a"}', roots: undefined, agentLocked: false };
const BEGUN = () => true;

const EVENTS = [
  'name',
  'open',
  'lose',
  'lock',
  'load',
  'loaded',
  'transcript',
  'loadFailed',
  'recover',
  'asked',
  'overdue',
  'recovered',
  'recoveryFailed',
  'change',
  'changed',
  'changeFailed',
  'close',
  'closeRefused',
  'end',
] as const;

test('in any history of legal events, each operation settles at most once, and closed is final', () => {
  fc.assert(
    fc.property(fc.constantFrom('client', 'agent'), fc.array(fc.constantFrom(...EVENTS), { maxLength: 60 }), (origin, events) => {
      let state: SessionState = origin === 'agent' ? DISCOVERED : KNOWN;
      const begun = { load: [] as Load[], recovery: [] as Recovery[], change: [] as Change[], close: [] as Close[] };
      const settled = new Set<object>();
      const finish = <Name extends 'load' | 'recovery' | 'change' | 'close'>(name: Name, next: Parameters<typeof settle<Name>>[2]) => {
        // Every operation ever begun tries to settle, the late ones too.
        for (const op of begun[name]) {
          const after: SessionState | undefined = settle<Name>(state, op as never, next);
          if (after === undefined) continue;
          expect(settled.has(op)).toBe(false);
          settled.add(op);
          state = after;
        }
      };
      for (const event of events) {
        const before = state;
        if (state.kind === 'closed') {
          for (const name of ['load', 'recovery', 'change', 'close'] as const) expect(operationOf(state, name)).toBeUndefined();
        }
        switch (event) {
          case 'name':
            if (state.kind !== 'closed') state = namedByClient(state);
            break;
          case 'open':
            if (state.kind !== 'closed') state = opened(state, WITH);
            break;
          case 'lose':
            if (state.kind !== 'closed') state = lose(state, false);
            break;
          case 'lock':
            if (state.kind === 'open') state = lockAgent(state);
            break;
          case 'end':
            state = end(state);
            break;
          case 'load':
            if (['known', 'open', 'lost', 'transcript', 'recovering'].includes(state.kind)) {
              const op = load();
              begun.load.push(op);
              state = beginLoad(loadable(state), op);
            }
            break;
          case 'loaded':
            finish('load', (now) => loaded(now, WITH, BEGUN));
            break;
          case 'transcript':
            finish('load', loadedFromTranscript);
            break;
          case 'loadFailed':
            finish('load', (now) => loadFailed(now, origin));
            break;
          case 'recover':
            if (mayRecover(state)) {
              const op = recovery();
              begun.recovery.push(op);
              state = beginRecovery(state, op);
            }
            break;
          case 'asked':
          case 'overdue':
            for (const op of begun.recovery) {
              const next =
                event === 'asked'
                  ? (now: Parameters<typeof recoveryOverdue>[0]) => recoveryRequested(now, 'session/load')
                  : recoveryOverdue;
              state = settle<'recovery'>(state, op, next) ?? state;
            }
            break;
          case 'recovered':
            finish('recovery', recovered);
            break;
          case 'recoveryFailed':
            finish('recovery', recoveryFailed);
            break;
          case 'change':
            if (state.kind === 'open' || mayRecover(state)) {
              const op = change();
              begun.change.push(op);
              state = beginChange(changeable(state), op);
            }
            break;
          case 'changed':
            finish('change', changed);
            break;
          case 'changeFailed':
            finish('change', changeFailed);
            break;
          case 'close':
            if (mayClose(state)) {
              const op = close();
              begun.close.push(op);
              state = beginClose(state, op);
            }
            break;
          case 'closeRefused':
            finish('close', closeRefused);
            break;
        }
        if (before.kind === 'closed') expect(state.kind).toBe('closed');
        if (restingOf(state).kind === 'lost') expect(restingOf(state)).toHaveProperty('openParams', WITH.openParams);
      }
    }),
    { numRuns: 2000 },
  );
});
