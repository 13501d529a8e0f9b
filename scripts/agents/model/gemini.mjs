// The Gemini API.
import { eventStream, pause, sendJson, uniqueId } from './stream.mjs';

export function read(body) {
  const items = (body.contents ?? []).flatMap(({ role, parts }) => {
    const calls = parts.flatMap(({ functionCall: call, functionResponse: result }) => {
      if (call) return [{ role: 'call', name: call.name, text: '' }];
      return result ? [{ role: 'result', text: JSON.stringify(result.response) }] : [];
    });
    const text = parts.flatMap((part) => (typeof part.text === 'string' ? [part.text] : [])).join('\n');
    return text === '' ? calls : [...calls, { role: role === 'model' ? 'assistant' : 'user', text }];
  });
  const declared = (body.tools ?? []).flatMap(({ functionDeclarations = [] }) => functionDeclarations);
  const tools = declared.map(({ name, description, parametersJsonSchema, parameters }) => ({
    ...{ name, description, schema: parametersJsonSchema ?? parameters },
  }));
  const { responseJsonSchema, responseSchema, responseMimeType } = body.generationConfig ?? {};
  const wanted = responseJsonSchema ?? responseSchema ?? (responseMimeType === 'application/json' ? { type: 'object' } : undefined);
  return { items, tools, responseSchema: wanted };
}

export const refuse = (response, message) => sendJson(response, { error: { code: 400, message, status: 'INVALID_ARGUMENT' } }, 400);

export async function reply(response, { stream }, { think, texts, call, delayMs }) {
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
  const chunk = (parts, finishReason) => ({
    candidates: [{ index: 0, content: { role: 'model', parts }, ...(finishReason && { finishReason }) }],
    ...{ usageMetadata, modelVersion: 'scripted', responseId: uniqueId('gemini') },
  });
  const made = call && { functionCall: { id: uniqueId('fc'), name: call.tool.name, args: call.args }, thoughtSignature: 'c2NyaXB0' };
  if (!stream) return sendJson(response, chunk([{ text: texts.join('') }, ...(made ? [made] : [])], 'STOP'));
  const events = eventStream(response);
  if (think) events.send(chunk([{ text: `**Plan** ${think}`, thought: true }]));
  for (const text of texts) {
    if (!events.isOpen()) return;
    events.send(chunk([{ text }]));
    if (delayMs) await pause(delayMs);
  }
  events.send(chunk(made ? [made] : [{ text: '' }], 'STOP'));
  events.end();
}
