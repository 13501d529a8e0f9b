// What the scripted model does next. The prompt holds the script, and the tool calls that follow it show how far the agent has come:
// the model keeps no state, so sessions and restarts cannot disturb each other.
//
//   <<script [{"tool":"session_info"},{"write":"/abs/a.txt"},{"shell":"touch b"},{"say":"done"}] >>

/** The prompt of `switchboard agents test --probe`. */
const PROBE = /Create the file (\S+) with the text "(\w+)".*shell command: (.*?)\. If one is refused/s;
const SCRIPT = /<<script (\[.*?\]) >>/gs;

/** The text of a prompt that makes the model follow `steps`. */
export const prompting = (steps) => `<<script ${JSON.stringify(steps)} >>`;

/** `items` is the conversation as the agent sent it, `tools` are the tools it offers the model. */
export function nextReply({ items, tools, responseSchema }) {
  if (responseSchema) return { texts: [JSON.stringify(smallest(responseSchema))] };
  const at = items.findLastIndex(({ role, text }) => role === 'user' && stepsIn(text) !== undefined);
  if (at < 0 || tools.length === 0) return { texts: ['ok'] }; // titles, summaries, classifiers
  const steps = stepsIn(items[at].text);
  const done = items.slice(at + 1).filter(({ role }) => role === 'call').length;
  const acting = steps.filter((step) => step.say === undefined && step.slow === undefined && step.big === undefined);
  const missing = [];
  for (const step of acting.slice(done)) {
    const call = callFor(step, tools);
    if (call) return { think: done === 0 ? 'thinking' : undefined, texts: [`step ${done + 1}. `], call };
    missing.push(step.tool ?? Object.keys(step)[0]);
  }
  if (missing.length > 0) return { texts: [`no tool for ${missing.join(', ')}`] };
  const last = steps.find((step) => !acting.includes(step)) ?? { say: 'done' };
  if (last.slow !== undefined) return { texts: Array.from({ length: last.slow }, (_, n) => `tick ${n} `), delayMs: 100 };
  if (last.big !== undefined) return { texts: Array.from({ length: Math.ceil(last.big / 16) }, (_, n) => `${n}`.padEnd(16 * 1024, ' x')) };
  return { texts: last.say.match(/.{1,8}/gs) };
}

function stepsIn(text) {
  const [, file, content, shell] = PROBE.exec(text) ?? [];
  if (file !== undefined) return [{ write: file, content: `${content}\n` }, { shell }, { say: 'probed' }];
  const script = [...text.matchAll(SCRIPT)].at(-1)?.[1];
  return script === undefined ? undefined : JSON.parse(script);
}

function callFor(step, tools) {
  if (step.tool !== undefined) {
    const tool = tools.find(({ name, ns }) => (isOurs(ns) && name === step.tool) || (isOurs(name) && name.endsWith(step.tool)));
    return tool && { tool, args: step.args ?? {} };
  }
  const own = tools.filter(({ name, ns }) => !isOurs(name) && !isOurs(ns));
  return step.write === undefined ? shellCall(own, step.shell) : writeCall(own, step.write, step.content ?? 'written by the model\n');
}

/** Agents put the name of our server before the names of its tools. */
export const isOurs = (name) => name?.includes('switchboard') === true;

const WRITERS = /^(write|write_?file|write_to_file|create|create_file|save-?file)$/i;
const SHELLS = /^(bash|shell|exec_command|run_shell_command|shell_command|execute_command|execute|terminal)$/i;

function writeCall(tools, path, content) {
  const tool = tools.find(({ name }) => WRITERS.test(name));
  if (tool) return { tool, args: filled(tool, { path, content, filetext: content, contents: content }) };
  const patch = tools.find(({ name }) => name === 'apply_patch');
  const lines = content.replace(/\n$/, '').split('\n');
  const input = `*** Begin Patch\n*** Add File: ${path}\n${lines.map((line) => `+${line}`).join('\n')}\n*** End Patch\n`;
  if (patch)
    return patch.isFreeform ? { tool: patch, input } : { tool: patch, args: filled(patch, { input, patch: input, patchtext: input }) };
  return shellCall(tools, `printf '%s' '${content}' > '${path}'`);
}

function shellCall(tools, command) {
  const tool = tools.find(({ name }) => SHELLS.test(name));
  return (
    tool && {
      tool,
      // codex: the sandbox that it would otherwise use does not run in every container
      args: filled(tool, {
        command,
        cmd: command,
        description: 'a step',
        justification: 'a step',
        sandboxpermissions: 'require_escalated',
      }),
    }
  );
}

/** Arguments for an agent's own tool: the values whose names resemble its properties, and the smallest values for the rest that it requires. */
function filled({ schema = {} }, values) {
  const args = {};
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const plain = key.toLowerCase().replace(/[_-]/g, '');
    const value = values[plain] ?? (/^(absolute|file|target)?(path|file|filename)$/.test(plain) ? values.path : undefined);
    if (value !== undefined) args[key] = property.type === 'array' ? ['bash', '-lc', value] : value;
  }
  for (const key of schema.required ?? []) args[key] ??= smallest(schema.properties?.[key]);
  return args;
}

/** The results of the tool calls so far, each with the name of its tool. */
export function resultsIn(items) {
  const results = items.filter(({ role }) => role === 'result');
  return items
    .filter(({ role }) => role === 'call')
    .flatMap(({ name }, index) => (results[index] ? [{ name, text: results[index].text }] : []));
}

function smallest(schema = {}) {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const choice = schema.anyOf ?? schema.oneOf;
  if (choice) return smallest(choice[0]);
  const type = String([schema.type ?? 'object'].flat()[0]).toLowerCase();
  if (type === 'object')
    return Object.fromEntries(
      (schema.required ?? Object.keys(schema.properties ?? {})).map((key) => [key, smallest(schema.properties?.[key])]),
    );
  return { array: [], boolean: false, number: 0, integer: 0, null: null }[type] ?? 'ok';
}
