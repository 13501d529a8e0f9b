// sessions.jsonl on disks that keep no modes (those of Windows, seen from Linux) or are slow with the last step of its compaction.
import { appendFileSync, chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { takeTurn } from '../../src/audit/line-lock.ts';
import { newStateDir, noProblem } from './state.ts';

const disk = vi.hoisted(() => ({
  chmod: undefined as (() => void) | undefined,
  beforeRename: (_to: string) => {},
}));
vi.mock('node:fs', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs')>();
  return {
    ...fs,
    fchmodSync: (fd: number, mode: number) => (disk.chmod ?? (() => fs.fchmodSync(fd, mode)))(),
    renameSync(from: string, to: string) {
      disk.beforeRename(to);
      fs.renameSync(from, to);
    },
  };
});

beforeEach(() => {
  vi.restoreAllMocks();
  vi.resetModules(); // that nobody waits for a seal any more is remembered
  disk.chmod = undefined;
  disk.beforeRename = () => {};
});

const line = (sessionId: string) => ({ sessionId, agent: 'a', nativeId: sessionId, at: '2026-01-01T00:00:00Z' });
function plant(...ids: readonly string[]): { readonly dir: string; readonly file: string } {
  const dir = newStateDir();
  mkdirSync(dir, { recursive: true });
  const file = path.join(dir, 'sessions.jsonl');
  writeFileSync(file, ids.map((id) => `${JSON.stringify(line(id))}\n`).join(''), { mode: 0o600 });
  return { dir, file };
}
const idsIn = (file: string) => Array.from(readFileSync(file, 'utf8').matchAll(/"sessionId":"([^"]*)"/g), ([, id]) => id);

const forbidden = () => {
  throw Object.assign(new Error('EPERM: operation not permitted, fchmod'), { code: 'EPERM' });
};
test.each([
  ['changes nothing', () => {}],
  ['is forbidden', forbidden],
])(
  'a file that always looks sealed, since a change of its mode %s, is written to once for each line and waited for once',
  async (_, chmod) => {
    const { createSessionLog } = await import('../../src/store/sessions/session-store.ts');
    const { dir, file } = plant('s-0');
    chmodSync(file, 0o700);
    disk.chmod = chmod;
    const log = createSessionLog(dir, noProblem);
    log.append(line('s-1'));
    const wait = vi.spyOn(Atomics, 'wait');
    log.append(line('s-2'));
    expect(wait).not.toHaveBeenCalled();
    expect(idsIn(file)).toEqual(['s-0', 's-1', 's-2']);
  },
);

test('a file that everybody may execute is not taken for sealed', async () => {
  const { createSessionLog } = await import('../../src/store/sessions/session-store.ts');
  const { dir, file } = plant('s-0');
  chmodSync(file, 0o777);
  const wait = vi.spyOn(Atomics, 'wait');
  createSessionLog(dir, noProblem).append(line('s-1'));
  expect(wait).not.toHaveBeenCalled();
  expect(idsIn(file)).toEqual(['s-0', 's-1']);
});

test('a file that always looks sealed is not compacted: nobody could be kept from writing to it', async () => {
  const { compactSessionLog } = await import('../../src/store/sessions/compact.ts');
  const { dir, file } = plant('s-0', 's-0', 's-0', 's-0');
  chmodSync(file, 0o700);
  disk.chmod = () => {};
  expect(compactSessionLog(dir, takeTurn, 0)).toBe(false);
  expect(idsIn(file)).toHaveLength(4);
});

test('what somebody wrote who was tired of waiting for the last step is in the new file too', async () => {
  const { compactSessionLog } = await import('../../src/store/sessions/compact.ts');
  const { dir, file } = plant('s-0', 's-0', 's-0', 's-0');
  disk.beforeRename = (to) => {
    chmodSync(to, 0o600);
    appendFileSync(to, `${JSON.stringify(line('tired'))}\n`);
  };
  expect(compactSessionLog(dir, takeTurn, 0)).toBe(true);
  expect(idsIn(file)).toEqual(['s-0', 'tired']);
});
