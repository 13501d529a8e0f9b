// Which agent owns which session.
import { describe, expect, test } from 'vitest';
import { type Binding, createSessionTable, type SessionTable } from '../../src/router/session-table.ts';
import fc from '../generated.ts';

const AGENTS = ['a', 'b', 'c'];
// Some ids look like aliases of others.
const IDS = ['x', 'y', 'x~a', 'x~b', 'x~b~2', 'x~c', ''];

/** The operations on a table; numbers choose among the current entries. */
type Step = {
  readonly do: 'mint' | 'adopt' | 'claim' | 'move' | 'release' | 'remember';
  readonly agent: string;
  readonly nativeId: string;
  readonly which: number;
};
const steps = (kinds: readonly Step['do'][]) =>
  fc.array(
    fc.record({
      do: fc.constantFrom(...kinds),
      agent: fc.constantFrom(...AGENTS),
      nativeId: fc.constantFrom(...IDS),
      which: fc.nat(),
    }),
    { maxLength: 60 },
  );

/** The model: a plain list of the sessions in use. */
function play(history: readonly Step[]): void {
  const table = createSessionTable();
  const live = new Map<string, Binding>();
  const known = new Set<string>();
  const isLiveAt = (agent: string, nativeId: string) => [...live.values()].find((b) => b.agent === agent && b.nativeId === nativeId);
  for (const step of history) {
    const { agent, nativeId, which } = step;
    const chosen = [...live.keys()][which % Math.max(live.size, 1)];
    switch (step.do) {
      case 'mint': {
        const before = isLiveAt(agent, nativeId);
        const minted = table.mint(agent, nativeId, '/w');
        if (before) expect(minted.publicId).toBe(before.publicId);
        else if (live.has(nativeId)) expect(live.has(minted.publicId)).toBe(false);
        else expect(minted.publicId).toBe(nativeId);
        expect(minted).toMatchObject({ agent, nativeId, isLive: true });
        live.set(minted.publicId, minted);
        known.add(minted.publicId);
        break;
      }
      case 'adopt': {
        const before = isLiveAt(agent, nativeId);
        const adopted = table.adopt(agent, nativeId, '/w');
        if (before) expect(adopted.publicId).toBe(before.publicId);
        else expect(live.has(adopted.publicId)).toBe(false);
        expect(adopted).toMatchObject({ agent, nativeId });
        expect(table.adopt(agent, nativeId, '/w')).toBe(adopted);
        known.add(adopted.publicId);
        break;
      }
      case 'move': {
        // An agent does not reuse an id that is in use.
        if (chosen === undefined || isLiveAt(agent, nativeId)) break;
        const moved = table.claim(chosen, agent, nativeId, '/w');
        expect(moved).toEqual({ publicId: chosen, agent, nativeId, cwd: '/w', isLive: true });
        live.set(chosen, moved);
        break;
      }
      case 'claim': {
        // The caller prevents this for sessions and ids in use.
        const publicId = IDS[which % IDS.length] as string;
        if (live.has(publicId) || isLiveAt(agent, nativeId)) break;
        live.set(publicId, table.claim(publicId, agent, nativeId, '/w'));
        known.add(publicId);
        break;
      }
      case 'release': {
        const released = [...known][which % Math.max(known.size, 1)];
        if (released === undefined) break;
        table.release(released);
        expect(table.find(released)).toBeUndefined();
        live.delete(released);
        known.delete(released);
        break;
      }
      case 'remember': {
        const publicId = IDS[which % IDS.length] as string;
        table.remember({ publicId, agent, nativeId, cwd: '/earlier' });
        known.add(publicId);
        break;
      }
    }
    for (const [publicId, binding] of live) {
      expect(table.find(publicId)).toMatchObject({ publicId, agent: binding.agent, nativeId: binding.nativeId, isLive: true });
      expect(table.findNative(binding.agent, binding.nativeId)?.publicId).toBe(publicId);
    }
    for (const publicId of [...known, ...IDS]) {
      const binding = table.find(publicId);
      if (binding) expect(table.findNative(binding.agent, binding.nativeId)).toBe(binding);
    }
  }
}

