// The load program notices what a proxy does to frames. In both of its languages, where there is a C compiler.
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const bench = path.resolve(import.meta.dirname, '../../bench');
const NODE = [process.execPath, path.join(bench, 'load.mjs')];
const hasCompiler = spawnSync('cc', ['--version']).status === 0;

const run = promisify(execFile);
let dir = '';
let count = 0;
beforeAll(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'bench-load-'));
  if (hasCompiler) expect(spawnSync('cc', ['-O1', '-o', path.join(dir, 'load'), path.join(bench, 'load.c')]).status).toBe(0);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** A pipe that does something to each line on its way to the client; `at` is the line's number. */
function proxyThat(does: string): string {
  const file = path.join(dir, `proxy-${count++}.mjs`);
  const text = `
    import { spawn } from 'node:child_process';
    import { createInterface } from 'node:readline';
    const agent = spawn(process.argv[2], process.argv.slice(3), { stdio: ['pipe', 'pipe', 'inherit'] });
    process.stdin.pipe(agent.stdin);
    process.stdin.on('end', () => process.exit());
    let at = 0;
    let held = '';
    const say = (line) => process.stdout.write(line + '\\n');
    createInterface({ input: agent.stdout }).on('line', (line) => { at++; ${does} });`;
  writeFileSync(file, text);
  return file;
}

async function play(load: readonly string[], does: string): Promise<string> {
  const steps = ['init', 'new:n=1', 'round:s=0,do=stream,frames=100', 'round:s=0,do=ping,n=3'];
  const [program = '', ...args] = [...load, 'client', ...steps, '--', process.execPath, proxyThat(does), ...load, 'agent', 'a0'];
  const { stdout } = await run(program, args).catch((failed: { stdout: string }) => failed);
  return /"error":"(.*?) in step/.exec(stdout)?.[1] ?? (stdout.includes('"p50"') ? 'fine' : stdout);
}

describe.each([['Node', () => NODE] as const, ...(hasCompiler ? [['C', () => [path.join(dir, 'load')]] as const] : [])])(
  '%s:',
  (_, load) => {
    test.concurrent.each([
      ['passes everything', 'say(line);', 'fine'],
      ['loses one', 'if (at !== 50) say(line);', 'a frame is wrong, or not in its place'],
      ['says one twice', 'say(line); if (at === 50) say(line);', 'a frame is wrong, or not in its place'],
      ['changes a letter', "say(at === 50 ? line.replace('update', 'updatE') : line);", 'a frame is wrong, or not in its place'],
      ['changes a digit of the text', "say(line.replace('00000042', '00000043'));", 'a frame is wrong, or not in its place'],
      ['swaps two', 'if (at === 50) held = line; else { say(line); if (at === 51) say(held); }', 'a frame is wrong, or not in its place'],
      [
        'sends the answer before the last frame',
        'if (at === 102) held = line; else { say(line); if (at === 103) say(held); }',
        'an answer before the last frame',
      ],
      ['answers twice', 'say(line); if (at === 103) say(line);', 'an answer to no request'],
    ])('a proxy that %s', async (__, does, outcome) => {
      expect(await play(load(), does)).toBe(outcome);
    });
  },
);
