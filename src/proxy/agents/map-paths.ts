// For a remote agent that sees this side's files under other paths: rewrites the path fields listed here, in both directions, and no other byte.
// A path that has no counterpart would name another file there or here, so requests that act on one are refused.
import { failure, type ProxyError } from '../../errors.ts';
import { type Sink, type Source, type Streams, sinkThrough, sourceThrough } from '../../wire/byte-stream.ts';
import type { Frame, Span } from '../../wire/frame.ts';
import { eachLine } from '../../wire/framing/each-line.ts';
import { elements, members, stringAt } from '../../wire/json-path.ts';
import { idTextOf } from '../../wire/scanner/large-frame.ts';
import { strictParse } from '../../wire/scanner/strict-parse.ts';
import { inOrder, type Patch } from '../../wire/writer.ts';
import { errorLine } from '../json-rpc-lines.ts';

/** Where paths are in a value; lists are searched through. */
type Shape = 'path' | 'uri' | { readonly [key: string]: Shape };

const CONTENT: Shape = { uri: 'uri', resource: { uri: 'uri' } };
const LOCATIONS: Shape = { path: 'path' };
const DIRECTORIES: Shape = { cwd: 'path', additionalDirectories: 'path' };
const FILE: Shape = { path: 'path' };
const TOOL_CALL: Shape = { locations: LOCATIONS, content: { path: 'path', content: CONTENT } };

/** docs/differences.md has this list. */
const TO_AGENT: Readonly<Record<string, Shape>> = {
  'session/new': DIRECTORIES,
  'session/load': DIRECTORIES,
  'session/resume': DIRECTORIES,
  'session/fork': DIRECTORIES,
  'session/list': DIRECTORIES,
  'session/prompt': { prompt: CONTENT },
};
const FROM_AGENT: Readonly<Record<string, Shape>> = {
  'fs/read_text_file': FILE,
  'fs/write_text_file': FILE,
  'fs/readTextFile': FILE,
  'fs/writeTextFile': FILE,
  'terminal/create': { cwd: 'path' },
  'session/update': { update: { ...TOOL_CALL, path: 'path', content: { ...CONTENT, path: 'path', content: CONTENT } } },
  'session/request_permission': { toolCall: TOOL_CALL },
};
const LISTED: Shape = { sessions: DIRECTORIES };
/** Requests that act on their paths. */
const ACTS = /^(fs\/|terminal\/create$|session\/(new|load|resume|fork)$)/;

/** The counterpart of a path or a URI on the other side; undefined if it has none. */
type MapText = (text: string) => string | undefined;
type Side = { readonly path: MapText; readonly uri: MapText };

/** `map`: from directories of this side to those of the agent's. */
export function mapPaths({ fromAgent, toAgent }: Streams, map: Readonly<Record<string, string>>, agent: string): Streams {
  const pairs = Object.entries(map).map(([here, there]) => [trimmed(here), trimmed(there)] as const);
  const there = sideOf(pairs);
  const here = sideOf(pairs.map(([a, b]) => [b, a] as const));
  /** The ids of open session/list requests. */
  const lists = new Set<string>();
  let answer: (line: Buffer) => void = () => {};

  const sink: Sink = sinkThrough(
    toAgent,
    translated((frame) => {
      if (frame.kind === 'response') return undefined;
      const method = frame.method as string;
      if (frame.kind === 'request' && method === 'session/list') lists.add(idTextOf(frame));
      return rewrite(frame, TO_AGENT[method], there, (error) => answer(Buffer.from(errorLine(idTextOf(frame), error))));
    }),
  );
  const source: Source = sourceThrough(fromAgent, (emit) => {
    // Later: the proxy is still busy with the request.
    answer = (line) => void setImmediate(emit, line);
    const push = translated((frame) => {
      if (frame.kind === 'response') return rewrite(frame, lists.delete(idTextOf(frame)) ? LISTED : undefined, here);
      return rewrite(frame, FROM_AGENT[frame.method as string], here, (error) =>
        toAgent.write(Buffer.from(errorLine(idTextOf(frame), error))),
      );
    });
    return { push: (chunk) => push(chunk).forEach(emit), end: () => {} };
  });
  return { fromAgent: source, toAgent: sink };

  /** The line to send instead of the frame; undefined: the same; empty: none. */
  function rewrite(frame: Frame, shape: Shape | undefined, to: Side, refuse?: (error: ProxyError) => void): Buffer | undefined {
    const { method = '', kind } = frame;
    const missing: string[] = [];
    const patches = frame.body && shape ? patchesOf(frame.bytes, frame.body, shape, to, missing) : [];
    const isUnknown = shape === undefined && method.startsWith('fs/');
    if (refuse && kind === 'request' && ACTS.test(method) && (isUnknown || missing.length > 0)) {
      refuse(isUnknown ? failure('FILES_WITHHELD', [method, agent]) : failure('PATH_UNMAPPED', [method, missing[0] ?? '', agent]));
      return Buffer.alloc(0);
    }
    return patches.length === 0 ? undefined : spliced(frame, patches);
  }
}

