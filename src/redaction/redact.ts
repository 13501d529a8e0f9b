// Redacts text before it is written or shown: known values first, then secrets recognized by context or form.
// Every log and record passes through here; messages between a client and an agent do not.
import { CONTEXT_PATTERNS } from './context-patterns.ts';
import { createLiteralFinder } from './find-literals.ts';
import { createKnownValues } from './known-values.ts';
import { CUT_FORM, LONG_CUT_FORM, PROVIDER_PATTERNS } from './provider-patterns.ts';
import { isSecretVariable } from './secret-names.ts';
import { withoutCutKeys } from './truncated-secrets.ts';

export type Redactor = (text: string) => string;

export type Redactors = {
  readonly redact: Redactor;
  /** For a truncated text: also removes a partial secret at either end. */
  readonly redactCut: Redactor;
  /** For streamed text: stricter about what counts as the start of a secret, because people read the text as it arrives. */
  readonly redactStreamed: Redactor;
  /** The length of the longest possible secret, in characters: how much of a text's end may be the start of one. */
  longest(): number;
};

/** The secrets of one process: given at start, or learned from messages. */
export type Secrets = Redactors & {
  /**
   * From now on the value is replaced by `[redacted:NAME]`, in every encoding. Beyond a limit the oldest values are forgotten, except kept
   * ones.
   */
  add(name: string, value: string, isKept?: boolean): void;
  /** Replace only values that were added, and nothing that merely looks like a secret. */
  readonly known: Redactors;
  /** How many texts had a secret. */
  redactions(): number;
};

/** Applies a pattern from the user's configuration. */
export type UserPattern = (text: string) => string;

/** Keys of a known form, including private keys, are hardly longer. */
const LONGEST_FORM = 4096;

/** Built on first use: most processes answer their first request before they redact anything. */
let byLiteral: { readonly find: ReturnType<typeof createLiteralFinder>; readonly owner: readonly number[] } | undefined;
const PATTERNS = [...PROVIDER_PATTERNS, ...CONTEXT_PATTERNS];

/** The finder moves in steps of about the shortest literal, so a short literal is searched together with each character that may follow. */
const FOLLOWING = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-%:~!$&*+=';

function literalFinder() {
  if (byLiteral) return byLiteral;
  const literals = PATTERNS.flatMap((pattern, index) => pattern.literals.map((literal) => ({ literal, index })));
  const find = createLiteralFinder(
    literals.map(({ literal }) => literal),
    FOLLOWING,
  );
  byLiteral = { find, owner: literals.map(({ index }) => index) };
  return byLiteral;
}

function replaceForms(text: string): string {
  const { find, owner } = literalFinder();
  const found = find(text);
  if (found === undefined) return text;
  const tried = new Set([...found].map((literal) => owner[literal] as number));
  // In table order: specific patterns come before general ones.
  return PATTERNS.reduce(
    (clean, { pattern, replacement }, index) => (tried.has(index) ? clean.replace(pattern, replacement) : clean),
    text,
  );
}

function withoutEnd(text: string, form: RegExp): string {
  const from = Math.max(0, text.length - LONGEST_FORM);
  return text.slice(0, from) + text.slice(from).replace(form, '$1[redacted]');
}

export function createSecrets(userPatterns: readonly UserPattern[] = []): Secrets {
  const known = createKnownValues();
  const without = (text: string): string => userPatterns.reduce((left, replace) => replace(left), replaceForms(text));
  let redactions = 0;
  const counted = (text: string, clean: string): string => {
    if (clean !== text) redactions++;
    return clean;
  };
  return {
    redactions: () => redactions,
    add: known.add,
    longest: () => Math.max(LONGEST_FORM, known.longest()),
    known: {
      longest: known.longest,
      redact: known.replace,
      redactCut: known.replaceCut,
      redactStreamed: (text) => known.replaceCut(text, true),
    },
    redact: (text) => counted(text, withoutCutKeys(without(known.replace(text)))),
    redactCut: (text) => counted(text, withoutEnd(without(known.replaceCut(text)), CUT_FORM)),
    redactStreamed: (text) => counted(text, withoutEnd(without(known.replaceCut(text, true)), LONG_CUT_FORM)),
  };
}

/** Adds an environment: every value of `given`, and those of `around` with a secret-looking name. */
export function addEnvironment(
  secrets: Secrets,
  given: Readonly<Record<string, string>>,
  around: Readonly<Record<string, string | undefined>> = {},
): void {
  for (const [name, value] of Object.entries(given)) secrets.add(name, value, true);
  for (const [name, value] of Object.entries(around)) if (value !== undefined && isSecretVariable(name)) secrets.add(name, value, true);
}

/** `given` values count as secrets whatever their names; `around` values only if their names suggest it. */
export function createRedactor(
  given: Readonly<Record<string, string>>,
  around: Readonly<Record<string, string | undefined>> = {},
): Redactor {
  const secrets = createSecrets();
  addEnvironment(secrets, given, around);
  return secrets.redact;
}
