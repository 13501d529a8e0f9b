// The result of a turn for an MCP client: messages, images, audio and links as content, changed files as links, everything also structured.

import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server';
import type { Turn } from '../../client/sessions.ts';
import type { Block } from '../../client/turn-record.ts';
import { textOf as text } from '../../json-object.ts';

export type TurnAbout = { readonly sessionId: string; readonly turn: number; readonly notes: readonly string[] };

export function turnResult(done: Turn, { sessionId, turn, notes: own }: TurnAbout): CallToolResult {
  const { text, content, toolCalls, changedFiles, plan, notices, stopReason, usage } = done;
  const notes = [...notices, ...own];
  const blocks = content.flatMap(asContent);
  const ownBlocks = blocks.some((block) => block.type !== 'text' || block.text !== '')
    ? blocks
    : [{ type: 'text' as const, text: `[the turn ended with ${stopReason}, without a message]` }];
  const { tokens, size, cost } = usage;
  return {
    content: [...ownBlocks, ...changedFiles.filter((file) => path.isAbsolute(file)).map(fileLink), ...notes.map(asNote)],
    structuredContent: {
      session_id: sessionId,
      turn,
      text,
      stop_reason: stopReason,
      tool_calls: toolCalls.map(({ toolCallId, title, kind, status, paths }) => ({
        ...{ tool_call_id: toolCallId, title, kind, status, paths: [...paths] },
      })),
      changed_files: [...changedFiles],
      ...(plan.length > 0 && { plan: plan.map((entry) => ({ ...entry })) }),
      ...((tokens ?? size ?? cost) !== undefined && {
        usage: {
          ...(tokens !== undefined && { tokens }),
          ...(size !== undefined && { context_size: size }),
          ...(cost && { cost: { ...cost } }),
        },
      }),
      ...(notes.length > 0 && { notes }),
    },
  };
}

const asNote = (text: string): ContentBlock => ({ type: 'text', text: `[${text}]` });

function fileLink(file: string): ContentBlock {
  return { type: 'resource_link', uri: pathToFileURL(file).href, name: path.basename(file), description: 'changed in this turn' };
}

/** Fields that only ACP has are left out; a kind that MCP does not have becomes text. */
function asContent(block: Block): ContentBlock[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: text(block.text) ?? '' }];
    case 'image':
    case 'audio':
      return [{ type: block.type, data: text(block.data) ?? '', mimeType: text(block.mimeType) ?? 'application/octet-stream' }];
    case 'resource_link': {
      const uri = text(block.uri) ?? '';
      const [title, description, mimeType] = [text(block.title), text(block.description), text(block.mimeType)];
      return [
        {
          ...{ type: 'resource_link', uri, name: text(block.name) ?? uri },
          ...(title !== undefined && { title }),
          ...(description !== undefined && { description }),
          ...(mimeType !== undefined && { mimeType }),
        },
      ];
    }
    case 'resource': {
      const { uri, mimeType, text: words, blob } = (block.resource ?? {}) as Readonly<Record<string, unknown>>;
      const about = { uri: text(uri) ?? '', ...(typeof mimeType === 'string' && { mimeType }) };
      if (typeof words === 'string') return [{ type: 'resource', resource: { ...about, text: words } }];
      return [{ type: 'resource', resource: { ...about, blob: text(blob) ?? '' } }];
    }
    default:
      return [{ type: 'text', text: `[content of the type ${block.type}, which MCP does not have]` }];
  }
}