function translated(rewrite: (frame: Frame) => Buffer | undefined): (chunk: Buffer) => readonly Buffer[] {
  let parts: Buffer[] = [];
  const push = eachLine((line) => {
    const frame = strictParse(line, 0, line.length - 1);
    parts.push(('why' in frame ? undefined : rewrite(frame)) ?? line); // the proxy reports a line that is no frame
  });
  return (chunk) => {
    parts = [];
    push(chunk);
    return parts.length < 2 ? parts : [Buffer.concat(parts)];
  };
}

function patchesOf(bytes: Buffer, at: Span, shape: Shape, to: Side, missing: string[]): Patch[] {
  if (bytes[at.start] === 0x5b) return elements(bytes, at.start).flatMap((one) => patchesOf(bytes, one, shape, to, missing));
  if (typeof shape === 'object')
    return members(bytes, at.start).flatMap(({ key, value }) => {
      const inner = Object.hasOwn(shape, key) ? shape[key] : undefined;
      return inner === undefined ? [] : patchesOf(bytes, value, inner, to, missing);
    });
  const text = stringAt(bytes, at);
  if (text === undefined) return [];
  const mapped = to[shape](text);
  if (mapped === undefined && shape === 'path') missing.push(text);
  return mapped === undefined || mapped === text ? [] : [{ span: at, text: JSON.stringify(mapped) }];
}

function spliced({ bytes, start, end }: Frame, patches: readonly Patch[]): Buffer {
  const parts: Buffer[] = [];
  let at = start;
  for (const { span, text } of inOrder(patches)) {
    parts.push(bytes.subarray(at, span.start), Buffer.from(text));
    at = span.end;
  }
  return Buffer.concat([...parts, bytes.subarray(at, end), Buffer.from('\n')]);
}

type Pairs = readonly (readonly [string, string])[];

const uriOf = (directory: string): string => `file://${encodeURI(directory)}`;

const sideOf = (pairs: Pairs): Side => ({ path: mapper(pairs), uri: mapper(pairs.map(([a, b]) => [uriOf(a), uriOf(b)] as const)) });

const trimmed = (directory: string): string => directory.replace(/(?<=.)[\\/]+$/, '');

/** The longest directory decides. A path that leaves its directory by `..` has no counterpart. */
function mapper(pairs: Pairs): MapText {
  const longestFirst = [...pairs].sort(([a], [b]) => b.length - a.length);
  return (text) => {
    if (/(^|[\\/])\.\.([\\/]|$)/.test(text)) return undefined;
    for (const [from, to] of longestFirst) {
      const rest = text.slice(from.length);
      if (text.startsWith(from) && (rest === '' || from === '/' || /^[\\/]/.test(rest)))
        return `${to === '/' && rest !== '' ? '' : to}${rest}`;
    }
    return undefined;
  };
}
