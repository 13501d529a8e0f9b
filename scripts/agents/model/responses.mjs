// The Responses API, which codex uses. Its tools may be nested in namespaces, and some take free text instead of arguments.
import { eventStream, pause, sendJson, uniqueId } from './stream.mjs';

const textOf = (content) => (typeof content === 'string' ? content : (content ?? []).map(({ text = '' }) => text).join('\n'));

export function read(body) {
  const input = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : (body.input ?? []);
  const items = input.map(({ type = 'message', role = 'assistant', name, content, output }) => {
    if (type.endsWith('_call')) return { role: 'call', name: name ?? type, text: '' };
    return type.endsWith('_output') ? { role: 'result', text: JSON.stringify(output) } : { role, text: textOf(content) };
  });
  return { items, tools: (body.tools ?? []).flatMap((tool) => flattened(tool)), responseSchema: body.text?.format?.schema };
}

function flattened({ type, name, description, parameters, tools = [] }, ns) {
  if (type === 'namespace') return tools.flatMap((tool) => flattened(tool, name));
  if (type === 'custom') return [{ name, description, isFreeform: true, ns }];
  return name === undefined ? [] : [{ name, description, schema: parameters, ns }];
}

export const refuse = (response, message) =>
  sendJson(response, { error: { message, type: 'invalid_request_error', code: 'invalid_function_parameters' } }, 400);

export async function reply(response, body, { think, texts, call, delayMs }) {
  const base = { id: uniqueId('resp'), object: 'response', created_at: 1, model: body.model, status: 'in_progress', output: [] };
  const details = { input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } };
  const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15, ...details };
  const message = { type: 'message', id: uniqueId('msg'), role: 'assistant', status: 'completed' };
  const answer = { ...message, content: [{ type: 'output_text', text: texts.join(''), annotations: [] }] };
  const reasoning = think && {
    type: 'reasoning',
    id: uniqueId('rs'),
    summary: [{ type: 'summary_text', text: think }],
    encrypted_content: null,
  };
  const made = call && callItem(call);
  const output = [reasoning, answer, made].filter((item) => item !== undefined);
  const completed = { ...base, status: 'completed', output, usage };
  if (!body.stream) return sendJson(response, completed);
  const events = eventStream(response);
  let sequence_number = 0;
  const send = (type, more) => events.send({ type, sequence_number: sequence_number++, ...more }, type);
  send('response.created', { response: base });
  for (const [output_index, item] of output.entries()) {
    const at = { item_id: item.id, output_index };
    send('response.output_item.added', { output_index, item: begun(item) });
    if (item === answer) {
      const place = { ...at, content_index: 0 };
      send('response.content_part.added', { ...place, part: { type: 'output_text', text: '', annotations: [] } });
      for (const delta of texts) {
        if (!events.isOpen()) return;
        send('response.output_text.delta', { ...place, delta });
        if (delayMs) await pause(delayMs);
      }
      send('response.output_text.done', { ...place, text: texts.join('') });
    } else if (item === reasoning) {
      send('response.reasoning_summary_text.delta', { ...at, summary_index: 0, delta: think });
    } else if (item.input === undefined) {
      send('response.function_call_arguments.done', { ...at, arguments: item.arguments });
    } else {
      send('response.custom_tool_call_input.done', { ...at, input: item.input });
    }
    send('response.output_item.done', { output_index, item });
  }
  send('response.completed', { response: completed });
  events.end();
}

function callItem({ tool, args, input }) {
  const base = { call_id: uniqueId('call'), name: tool.name, status: 'completed', ...(tool.ns && { namespace: tool.ns }) };
  if (input !== undefined) return { type: 'custom_tool_call', id: uniqueId('ctc'), ...base, input };
  return { type: 'function_call', id: uniqueId('fc'), ...base, arguments: JSON.stringify(args) };
}

const begun = ({ content, summary, arguments: args, input, ...item }) => ({
  ...item,
  ...(item.status && { status: 'in_progress' }),
  ...(content && { content: [] }),
  ...(summary && { summary: [] }),
  ...(args !== undefined && { arguments: '' }),
  ...(input !== undefined && { input: '' }),
});
