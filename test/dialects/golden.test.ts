// Translations row by row (src/dialects/README.md): the input and the expected output are on disk.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { DialectEvent } from '../../src/dialects/dialect.ts';
import { lineOf, type Message, readMessage } from '../../src/dialects/message.ts';
import { dialectNamed } from '../../src/dialects/select-dialect.ts';
import { Scanner } from '../../src/wire/scanner/scanner.ts';

// biome-ignore lint/suspicious/noExplicitAny: messages of every shape
type Json = any;
/** One input and its output. */
type Step = { readonly client?: Json; readonly agent?: Json; readonly event?: DialectEvent; out?: Json };
type Case = { readonly rows: readonly number[]; readonly name: string; readonly before: readonly Step[]; readonly steps: readonly Step[] };

const ABOUT = {
  agent: 'it',
  isNamed: true,
  maxLineBytes: 1024 * 1024,
  timeouts: { initializeMs: 30_000, cancelMs: 10_000, quietMs: 5_000, stallMs: 60_000 },
  mint: () => '1',
};

function messageOf(value: Json): Message {
  const line = Buffer.from(`${JSON.stringify(value)}\n`);
  const message = readMessage(new Scanner(), line, 0, line.length - 1);
  if (!message) throw new Error(`no message: ${line}`);
  return message;
}

/** The outputs of a dialect, one for each input. */
function play(name: 'webapp' | 'agentkit' | 'intercom', { before, steps }: Case, about = ABOUT): Json[] {
  const dialect = dialectNamed(name);
  if (!dialect) throw new Error(name);
  let state = dialect.begin(about);
  return [...before, ...steps]
    .map(({ client, agent, event }) => {
      const step = event
        ? dialect.on?.(state, event)
        : client
          ? dialect.toAgent(state, messageOf(client))
          : dialect.toAcp(state, messageOf(agent));
      if (!step) throw new Error('the dialect handles no events');
      state = step.state;
      const { toClient = [], toAgent = [], remarks = [], details = [], alarms = {}, kill } = step;
      return JSON.parse(
        JSON.stringify({
          ...(toClient.length > 0 && { toClient: toClient.map((one) => JSON.parse(lineOf(one))) }),
          ...(toAgent.length > 0 && { toAgent: toAgent.map((one) => JSON.parse(lineOf(one, dialect.isBare))) }),
          ...(remarks.length > 0 && { remarks }),
          ...(details.length > 0 && { details }),
          ...(Object.keys(alarms).length > 0 && {
            alarms: Object.fromEntries(Object.entries(alarms).map(([key, ms]) => [key, ms ?? null])),
          }),
          ...(kill && { kill }),
        }),
      );
    })
    .slice(before.length);
}

describe.each(['webapp', 'agentkit', 'intercom'] as const)('%s', (name) => {
  const file = path.join(import.meta.dirname, 'golden', `${name}.json`);
  const cases: Case[] = JSON.parse(readFileSync(file, 'utf8'));
  if (process.env.UPDATE_GOLDEN === '1') {
    for (const one of cases) for (const [k, out] of play(name, one).entries()) (one.steps[k] as Step).out = out;
    writeFileSync(file, `${JSON.stringify(cases, null, 1)}\n`);
  }
  test.each(cases)('rows $rows: $name', (one) => {
    expect(play(name, one)).toEqual(one.steps.map(({ out }) => out));
  });
});

test.each([1024 * 1024, 2048])(
  'row 40: a prompt longer than the longest line that the agent reads is refused: %i bytes',
  (maxLineBytes) => {
    const prompt = (text: string) => ({
      client: {
        jsonrpc: '2.0',
        id: 2,
        method: 'session/prompt',
        params: { sessionId: 'intercom-1', prompt: [{ type: 'text', text }] },
      },
    });
    const long = { rows: [40], name: '', before: [], steps: [prompt('x'.repeat(maxLineBytes)), prompt('x'.repeat(maxLineBytes - 100))] };
    const [out, fits] = play('intercom', long, { ...ABOUT, maxLineBytes });
    expect(fits.toAgent).toHaveLength(1);
    expect(out).toEqual({
      toClient: [
        { jsonrpc: '2.0', id: 2, error: { code: -32602, message: expect.stringMatching(`${maxLineBytes} bytes.*max_line_bytes`) } },
      ],
    });
  },
);
