// Filters frame log records: `agent:codex method:session/* dir:in err:true ms>500`. A record must match all terms; `!` negates a term.

export type FrameRecord = {
  readonly t: number;
  readonly leg?: string;
  readonly dir?: string;
  readonly kind?: string;
  readonly method?: string;
  readonly id?: unknown;
  readonly session?: string;
  readonly bytes?: number;
  readonly ms?: number;
  readonly error?: number;
  readonly event?: string;
  readonly reason?: string;
  readonly records?: number;
  readonly chunks?: number;
  readonly ours?: boolean;
  readonly msg?: unknown;
  readonly line?: string;
};

export type FrameFilter = (record: FrameRecord) => boolean;

type Test = (wanted: string) => FrameFilter;

/** Not a regular expression: with several wildcards it could backtrack for minutes over a long name, and agents choose the names. */
function glob(wanted: string): (text: string) => boolean {
  const [first = '', ...rest] = wanted.split('*');
  const last = rest.pop();
  if (last === undefined) return (given) => given === first;
  return (given) => {
    if (!given.startsWith(first)) return false;
    let at = first.length;
    for (const part of rest) {
      const found = given.indexOf(part, at);
      if (found === -1) return false;
      at = found + part.length;
    }
    return given.length - last.length >= at && given.endsWith(last);
  };
}
const text =
  (read: (record: FrameRecord) => string | undefined): Test =>
  (wanted) => {
    const fits = glob(wanted);
    return (record) => fits(read(record) ?? '');
  };

const TESTS: Readonly<Record<string, Test>> = {
  agent: text(({ leg }) => leg?.replace(/#\d+$/, '')),
  connection: text(({ leg }) => (leg === 'editor' ? 'client' : leg)),
  leg: text(({ leg }) => leg),
  method: text(({ method }) => method),
  kind: text(({ kind }) => kind),
  session: text(({ session }) => session),
  id: text(({ id }) => (id === undefined ? undefined : String(id))),
  event: text(({ event }) => event),
  dir: (wanted) => {
    const prefix = { in: 'from', out: 'to' }[wanted];
    const written = wanted.replace(/Client$/, 'Editor'); // as the log has it
    return ({ dir }) => (prefix === undefined ? dir === written : dir?.startsWith(prefix) === true);
  },
  text: (wanted) => {
    const needle = wanted.toLowerCase();
    return ({ line, msg }) => (line ?? (msg === undefined ? '' : JSON.stringify(msg))).toLowerCase().includes(needle);
  },
  err: (wanted) => (record) =>
    (record.error !== undefined || (record.event === 'down' && record.reason !== 'stopped') || record.kind === 'refused') ===
    (wanted === 'true'),
};
const NUMBERS: Readonly<Record<string, (record: FrameRecord) => number | undefined>> = {
  ms: ({ ms }) => ms,
  bytes: ({ bytes }) => bytes,
  error: ({ error }) => error,
};

/** The terms with a fixed set of values. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  err: ['true', 'false'],
  dir: ['in', 'out', 'fromClient', 'toClient', 'fromAgent', 'toAgent', 'fromEditor', 'toEditor'],
  kind: ['request', 'notification', 'response', 'refused'],
};

export const FILTER_TERMS = [
  ...Object.keys(TESTS).map((name) => `${name}:`),
  ...Object.keys(NUMBERS).flatMap((name) => [`${name}>`, `${name}<`]),
];

/** Splits a line into terms; a quoted word may contain spaces: `text:"not found"`. */
export function termsOf(line: string): readonly string[] {
  return (line.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? []).map((term) => term.replaceAll('"', ''));
}

/** An invalid term; with the values it may have, if only its value is wrong. */
export type WrongTerm = { readonly wrong: string; readonly value: string; readonly values: readonly string[] | undefined };

/** The filter, or the invalid term. */
export function parseFilter(terms: readonly string[]): FrameFilter | WrongTerm {
  const filters: FrameFilter[] = [];
  for (const term of terms) {
    const [, not, name = '', sign, wanted = ''] = /^(!?)(\w+)(:|>|<)(.*)$/s.exec(term) ?? [];
    const add = (filter: FrameFilter) => filters.push(not === '!' ? (record) => !filter(record) : filter);
    const test = sign === ':' && Object.hasOwn(TESTS, name) ? TESTS[name] : undefined;
    const number = sign !== ':' && Object.hasOwn(NUMBERS, name) && /^-?\d+(?:\.\d+)?$/.test(wanted) ? NUMBERS[name] : undefined;
    const values = test && VALUES[name];
    if (values && !values.some(glob(wanted))) return { wrong: term, value: wanted, values };
    if (test) add(test(wanted));
    else if (number)
      add((record) => {
        const value = number(record);
        return value !== undefined && (sign === '>' ? value > Number(wanted) : value < Number(wanted));
      });
    else return { wrong: term, value: wanted, values: undefined };
  }
  return (record) => filters.every((holds) => holds(record));
}
