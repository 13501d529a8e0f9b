// Applying changes while another program replaces files and directories: nothing outside changes, and nothing is overwritten unseen.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Change, Entry } from '../../src/review/changes.ts';
import { type Layer, openLayer, partsOf } from '../../src/review/layers.ts';
import { entryAt } from '../../src/review/read-layer.ts';
import { applyAll } from '../../src/review/review.ts';

let base: string;
let project: string;
let layer: Layer;
beforeEach(() => {
  base = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'review-apply-')));
  project = path.join(base, 'project');
  mkdirSync(path.join(project, 'dir'), { recursive: true });
  mkdirSync(path.join(base, 'outside'));
  writeFileSync(path.join(base, 'outside/file'), 'as it was');
  layer = openLayer(path.join(base, 'state'), 'layer', { roots: [project], agent: 'a' }, new Date().toISOString());
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const inUpper = (name: string): string => path.join(partsOf(layer, 0).upper, name);

/** As it would be listed now. */
async function change(kind: Change['kind'], name: string, content?: string): Promise<Change> {
  if (content !== undefined) {
    mkdirSync(path.dirname(inUpper(name)), { recursive: true });
    writeFileSync(inUpper(name), content);
  }
  const entry = content === undefined ? undefined : ((await entryAt(inUpper(name))) as Entry);
  const after = entry && {
    ...entry,
    content: createHash('sha256')
      .update(content ?? '')
      .digest('hex'),
  };
  const before = await entryAt(path.join(project, name));
  return {
    ...{ kind, what: 'file', path: path.join(project, name), after, before },
    ...{ isProtected: false, leadsOutside: false, isConflict: false },
  };
}
const apply = async (one: Change) => (await applyAll(layer, [one])).get(one);
const kept = (why: RegExp) => ({ how: 'kept', why: expect.stringMatching(why) });
const untouched = () => {
  expect(readdirSync(path.join(base, 'outside'))).toEqual(['file']);
  expect(readFileSync(path.join(base, 'outside/file'), 'utf8')).toBe('as it was');
};

test('a directory of the project that has become a link is not followed', async () => {
  const one = await change('create', 'dir/new', 'x');
  rmSync(path.join(project, 'dir'), { recursive: true });
  symlinkSync(path.join(base, 'outside'), path.join(project, 'dir'));
  expect(await apply(one)).toMatchObject(kept(/./));
  untouched();
});

test('a directory of the layer that has become a link is not followed: no file from outside gets into the project', async () => {
  const one = await change('create', 'dir/file', 'as it was');
  rmSync(inUpper('dir'), { recursive: true });
  symlinkSync(path.join(base, 'outside'), inUpper('dir'));
  expect(await apply(one)).toMatchObject(kept(/./));
  expect(readdirSync(path.join(project, 'dir'))).toEqual([]);
});

test('a file of the layer that has become a link is not followed', async () => {
  const one = await change('create', 'file', 'as it was');
  rmSync(inUpper('file'));
  symlinkSync(path.join(base, 'outside/file'), inUpper('file'));
  expect(await apply(one)).toMatchObject(kept(/./));
  expect(readdirSync(project)).toEqual(['dir']);
});

test.each([
  ['longer', 'shown, and more'],
  ['different', 'SHOWN'],
])('a file that is %s than the one that was shown is not applied', async (_, text) => {
  const one = await change('create', 'file', 'shown');
  writeFileSync(inUpper('file'), text);
  expect(await apply(one)).toMatchObject(kept(/changed/));
  expect(readdirSync(project)).toEqual(['dir']);
});

test('a link that appears in the place of a file is not followed', async () => {
  const one = await change('create', 'file', 'x');
  symlinkSync(path.join(base, 'outside/file'), path.join(project, 'file'));
  expect(await apply(one)).toMatchObject(kept(/changed/));
  untouched();
});

test('a file with another name outside is not replaced', async () => {
  linkSync(path.join(base, 'outside/file'), path.join(project, 'file'));
  expect(await apply(await change('edit', 'file', 'x'))).toMatchObject(kept(/hard link/));
  untouched();
});

test('a file that was changed below is neither overwritten nor deleted', async () => {
  writeFileSync(path.join(project, 'file'), 'seen');
  const edited = await change('edit', 'file', 'x');
  const deleted = await change('delete', 'file');
  writeFileSync(path.join(project, 'file'), 'by the user');
  expect(await apply(edited)).toMatchObject(kept(/changed/));
  expect(await apply(deleted)).toMatchObject(kept(/changed/));
  expect(readFileSync(path.join(project, 'file'), 'utf8')).toBe('by the user');
});

test('setuid, setgid and sticky bits are not applied', async () => {
  const one = await change('create', 'file', 'x');
  expect(await apply({ ...one, after: { ...(one.after as Entry), mode: 0o7755 } })).toEqual({ how: 'applied' });
  expect(lstatSync(path.join(project, 'file')).mode & 0o7777).toBe(0o755);
});

test('while a directory is swapped for a link to outside again and again, nothing outside changes', async () => {
  writeFileSync(path.join(project, 'dir/victim'), 'x');
  writeFileSync(path.join(base, 'outside/victim'), 'as it was');
  const swap = `const fs = require('fs'); const [dir, away, out] = process.argv.slice(1);
    console.log('ready');
    const attempt = (act, otherwise) => { try { act() } catch { otherwise?.() } };
    const clear = () => attempt(() => fs.rmSync(dir, { recursive: true, force: true }));
    for (;;) {
      attempt(() => fs.renameSync(dir, away), clear);
      attempt(() => fs.symlinkSync(out, dir));
      attempt(() => fs.unlinkSync(dir));
      attempt(() => fs.renameSync(away, dir), clear);
    }`;
  const racer = spawn(process.execPath, ['-e', swap, path.join(project, 'dir'), path.join(base, 'away'), path.join(base, 'outside')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise((resolve) => racer.once('exit', resolve));
  await new Promise((resolve) => racer.stdout.once('data', resolve));
  let applied = 0;
  for (let round = 0; round < 300 || applied === 0; round++) {
    const one = await change('create', `dir/new-${round}`, 'x');
    if ((await apply({ ...one, before: undefined }))?.how === 'applied') applied++;
    const before = await entryAt(path.join(project, 'dir/victim')).catch(() => undefined);
    if (before) await apply({ ...one, kind: 'delete', path: path.join(project, 'dir/victim'), after: undefined, before });
  }
  expect(racer.exitCode).toBeNull();
  racer.kill('SIGKILL');
  await exited;
  expect(readdirSync(path.join(base, 'outside')).sort()).toEqual(['file', 'victim']);
  expect(applied).toBeGreaterThan(0);
});
