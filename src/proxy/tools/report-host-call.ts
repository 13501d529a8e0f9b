// Agents' reports and permission requests about host tools: which call of which tool they are about.
import { fields } from '../../json-object.ts';
import type { Frame } from '../../wire/frame.ts';
import { memberAt } from '../../wire/json-path.ts';
import { patched } from '../../wire/patch.ts';
import { stringIn } from '../../wire/scanner/large-frame.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import type { Session } from '../sessions/session.ts';
import type { Attachment } from './session-tools.ts';

/** An agent that has not connected to the tool server cannot call its tools. */
function attachmentOf({ usedServers, delegation }: Session): Attachment | undefined {
  const attachment = usedServers?.attachment;
  return attachment?.toolServer && attachment.toolServer.state !== 'offered' && !delegation ? attachment : undefined;
}

/** A tool call of the agent. If the client knows the call by an id of the proxy's, the frame gets that id. */
export function asHostCall(session: Session, frame: Frame): Frame {
  const attachment = attachmentOf(session);
  if (!attachment) return frame;
  const { calls } = session.servers;
  const toolCallId = stringIn(frame, 'update', 'toolCallId');
  if (toolCallId === undefined) return frame;
  const before = calls.named(toolCallId);
  const mayName = frame.bytes.subarray(frame.start, frame.end).includes(attachment.serverName ?? '');
  if (!before && !mayName && !calls.isRenamed(toolCallId)) return frame;
  const body = readBody(frame);
  if (!body.ok) return frame;
  const { update } = fields(body.value);
  const { rawInput } = fields(update);
  // Some agents send the arguments after the name.
  const named = attachment.toolIn(fields(update)) ?? (before && rawInput !== undefined ? { ...before, args: fields(rawInput) } : undefined);
  const ours = calls.report(toolCallId, named);
  const span = ours === undefined ? undefined : memberAt(frame.bytes, frame.body, 'update', 'toolCallId');
  return span ? patched(frame, [{ span, text: JSON.stringify(ours) }]) : frame;
}

/** A permission request without a policy. Returns a function that reads the client's answer; undefined if it is not about a host tool. */
export function hostToolAnswerReader(session: Session | undefined, frame: Frame): ((answer: Frame) => void) | undefined {
  const attachment = session && attachmentOf(session);
  const body = attachment ? readBody(frame) : undefined;
  if (!session || !attachment || !body?.ok) return undefined;
  const { toolCall, options } = fields(body.value);
  const { toolCallId } = fields(toolCall);
  if (typeof toolCallId !== 'string') return undefined;
  const { calls } = session.servers;
  calls.report(toolCallId, attachment.toolIn(fields(toolCall)));
  if (!calls.named(toolCallId)) return undefined;
  return (answer) => {
    const read = answer.outcome === 'result' ? readBody(answer) : undefined;
    const { outcome, optionId } = fields(read?.ok ? fields(read.value).outcome : undefined);
    const chosen = Array.isArray(options) ? options.filter((option) => fields(option).optionId === optionId) : [];
    const isAllowed = chosen.length === 1 && String(fields(chosen[0]).kind).startsWith('allow');
    if (outcome === 'selected' && isAllowed) calls.approve(toolCallId, undefined);
  };
}
