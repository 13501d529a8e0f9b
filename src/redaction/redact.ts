// Redacts text before it is written or shown: known values first, then secrets that their context or their form gives away.
// Every log and record goes through here; messages between a client and an agent do not.
import { CONTEXT_PATTERNS } from './context-patterns.ts';
import { createLiteralFinder } from './find-literals.ts';
import { createKnownValues } from './known-values.ts';
import { CUT_FORM, LONG_CUT_FORM, PROVIDER_PATTERNS } from './provider-patterns.ts';
import { isSecretVariable } from './secret-names.ts';
import { withoutCutKeys } from './truncated-secrets.ts';

export type Redactor = (text: string) => string;

/** The secrets of one process: what it was given, and what it learns on the way. */
export type Secrets = {
  /** From now on the value is replaced by `[redacted:NAME]`, in all its spellings; of very many the oldest are forgotten, unless they are kept. */
  add(name: string, value: string, isKept?: boolean): void;
  readonly redact: Redactor;
  /** For a text of which the beginning or the end may be missing: what is left there of a secret goes too. */
  readonly redactCut: Redactor;
  /** For a text that goes on and is shown as it comes: less is taken for the beginning of a secret, since people read it. */
  readonly redactStreamed: Redactor;
  /** The longest secret to reckon with, in characters: how much of a text may still be the beginning of one. */
  longest(): number;
};

/** What a pattern of the user's makes of a text. */
export type UserPattern = (text: string) => string;

/** Keys of a known form, private keys among them, are hardly longer. */
const LONGEST_FORM = 4096;

/** Built when first needed: most processes never redact anything before they have answered their first request. */
let byLiteral: { readonly find: ReturnType<typeof createLiteralFinder>; readonly owner: readonly number[] } | undefined;
const PATTERNS = [...PROVIDER_PATTERNS, ...CONTEXT_PATTERNS];

/** The finder goes in steps of nearly the shortest literal; so a short one is looked for with each character that may follow it. */
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
  // In the order of the table: the special ones come before the general.
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
  return {
    add: known.add,
    longest: () => Math.max(LONGEST_FORM, known.longest()),
    redact: (text) => withoutCutKeys(without(known.replace(text))),
    redactCut: (text) => withoutEnd(without(known.replaceCut(text)), CUT_FORM),
    redactStreamed: (text) => withoutEnd(without(known.replaceCut(text, true)), LONG_CUT_FORM),
  };
}

/** Takes in a whole environment: all of `given`, and of `around` what is called a secret. */
export function addEnvironment(
  secrets: Secrets,
  given: Readonly<Record<string, string>>,
  around: Readonly<Record<string, string | undefined>> = {},
): void {
  for (const [name, value] of Object.entries(given)) secrets.add(name, value, true);
  for (const [name, value] of Object.entries(around)) if (value !== undefined && isSecretVariable(name)) secrets.add(name, value, true);
}

/** `given` are values that count as secrets whatever they are called; of `around`, only those whose name says so. */
export function createRedactor(
  given: Readonly<Record<string, string>>,
  around: Readonly<Record<string, string | undefined>> = {},
): Redactor {
  const secrets = createSecrets();
  addEnvironment(secrets, given, around);
  return secrets.redact;
}