describe('in any order of operations', () => {
  test('sessions in use never share an id, keep theirs, and every session has one id and is found from both sides', () => {
    fc.assert(fc.property(steps(['mint', 'adopt', 'claim', 'move', 'release']), play), { numRuns: 1500 });
  });

  test('records of an earlier process never replace the id or the session of one in use', () => {
    fc.assert(fc.property(steps(['mint', 'adopt', 'claim', 'release', 'remember']), play), { numRuns: 1500 });
  });
});

describe('the id of a session', () => {
  test('is the one from its agent', () => {
    const table = createSessionTable();
    expect(table.mint('a', 's-1', '/w')).toEqual({ publicId: 's-1', agent: 'a', nativeId: 's-1', cwd: '/w', isLive: true });
    expect(table.find('s-1')?.agent).toBe('a');
    expect(table.findNative('a', 's-1')?.publicId).toBe('s-1');
    expect(table.findNative('b', 's-1')).toBeUndefined();
  });

  test('is an alias for the later of two with the same id, while the earlier one is in use', () => {
    const table = createSessionTable();
    table.mint('a', 's-1', undefined);
    const later = table.mint('b', 's-1', undefined);
    expect(later.publicId).toBe('s-1~b');
    expect(table.find('s-1')?.agent).toBe('a');
    expect(table.find('s-1~b')).toMatchObject({ agent: 'b', nativeId: 's-1' });
    expect(table.findNative('b', 's-1')?.publicId).toBe('s-1~b');
  });

  test('replaces that of an earlier session that is not in use', () => {
    const table = createSessionTable();
    table.remember({ publicId: 's-1', agent: 'a', nativeId: 's-1', cwd: undefined });
    expect(table.mint('b', 's-1', undefined).publicId).toBe('s-1');
    expect(table.find('s-1')?.agent).toBe('b');
    expect(table.findNative('a', 's-1')).toBeUndefined();
  });

  // Seed 111027315 of the simulator.
  test('is an alias while a request at the client uses the id, also of a session that is no longer in use', () => {
    const table = createSessionTable((id) => id === 's-1');
    table.remember({ publicId: 's-1', agent: 'a', nativeId: 's-1', cwd: undefined });
    expect(table.mint('b', 's-1', undefined).publicId).toBe('s-1~b');
    expect(table.find('s-1')?.agent).toBe('a');
  });

  test('is an alias while the id is reserved', () => {
    expect(createSessionTable().mint('a', 's-1', undefined, (id) => id === 's-1').publicId).toBe('s-1~a');
  });

  test('is free again once its session is released', () => {
    const table = createSessionTable();
    table.mint('a', 's-1', undefined);
    table.release('s-1');
    expect(table.find('s-1')).toBeUndefined();
    expect(table.findNative('a', 's-1')).toBeUndefined();
    expect(table.mint('b', 's-1', undefined).publicId).toBe('s-1');
  });

  test('is not an alias that another agent uses as its own id', () => {
    const table = createSessionTable();
    table.mint('a', 's', undefined);
    table.mint('c', 's~b', undefined);
    expect(table.mint('b', 's', undefined).publicId).toBe('s~b~2');
    expect(table.find('s~b')?.agent).toBe('c');
  });
});

describe('a session known from a list', () => {
  test('never takes an id that is known for another, in use or not', () => {
    const table = createSessionTable();
    table.remember({ publicId: 's-1', agent: 'a', nativeId: 's-1', cwd: undefined });
    expect(table.adopt('b', 's-1', undefined)).toMatchObject({ publicId: 's-1~b', isLive: false });
    expect(table.find('s-1')?.agent).toBe('a');
  });

  test('keeps its id', () => {
    const table = createSessionTable();
    table.mint('a', 's-1', undefined);
    table.claim('s-1', 'b', 'n-7', undefined);
    expect(table.adopt('b', 'n-7', '/elsewhere').publicId).toBe('s-1');
    expect(table.adopt('a', 's-1', undefined).publicId).toBe('s-1~a');
  });
});

describe('a session that changes its agent', () => {
  test('keeps its id and no longer belongs to the first agent', () => {
    const table = createSessionTable();
    table.mint('a', 's-1', '/w');
    expect(table.claim('s-1', 'b', 'n-7', '/w')).toEqual({ publicId: 's-1', agent: 'b', nativeId: 'n-7', cwd: '/w', isLive: true });
    expect(table.findNative('a', 's-1')).toBeUndefined();
    expect(table.findNative('b', 'n-7')?.publicId).toBe('s-1');
  });

  test('can no longer be reached by the id that the other agent used first', () => {
    const table = createSessionTable();
    const listed = table.adopt('b', 'n-7', undefined);
    table.mint('a', 's-1', '/w');
    table.claim('s-1', 'b', 'n-7', '/w');
    expect(table.find(listed.publicId)).toBeUndefined();
    table.release(listed.publicId);
    expect(table.findNative('b', 'n-7')?.publicId).toBe('s-1');
  });
});

