// Where telemetry goes: the configuration first, then the usual OTEL_* variables. Pure: the environment is handed in.
import type { TelemetryConfig } from './config.ts';

export type Target = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly isCompressed: boolean;
};

/** Which new traces are recorded. `isParentBased`: the decision of the caller counts, if there is one. */
export type Sampler = { readonly ratio: number; readonly isParentBased: boolean };

export type TelemetrySettings = {
  readonly traces:
    | (Target & { readonly maxQueue: number; readonly maxBatch: number; readonly delayMs: number; readonly sampler: Sampler })
    | undefined;
  readonly metrics: (Target & { readonly everyMs: number }) | undefined;
  readonly inject: boolean;
  readonly resource: Readonly<Record<string, string>>;
  /** What cannot be used, for people. */
  readonly notices: readonly string[];
};

/** For people: a query may hold a key. */
export function addressOf({ url }: Target): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

type Environment = Readonly<Record<string, string | undefined>>;
type Signal = 'traces' | 'metrics';

const GENERAL = 'OTEL_EXPORTER_OTLP';

export function telemetrySettings(config: TelemetryConfig, env: Environment, version: string): TelemetrySettings {
  const notices: string[] = [];
  const isDisabled = env.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true';
  const target = (signal: Signal) => (isDisabled || config.isUnsent ? undefined : targetOf(signal, config, env, notices));
  const traces = target('traces');
  const metrics = config.metrics ? target('metrics') : undefined;
  return {
    traces: traces && {
      ...traces,
      maxQueue: numberOf(env.OTEL_BSP_MAX_QUEUE_SIZE, 2048),
      maxBatch: numberOf(env.OTEL_BSP_MAX_EXPORT_BATCH_SIZE, 512),
      delayMs: numberOf(env.OTEL_BSP_SCHEDULE_DELAY, 5000),
      sampler: samplerOf(env, notices),
    },
    metrics: metrics && { ...metrics, everyMs: numberOf(env.OTEL_METRIC_EXPORT_INTERVAL, 60_000) },
    inject: config.traces?.inject === true,
    resource: resourceOf(env, version),
    notices: [...new Set(notices)],
  };
}

function targetOf(signal: Signal, { traces }: TelemetryConfig, env: Environment, notices: string[]): Target | undefined {
  const own = `${GENERAL}_${signal.toUpperCase()}`;
  const read = (name: string): string | undefined => env[`${own}_${name}`]?.trim() || env[`${GENERAL}_${name}`]?.trim() || undefined;
  if (env[`OTEL_${signal.toUpperCase()}_EXPORTER`]?.trim() === 'none') return undefined;
  const place = placeOf(signal, traces?.endpoint, env);
  if (!place) return undefined;
  const problem = problemOf(place.url);
  if (problem !== undefined) {
    notices.push(`telemetry: nothing is sent: ${place.name} ${problem}`);
    return undefined;
  }
  const protocol = place.isOfFile ? undefined : read('PROTOCOL');
  if (protocol === 'grpc') {
    notices.push(`telemetry: nothing is sent: ${GENERAL}_PROTOCOL is grpc; switchboard sends OTLP over HTTP, usually to port 4318`);
    return undefined;
  }
  // Credentials in the environment belong to the address in the environment.
  const headers = place.isOfFile
    ? (traces?.headers ?? {})
    : { ...headersOf(env[`${GENERAL}_HEADERS`]), ...headersOf(env[`${own}_HEADERS`]) };
  const unsendable = Object.entries(headers).find(([name, value]) => !HEADER_NAME.test(name) || !HEADER_VALUE.test(value));
  if (unsendable) {
    const of = place.isOfFile ? 'telemetry.traces.headers' : `${GENERAL}_HEADERS`;
    notices.push(`telemetry: nothing is sent: ${of} has a character in "${unsendable[0]}" that HTTP does not allow, such as a line break`);
    return undefined;
  }
  return {
    url: place.url,
    headers,
    timeoutMs: numberOf(read('TIMEOUT'), 10_000),
    isCompressed: read('COMPRESSION') === 'gzip',
  };
}

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

type Place = { readonly url: string; readonly name: string; readonly isOfFile: boolean };

function placeOf(signal: Signal, configured: string | undefined, env: Environment): Place | undefined {
  const ownName = `${GENERAL}_${signal.toUpperCase()}_ENDPOINT`;
  const own = env[ownName]?.trim();
  const general = env[`${GENERAL}_ENDPOINT`]?.trim();
  if (signal === 'metrics' && own) return { url: own, name: ownName, isOfFile: false };
  if (configured !== undefined) return { url: urlFor(signal, configured), name: 'telemetry.traces.endpoint', isOfFile: true };
  if (own) return { url: own, name: ownName, isOfFile: false };
  return general ? { url: urlFor(signal, general), name: `${GENERAL}_ENDPOINT`, isOfFile: false } : undefined;
}

/** `http://localhost:4318` and `http://localhost:4318/v1/traces` name the same collector. */
const urlFor = (signal: Signal, endpoint: string): string =>
  `${endpoint.replace(/\/+$/, '').replace(/\/v1\/(?:traces|metrics)$/, '')}/v1/${signal}`;

function problemOf(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) return 'is not an http or https address';
  return url.username !== '' || url.password !== '' ? 'contains credentials; put them into headers' : undefined;
}

/** `name=value,name=value`, percent-encoded. */
function headersOf(text: string | undefined): Record<string, string> {
  return Object.fromEntries(
    (text ?? '').split(',').flatMap((pair) => {
      const at = pair.indexOf('=');
      const name = pair.slice(0, at).trim();
      return at > 0 && name !== '' ? [[name, decoded(pair.slice(at + 1).trim())] as const] : [];
    }),
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text).trim();
  } catch {
    return text;
  }
}

function resourceOf(env: Environment, version: string): Record<string, string> {
  const given = headersOf(env.OTEL_RESOURCE_ATTRIBUTES);
  const name = env.OTEL_SERVICE_NAME?.trim() || given['service.name'] || 'acp-switchboard';
  return {
    'telemetry.sdk.language': 'nodejs',
    'telemetry.sdk.name': 'acp-switchboard',
    'service.version': version,
    ...given,
    'service.name': name,
  };
}

const RATIOS: Readonly<Record<string, number | undefined>> = { always_on: 1, always_off: 0, traceidratio: undefined };

function samplerOf(env: Environment, notices: string[]): Sampler {
  const name = env.OTEL_TRACES_SAMPLER?.trim() || 'parentbased_always_on';
  const kind = name.replace(/^parentbased_/, '');
  const isParentBased = kind !== name;
  if (!(kind in RATIOS)) {
    notices.push(`telemetry: unknown OTEL_TRACES_SAMPLER "${name}"; every trace is recorded`);
    return { ratio: 1, isParentBased: true };
  }
  const wanted = Number(env.OTEL_TRACES_SAMPLER_ARG ?? 1);
  return { ratio: RATIOS[kind] ?? (wanted >= 0 && wanted <= 1 ? wanted : 1), isParentBased };
}

function numberOf(text: string | undefined, otherwise: number): number {
  const value = Number(text?.trim() || Number.NaN);
  return Number.isFinite(value) && value > 0 ? value : otherwise;
}
