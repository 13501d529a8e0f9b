// Renders a transcript as text, Markdown or HTML.
import { type SessionRecord, toolsText } from '../../store/sessions/session-records.ts';
import type { TranscriptRecord } from '../../store/transcripts/transcript-record.ts';

type About = {
  readonly sessionId: string;
  readonly agent: string;
  readonly cwd?: string | undefined;
  readonly title?: string | undefined;
  readonly created: string;
  readonly tools?: SessionRecord['tools'];
};
type Part = { readonly heading: string; readonly body: string; readonly isCode?: boolean };

const WHO = { agent: 'Agent', thought: 'Thought', user: 'User' } as const;
const MOST_CHARACTERS = 4000;

export function toText(about: About, transcript: readonly TranscriptRecord[]): string {
  return `${titleOf(about)}\n${factsOf(about).join('\n')}\n\n${toWords(transcript)}`;
}

export function toMarkdown(about: About, transcript: readonly TranscriptRecord[]): string {
  const parts = partsOf(transcript).map(({ heading, body, isCode }) => `### ${heading}\n\n${isCode ? fenced(body) : body}\n`);
  return `# ${titleOf(about)}\n\n${factsOf(about)
    .map((fact) => `- ${fact}`)
    .join('\n')}\n\n${parts.join('\n')}`;
}

/** A self-contained page: it loads nothing, and agent output is escaped text. */
export function toHtml(about: About, transcript: readonly TranscriptRecord[]): string {
  const parts = partsOf(transcript).map(
    ({ heading, body, isCode }) =>
      `<section><h2>${escaped(heading)}</h2><pre${isCode ? ' class="code"' : ''}>${escaped(body)}</pre></section>`,
  );
  const style =
    'body{font:16px/1.5 system-ui;max-width:50rem;margin:2rem auto;padding:0 1rem}pre{white-space:pre-wrap;font:inherit}pre.code{font:14px/1.4 monospace;background:#8881;padding:.5rem}h2{font-size:1rem;margin:1.5rem 0 .25rem}';
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'">' +
    `<title>${escaped(titleOf(about))}</title><style>${style}</style></head><body><h1>${escaped(titleOf(about))}</h1>` +
    `<ul>${factsOf(about)
      .map((fact) => `<li>${escaped(fact)}</li>`)
      .join('')}</ul>${parts.join('')}</body></html>\n`
  );
}

/** Only the text. */
export const toWords = (transcript: readonly TranscriptRecord[]): string =>
  partsOf(transcript)
    .map(({ heading, body }) => `[${heading}]${body === '' ? '' : `\n${body}`}\n`)
    .join('\n');

/** The searchable text. */
export function wordsOf(record: TranscriptRecord): string {
  if (record.kind === 'prompt' || record.kind === 'message') return record.text;
  if (record.kind === 'tool' || record.kind === 'permission' || record.kind === 'title') return String(record.title ?? '');
  return record.kind === 'plan' ? planText(record.entries) : '';
}

const titleOf = ({ title, sessionId }: About): string => title ?? `Session ${sessionId}`;
const factsOf = ({ sessionId, agent, cwd, created, tools }: About): string[] => [
  `session ${sessionId}`,
  `agent ${agent}`,
  ...(cwd === undefined ? [] : [`directory ${cwd}`]),
  `opened ${created}`,
  ...(tools ? [`host tools: ${[toolsText(tools), ...(tools.names ? [tools.names.join(', ')] : [])].join(': ')}`] : []),
];

function partsOf(transcript: readonly TranscriptRecord[]): Part[] {
  const parts: Part[] = [];
  let unfinished = '';
  for (const record of transcript) {
    if (record.kind === 'message' && record.more) unfinished += record.text;
    else if (record.kind === 'message') {
      parts.push({ heading: WHO[record.role], body: unfinished + record.text });
      unfinished = '';
    } else parts.push(...partOf(record));
  }
  return unfinished === '' ? parts : [...parts, { heading: 'Agent (unfinished)', body: unfinished }];
}

function partOf(record: TranscriptRecord): Part[] {
  switch (record.kind) {
    case 'prompt':
      return [{ heading: 'Prompt', body: record.other ? `${record.text}\n${short(record.other)}` : record.text }];
    case 'block':
      return [{ heading: WHO[record.role], body: short(record.content), isCode: true }];
    case 'tool': {
      const { toolCallId, title, toolKind, status, content, rawInput } = record;
      const heading = `Tool: ${String(title ?? toolCallId)} (${[toolKind, status ?? 'unfinished'].filter((word) => word !== undefined).join(', ')})`;
      return [
        { heading, body: content === undefined ? (rawInput === undefined ? '' : short(rawInput)) : contentText(content), isCode: true },
      ];
    }
    case 'plan':
      return [{ heading: 'Plan', body: planText(record.entries) }];
    case 'permission': {
      const option = record.option as { name?: unknown } | undefined;
      return [
        {
          heading: `Permission for ${String(record.title ?? record.toolCallId ?? 'a tool')}: ${String(option?.name ?? record.outcome)}`,
          body: '',
        },
      ];
    }
    case 'mode':
      return [{ heading: `Mode: ${String(record.modeId)}`, body: '' }];
    case 'turn':
      return [
        { heading: record.error === undefined ? `Turn ended: ${String(record.stopReason)}` : `Turn failed: ${record.error}`, body: '' },
      ];
    case 'omitted':
      return [{ heading: `${record.bytes} bytes omitted`, body: '' }];
    default:
      return [];
  }
}

function planText(entries: unknown): string {
  const list: readonly { content?: unknown; status?: unknown }[] = Array.isArray(entries) ? entries : [];
  return list.map(({ content, status }) => `${status === 'completed' ? '[x]' : '[ ]'} ${String(content)}`).join('\n');
}

/** Texts and diffs of a tool call. */
function contentText(content: unknown): string {
  type Item = { type?: unknown; path?: unknown; oldText?: unknown; newText?: unknown; content?: { text?: unknown } };
  const items: readonly Item[] = Array.isArray(content) ? content : [];
  return items
    .map((item) => {
      if (item?.type === 'diff') return `${String(item.path)}\n${signed('-', item.oldText)}${signed('+', item.newText)}`;
      return typeof item?.content?.text === 'string' ? item.content.text : short(item);
    })
    .join('\n')
    .slice(0, MOST_CHARACTERS);
}

function signed(sign: string, text: unknown): string {
  if (typeof text !== 'string' || text === '') return '';
  return `${text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => `${sign}${line}`)
    .join('\n')}\n`;
}

const short = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, MOST_CHARACTERS);

/** A fence longer than any in the text. */
function fenced(text: string): string {
  if (text === '') return '';
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
