// A whole turn with a host tool, a file and a command, a cancelled turn, a list and a close; and two sessions at once in one connection.

export async function flow(bench, settings = {}) {
  const client = await bench.start(settings);
  const sessionId = await bench.open(client);
  await bench.connected(client, sessionId);
  const { stopReason } = await bench.prompt(client, sessionId, [
    { tool: 'session_info' },
    { write: bench.file('note.txt') },
    { shell: 'touch ran.txt' },
    { say: 'all steps done' },
  ]);
  const failed = [
    ...(stopReason === 'end_turn' ? [] : [`the turn ended with ${stopReason}`]),
    ...(bench.model.calls.some((name) => name.endsWith('session_info')) ? [] : ['no call of the host tool']),
    ...(bench.has('note.txt') ? [] : ['no file']),
    ...(bench.has('ran.txt') ? [] : ['no command']),
    ...(client.textOf(sessionId).includes('all steps done') ? [] : [`the last text is missing: ${client.textOf(sessionId).slice(-200)}`]),
  ];
  const from = client.updates.length;
  const slow = bench.prompt(client, sessionId, [{ slow: 600 }]);
  await client.update(({ update }) => update.sessionUpdate === 'agent_message_chunk', from);
  client.notify('session/cancel', { sessionId });
  const cancelled = await slow;
  if (cancelled.stopReason !== 'cancelled') failed.push(`the cancelled turn ended with ${cancelled.stopReason}`);
  const { list, close } = client.capabilities.sessionCapabilities ?? {};
  if (list) {
    const { sessions } = await client.request('session/list', { cwd: bench.cwd });
    if (!sessions.some((one) => one.sessionId === sessionId)) failed.push('session/list does not have it');
  }
  if (close) await client.request('session/close', { sessionId });
  return { ok: failed.length === 0, cell: failed.length === 0 ? 'yes' : 'no', notes: failed };
}

export async function together(bench) {
  const client = await bench.start();
  const ids = await Promise.all([bench.open(client), bench.open(client)]);
  const turns = await Promise.all(
    ids.map((id, n) => bench.prompt(client, id, [{ write: bench.file(`both-${n}.txt`) }, { say: `this is session ${n}` }])),
  );
  const texts = ids.map((id) => client.textOf(id));
  const isApart = texts.every((text, n) => text.includes(`session ${n}`) && !text.includes(`session ${1 - n}`));
  const isDone = turns.every(({ stopReason }) => stopReason === 'end_turn') && [0, 1].every((n) => bench.has(`both-${n}.txt`));
  return {
    ok: isApart && isDone,
    cell: isApart && isDone ? 'yes' : 'no',
    notes: isApart && isDone ? [] : texts.map((text) => text.slice(-200)),
  };
}
