// A collector on loopback, which keeps what it receives and answers as the test says.
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

// biome-ignore lint/suspicious/noExplicitAny: what arrives is JSON of any shape
export type Json = any;

export type ReceivedSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly start: number;
  readonly end: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly string[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly error: string | undefined;
};

/** How it answers a request: a status, or what else happens to the connection. */
export type Behaviour =
  | number
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | 'close'
  | 'hang';

export type Collector = {
  readonly url: string;
  /** Of all accepted payloads. */
  spans(): readonly ReceivedSpan[];
  /** The newest accepted payload of metrics: values by name and labels. */
  metrics(): ReadonlyMap<string, number>;
  /** Everything that arrived, accepted or not, as text. */
  readonly bodies: { readonly path: string; readonly headers: http.IncomingHttpHeaders; readonly text: string; readonly status: number }[];
  answer(behaviour: Behaviour): void;
  /** Resolves when a request has been received for which this is true. */
  until(isTrue: () => boolean): Promise<void>;
  close(): Promise<void>;
};

export async function startCollector(first: Behaviour = 200, port = 0): Promise<Collector> {
  let behaviour = first;
  const bodies: { path: string; headers: http.IncomingHttpHeaders; text: string; status: number }[] = [];
  const waiting = new Set<() => void>();
  const server = http.createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const whole = Buffer.concat(parts);
      const text = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(whole) : whole).toString('utf8');
      const now = behaviour;
      const status = typeof now === 'number' ? now : typeof now === 'object' ? now.status : 0;
      bodies.push({ path: request.url ?? '', headers: request.headers, text, status });
      if (now === 'close') request.socket.destroy();
      else if (now !== 'hang') {
        const { headers = {}, body = '{}' } = typeof now === 'object' ? now : {};
        response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
      }
      for (const look of waiting) look();
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const accepted = (path: string) => bodies.filter((one) => one.path === path && one.status === 200).map(({ text }) => JSON.parse(text));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    spans: () =>
      accepted('/v1/traces').flatMap(({ resourceSpans }) =>
        resourceSpans.flatMap((one: Json) => one.scopeSpans.flatMap((scope: Json) => scope.spans.map(readSpan))),
      ),
    metrics() {
      const last = accepted('/v1/metrics').at(-1);
      const all: Json[] = last?.resourceMetrics[0].scopeMetrics[0].metrics ?? [];
      return new Map(all.flatMap(valuesOf));
    },
    answer(next) {
      behaviour = next;
    },
    until: (isTrue) =>
      new Promise((resolve) => {
        const look = () => {
          if (!isTrue()) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const attributesIn = (list: Json): Record<string, unknown> =>
  Object.fromEntries((list ?? []).map(({ key, value }: Json) => [key, plain(value)]));

function plain(value: Json): unknown {
  if (value.arrayValue) return value.arrayValue.values.map(plain);
  return value.intValue === undefined ? Object.values(value)[0] : Number(value.intValue);
}

function readSpan(span: Json): ReceivedSpan {
  const { traceId, spanId, parentSpanId, name, kind, attributes, events = [], links = [], status } = span;
  return {
    ...{ traceId, spanId, ...(parentSpanId && { parentSpanId }), name, kind, links },
    start: Number(span.startTimeUnixNano) / 1e6,
    end: Number(span.endTimeUnixNano) / 1e6,
    attributes: attributesIn(attributes),
    events: events.map((event: Json) => event.name),
    error: status.code === 2 ? status.message : undefined,
  };
}

function valuesOf(metric: Json): [string, number][] {
  const { name, gauge, sum, histogram } = metric;
  return (gauge ?? sum ?? histogram).dataPoints.map((point: Json) => {
    const labels = Object.entries(attributesIn(point.attributes)).map(([key, value]) => `${key}=${value}`);
    return [`${name}{${labels.join(',')}}`, Number(point.asDouble ?? point.count)];
  });
}

/** The spans of one trace as an outline: children below their parents, in the order of their start. */
export function outline(spans: readonly ReceivedSpan[]): string[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const under = (parent: string | undefined, depth: number): string[] =>
    spans
      .filter(({ parentSpanId }) => (parent === undefined ? parentSpanId === undefined || !ids.has(parentSpanId) : parentSpanId === parent))
      .sort((a, b) => a.start - b.start)
      .flatMap((span) => [
        `${'  '.repeat(depth)}${span.name}${span.error === undefined ? '' : ` !${span.error}`}`,
        ...under(span.spanId, depth + 1),
      ]);
  return under(undefined, 0);
}