describe('an id that is reserved for a session', () => {
  test('is given to no other session, new, listed or stored, until it is released', () => {
    const table = createSessionTable();
    table.claim('x', 'a', 'x', undefined);
    expect(table.adopt('b', 'x', undefined).publicId).toBe('x~b');
    expect(table.mint('c', 'x', undefined).publicId).toBe('x~c');
    table.remember({ publicId: 'x', agent: 'b', nativeId: 'y', cwd: undefined });
    expect(table.find('x')).toMatchObject({ agent: 'a', nativeId: 'x', isLive: true });
    table.release('x');
    expect(table.mint('d', 'x', undefined).publicId).toBe('x');
  });

  test('is taken from a session that was only listed, and from no other', () => {
    const table = createSessionTable();
    table.adopt('b', 'x', undefined);
    table.claim('x', 'a', 'x', undefined);
    expect(table.find('x')?.agent).toBe('a');
    expect(table.adopt('b', 'x', undefined).publicId).toBe('x~b');
  });
});

describe('a record of an earlier process', () => {
  const remembered = (table: SessionTable) => table.remember({ publicId: 's~b', agent: 'b', nativeId: 's', cwd: '/old' });

  test('routes its session, which is in use once it is claimed', () => {
    const table = createSessionTable();
    remembered(table);
    expect(table.find('s~b')).toEqual({ publicId: 's~b', agent: 'b', nativeId: 's', cwd: '/old', isLive: false });
    table.claim('s~b', 'b', 's', '/old');
    expect(table.find('s~b')?.isLive).toBe(true);
    expect(table.mint('a', 's~b', undefined).publicId).toBe('s~b~a');
  });

  test('does not rename a session that its agent created again', () => {
    // An agent that numbers its sessions from one in every process: back then another agent had an `s`, now none has.
    const table = createSessionTable();
    table.mint('b', 's', '/new');
    remembered(table);
    expect(table.findNative('b', 's')).toMatchObject({ publicId: 's', isLive: true });
    expect(table.adopt('b', 's', undefined).publicId).toBe('s');
  });

  test('is dropped when its agent creates the session again: one session, one id', () => {
    const table = createSessionTable();
    remembered(table);
    expect(table.mint('b', 's', '/new').publicId).toBe('s');
    expect(table.find('s~b')).toBeUndefined();
  });

  test('does not affect a session in use', () => {
    const table = createSessionTable();
    table.mint('a', 's~b', '/new');
    remembered(table);
    expect(table.find('s~b')).toMatchObject({ agent: 'a', cwd: '/new', isLive: true });
  });

  test('releasing an unknown session does nothing', () => {
    const table = createSessionTable();
    table.release('nobody');
    expect(table.find('nobody')).toBeUndefined();
  });
});

describe('an id that a request at the client still uses', () => {
  const table = () => createSessionTable((publicId) => publicId === 's');

  test('is given to no new session, whether an agent creates it or lists it', () => {
    expect(table().mint('a', 's', undefined).publicId).toBe('s~a');
    expect(table().adopt('a', 's', undefined).publicId).toBe('s~a');
    expect(table().mint('a', 't', undefined).publicId).toBe('t');
  });

  test('is not given back to the session that an earlier process had under it, when its agent creates that anew', () => {
    const made = table();
    made.remember({ publicId: 's', agent: 'a', nativeId: 's', cwd: undefined });
    expect(made.mint('a', 's', undefined).publicId).toBe('s~a');
    expect(made.find('s')).toBeUndefined();
  });
});

test('of two sessions of one agent, releasing one leaves the other', () => {
  const table = createSessionTable();
  table.mint('a', 'x', undefined);
  table.mint('a', 'y', undefined);
  table.release('x');
  expect([table.findNative('a', 'x'), table.findNative('a', 'y')?.publicId]).toEqual([undefined, 'y']);
});
