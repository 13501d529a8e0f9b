// The Chat Completions API, which most agents can use with a provider of the user's own.
import { eventStream, pause, sendJson, uniqueId } from './stream.mjs';

const textOf = (content) => (typeof content === 'string' ? content : (content ?? []).map(({ text = '' }) => text).join('\n'));

export function read(body) {
  const items = (body.messages ?? []).flatMap(({ role, content, tool_calls: calls = [] }) => [
    { role: role === 'tool' ? 'result' : role, text: textOf(content) },
    ...calls.map((call) => ({ role: 'call', name: call.function?.name, text: '' })),
  ]);
  const tools = (body.tools ?? []).map(({ function: { name, description, parameters: schema } }) => ({ name, description, schema }));
  return { items, tools, responseSchema: body.response_format?.json_schema?.schema };
}

export const refuse = (response, message) =>
  sendJson(response, { error: { message, type: 'invalid_request_error', code: 'invalid_function_parameters' } }, 400);

export async function reply(response, body, { think, texts, call, delayMs }) {
  const base = { id: uniqueId('chatcmpl'), created: 1, model: body.model };
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const tool_calls = call && [
    { index: 0, id: uniqueId('call'), type: 'function', function: { name: call.tool.name, arguments: JSON.stringify(call.args) } },
  ];
  const finish_reason = call ? 'tool_calls' : 'stop';
  if (!body.stream) {
    const message = { role: 'assistant', content: texts.join(''), ...(tool_calls && { tool_calls }) };
    return sendJson(response, { ...base, object: 'chat.completion', choices: [{ index: 0, finish_reason, message }], usage });
  }
  const events = eventStream(response);
  const chunk = (delta, finish = null) =>
    events.send({ ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] });
  chunk({ role: 'assistant', content: '' });
  if (think) chunk({ reasoning_content: think });
  for (const content of texts) {
    if (!events.isOpen()) return;
    chunk({ content });
    if (delayMs) await pause(delayMs);
  }
  if (tool_calls) chunk({ tool_calls });
  chunk({}, finish_reason);
  events.send({ ...base, object: 'chat.completion.chunk', choices: [], usage });
  events.send('[DONE]');
  events.end();
}
