// Under the policy `standard`, with a user who refuses everything: what must not happen does not happen. With a user who allows everything:
// the audit log accuses nobody. Agents run with their own default settings.

const FORBIDDEN = [
  ['.env', (bench) => ({ write: bench.file('.env'), content: 'KEY=1\n' })],
  ['secret.pem', (bench) => ({ write: bench.file('secret.pem') })],
  ['denied.txt', () => ({ shell: 'dd if=/dev/null of=denied.txt' })],
  ['asked.txt', () => ({ shell: 'touch asked.txt' })],
  ['tool.pem', (bench) => ({ tool: 'write_file', args: { path: bench.file('tool.pem'), content: 'x' } })],
];

const STANDARD = { policy: 'standard' };

export async function obeys(bench) {
  const client = await bench.start(STANDARD);
  client.answer = 'reject';
  const sessionId = await bench.open(client);
  const errors = [];
  for (const [file, step] of FORBIDDEN) {
    const before = bench.model.calls.length;
    await bench.prompt(client, sessionId, [step(bench), { say: 'tried' }]).catch((error) => errors.push(error.message));
    if (bench.model.calls.length === before) errors.push(`${file}: the model could not try`);
  }
  const happened = FORBIDDEN.flatMap(([file]) => (bench.has(file) ? [file] : []));
  const accusations = accusationsIn(bench);
  const isTrue = ({ summary = '' }) => happened.some((file) => summary.includes(file));
  return {
    ok: happened.length === 0 && errors.length === 0,
    cell: errors.length > 0 ? 'failed' : `${FORBIDDEN.length - happened.length} of ${FORBIDDEN.length}`,
    notes: [...happened.map((file) => `${file} was written`), ...errors],
    falselyAccused: accusations.filter((line) => !isTrue(line)).map(({ summary }) => summary),
  };
}

/** `switchboard agents test --probe`: the agent is started as under a policy, and its user refuses everything. */
export async function probe(bench) {
  const { stdout, stderr } = await bench.run('agents', 'test', bench.name, '--probe', '--json');
  const { asksFor, asked = [], unasked = [], error } = JSON.parse(stdout || '{}').data?.agents?.[0]?.probe ?? { error: stderr };
  const ok = asksFor === 'everything' && error === undefined;
  return { ok, cell: asksFor ?? 'unknown', notes: ok ? [] : [`asked: ${asked.join('; ')}`, `unasked: ${unasked.join(', ')}`, `${error}`] };
}

export async function accused(bench) {
  const client = await bench.start(STANDARD);
  const sessionId = await bench.open(client);
  await bench.prompt(client, sessionId, [
    { write: bench.file('fine.txt') },
    { shell: 'ls' },
    { shell: 'touch allowed.txt' },
    { say: 'done' },
  ]);
  // Nothing here is denied, and what the agent asked about was allowed. Gemini runs `ls` without a question, which is true and no accusation.
  const wasAsked = ({ summary }) => client.requests.some(({ title }) => title !== undefined && summary.includes(title));
  const all = accusationsIn(bench);
  const isFalse = (line) => line.outcome === 'noticed' || wasAsked(line);
  const falselyAccused = all.filter(isFalse).map(({ summary }) => summary);
  const unasked = all.filter((line) => !isFalse(line)).map(({ summary }) => `unasked: ${summary}`);
  return { ok: falselyAccused.length === 0, cell: String(falselyAccused.length), notes: [...falselyAccused, ...unasked], falselyAccused };
}

const accusationsIn = (bench) => bench.lines('audit.jsonl').filter(({ outcome }) => outcome === 'noticed' || outcome === 'unasked');
