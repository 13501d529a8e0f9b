// The host tools as the model sees them: how many it is offered, and how many it can call.

const calls = (bench) => [
  ['session_info', {}, /session_id/],
  ['write_file', { path: bench.file('tool.txt'), content: 'one two\n' }, /tool\.txt/],
  ['edit_file', { path: bench.file('tool.txt'), old_text: 'two', new_text: 'three' }, /tool\.txt/],
  ['read_file', { path: bench.file('tool.txt') }, /one three/],
  ['list_directory', { path: bench.cwd }, /tool\.txt/],
  ['search_files', { text: 'three' }, /tool\.txt/],
  ['run_command', { command: 'echo', args: ['from', 'a', 'command'] }, /from a command/],
  ['command_output', { terminal_id: 'none' }, /terminal/],
  ['kill_command', { terminal_id: 'none' }, /terminal/],
  [/ask/, { question: 'Which one?', choices: ['first', 'second'] }, /first/],
];

export async function tools(bench) {
  const client = await bench.start();
  const sessionId = await bench.open(client);
  await bench.connected(client, sessionId);
  const offered = [...bench.model.toolsSeen];
  const wanted = calls(bench).flatMap(([name, args, result]) => {
    const found = offered.find((one) => (typeof name === 'string' ? one.endsWith(name) : name.test(one)));
    return found === undefined ? [] : [{ name: found, args, result }];
  });
  for (const { name, args } of wanted) await bench.prompt(client, sessionId, [{ tool: name, args }, { say: 'called' }]);
  const called = wanted.filter(({ name, result }) => result.test(bench.model.results.get(name) ?? ''));
  const total = calls(bench).length;
  const missing = wanted
    .filter((one) => !called.includes(one))
    .map(({ name }) => `${name}: ${bench.model.results.get(name)?.slice(0, 200)}`);
  return {
    ok: wanted.length === total && called.length === total && bench.model.refusals.size === 0,
    cell: `${wanted.length} / ${called.length} of ${total}`,
    notes: [...bench.model.refusals, ...missing],
  };
}
