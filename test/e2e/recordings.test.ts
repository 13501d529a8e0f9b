// Recorded conversations of five real agents, replayed through the proxy: they arrive unchanged.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect } from 'vitest';
import { type Client, choosing, fixture, type Json, testAtOnce as test } from './harness.ts';
import { agentsRecorded, asSeen, type Entry, fileOf, firstSession, isRequest, readRecording } from './recording.ts';

const runs = agentsRecorded.flatMap((agent) => [
  { agent, run: 1 },
  { agent, run: 2 },
]);

/** Plays the client's side of a recording, each frame once its predecessors have arrived, and checks what arrives. */
async function replay(client: Client, script: readonly Entry[]): Promise<void> {
  const idsSeen = new Map<Json, Json>(); // the agent's request ids, as the client sees them
  let received = 0;
  for (const { dir, msg } of script) {
    if (dir === 'client->agent') {
      client.send(msg.method === undefined ? { ...msg, id: idsSeen.get(msg.id) } : msg);
      continue;
    }
    const index = received++;
    const { line, msg: got } = await client.until((_, seen) => seen.index === index);
    if (isRequest(msg)) idsSeen.set(msg.id, got.id);
    const expected = isRequest(msg)
      ? { ...msg, id: got.id }
      : msg.method === '$/cancel_request'
        ? { ...msg, params: { ...msg.params, requestId: idsSeen.get(msg.params.requestId) } }
        : msg;
    expect(line, `frame ${index}`).toBe(JSON.stringify(expected));
  }
}

/** A new session gets an empty list if the client sends none. */
const withServers = (msg: Json): Json => (msg.method === 'session/new' ? { ...msg, params: { mcpServers: [], ...msg.params } } : msg);

const linesOf = (file: string): Json[] =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('recordings', () => {
  test.for(runs)(
    'all frames of $agent in run $run arrive unchanged and in order, and all frames to it reach it',
    async ({ agent, run }, { stage }) => {
      const script = readRecording(agent).filter(({ proc }) => proc === run);
      const client = stage.proxy({ [agent]: fixture('plays-trace', fileOf(agent), String(run)) });
      await replay(client, asSeen(script));
      expect(await client.close()).toBe(0);

      const received = linesOf(path.join(stage.dir, `${agent}.ndjson.${run}.heard`));
      const sent = script.flatMap(({ dir, msg }) => (dir === 'client->agent' ? [msg] : []));
      const withoutId = ({ id, ...rest }: Json) => ({ ...rest, hasId: id !== undefined });
      const isAnswer = (msg: Json) => msg.method === undefined;
      expect(received.filter((msg) => !isAnswer(msg)).map(withoutId)).toEqual(
        sent.filter((msg) => !isAnswer(msg)).map((msg) => withServers(withoutId(msg))),
      );
      // On a cancel we answer for the client, so the answer may come earlier than recorded; it is the same, and there is only one.
      const byId = (a: Json, b: Json) => a.id - b.id;
      expect(received.filter(isAnswer).sort(byId)).toEqual(sent.filter(isAnswer).sort(byId));
      expect(client.seen).toHaveLength(script.length - sent.length);
    },
  );

  test('all five at once, a session each, differ from their recordings only by our option and our command', async ({ stage }) => {
    const sessions = agentsRecorded.map((agent) => ({ agent, ...firstSession(readRecording(agent)) }));
    const agents = sessions.map(({ agent, entries }) => {
      const file = path.join(stage.dir, `${agent}.ndjson`);
      writeFileSync(file, entries.map((entry) => JSON.stringify(entry)).join('\n'));
      return [agent, fixture('plays-trace', file, '1')];
    });
    const client = await stage.connect(Object.fromEntries(agents));
    const added = await Promise.all(sessions.map((session) => replayAmongOthers(client, session)));
    expect(added).toEqual(sessions.map(() => expect.arrayContaining(['config_option_update'])));
    expect(
      sessions.flatMap(({ entries }) => entries.filter(({ msg }) => msg.method === 'session/request_permission')).length,
    ).toBeGreaterThan(10);
    expect(await client.close()).toBe(0);
  });
});

type OneSession = { readonly agent: string; readonly sessionId: string; readonly entries: readonly Entry[] };

/** Like `replay`, with others on the same connection. Returns the kinds of updates that are wholly ours. */
async function replayAmongOthers(client: Client, { agent, sessionId, entries }: OneSession): Promise<string[]> {
  const idsSeen = new Map<Json, Json>();
  const added: string[] = [];
  const ourId = (id: Json) => `${agent}:${id}`;
  let from = 0;
  const next = async () => {
    const isMine = (msg: Json) => (msg.method === undefined ? String(msg.id).startsWith(`${agent}:`) : msg.params?.sessionId === sessionId);
    const isWithdrawal = (msg: Json) => msg.method === '$/cancel_request' && [...idsSeen.values()].includes(msg.params.requestId);
    const seen = await client.until((msg) => isMine(msg) || isWithdrawal(msg), from);
    from = seen.index + 1;
    return seen;
  };
  for (const { dir, msg } of asSeen(entries).slice(2)) {
    if (dir === 'client->agent') {
      if (msg.method === 'session/new') msg.params = { ...msg.params, ...choosing(agent) };
      client.send(msg.method === undefined ? { ...msg, id: idsSeen.get(msg.id) } : isRequest(msg) ? { ...msg, id: ourId(msg.id) } : msg);
      continue;
    }
    let got = await next();
    if (isRequest(msg)) idsSeen.set(msg.id, got.msg.id);
    const expected =
      msg.method === undefined
        ? { ...msg, id: ourId(msg.id) }
        : msg.method === '$/cancel_request'
          ? { ...msg, params: { ...msg.params, requestId: idsSeen.get(msg.params.requestId) } }
          : msg;
    while (hasOurs(got.msg) && !isDeepStrictEqual(withoutOurs(got.msg, msg), expected)) {
      added.push(got.msg.params?.update?.sessionUpdate ?? 'an answer');
      got = await next();
    }
    if (hasOurs(got.msg)) continue; // equal except for ours
    if (isRequest(msg)) idsSeen.set(msg.id, got.msg.id);
    expect(got.line, `${agent}, behind frame ${got.index}`).toBe(JSON.stringify(isRequest(msg) ? { ...msg, id: got.msg.id } : expected));
  }
  return added;
}

const placeOfOurs = (msg: Json): Json => msg.result ?? msg.params?.update ?? {};
const isOurOption = (option: Json) => option.category === '_agent';
const isOurCommand = (command: Json) => command.name === 'agent';

function hasOurs(msg: Json): boolean {
  const { configOptions, availableCommands } = placeOfOurs(msg);
  return (configOptions ?? []).some(isOurOption) || (availableCommands ?? []).some(isOurCommand);
}

/** Without our option, the stand-ins for modes where the agent has no options, and our command. */
function withoutOurs(msg: Json, recorded: Json): Json {
  const copy = structuredClone(msg);
  const place = placeOfOurs(copy);
  if (place.availableCommands) place.availableCommands = place.availableCommands.filter((command: Json) => !isOurCommand(command));
  if (place.configOptions && placeOfOurs(recorded).configOptions)
    place.configOptions = place.configOptions.filter((option: Json) => !isOurOption(option));
  else delete place.configOptions;
  return copy;
}
