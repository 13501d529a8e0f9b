// Hides secrets and likely secrets in settings before they are shown.
import { createRedactor } from '../redaction/redact.ts';
import { isSecretVariable } from '../redaction/secret-names.ts';

export const HIDDEN = '…';

const REFERENCE = /^\$\{(?:env|file):[^}]*\}$/;
const byForm = createRedactor({});

/** Whether the name of a variable or the format of its value indicates a secret. */
export function looksSecret(name: string, value: string): boolean {
  if (value === '' || REFERENCE.test(value)) return false;
  return isSecretVariable(name) || byForm(value) !== value || /:\/\/[^/\s:@]*:[^/\s@]+@/.test(value);
}

/** Hides provider keys and passwords in URLs. */
export function hideByForm(text: string): string {
  return byForm(text).replace(/(:\/\/[^/\s:@]*:)[^/\s@]+@/g, `$1${HIDDEN}@`);
}

/** References are shown: they do not contain the value. */
export function hideValue(value: string): string {
  return value === '' || REFERENCE.test(value) ? value : HIDDEN;
}

/** The secrets in an argument list: after `--api-key` and similar flags, or after their `=`. */
export function secretArgs(args: readonly string[]): ReadonlyMap<number, { readonly flag: string; readonly value: string }> {
  const found = new Map<number, { flag: string; value: string }>();
  for (const [index, arg] of args.entries()) {
    const [flag = '', value] = split(arg);
    const next = args[index + 1];
    if (value !== undefined && isSecretFlag(flag)) found.set(index, { flag, value });
    else if (value === undefined && isSecretFlag(arg) && next !== undefined && !next.startsWith('-'))
      found.set(index + 1, { flag: arg, value: next });
  }
  return found;
}

export function hideArgs(args: readonly string[]): string[] {
  const secret = secretArgs(args);
  return args.map((arg, index) => {
    const found = secret.get(index);
    if (!found) return hideByForm(arg);
    return arg === found.value ? hideValue(arg) : `${found.flag}=${hideValue(found.value)}`;
  });
}

/** Hides secrets in a whole file: `"API_KEY": "…"`, `"--token", "…"` and `"--token=…"`, also across two lines. */
export function hideInText(text: string): string {
  let [before, end] = ['', 0];
  const shown = text.replace(/"((?:[^"\\\n]|\\.)*)"/g, (whole, value: string, at: number) => {
    const between = text.slice(end, at).trim();
    const isNamed = between === ':' && isSecretVariable(before);
    const isFlagged = between === ',' && isSecretFlag(before) && !value.startsWith('-');
    [before, end] = [value, at + whole.length];
    if (isNamed || isFlagged) return `"${hideValue(value)}"`;
    const [flag, carried] = split(value);
    return carried !== undefined && isSecretFlag(flag) ? `"${flag}=${hideValue(carried)}"` : whole;
  });
  return hideByForm(shown);
}

const isSecretFlag = (word: string): boolean => /^--?[A-Za-z]/.test(word) && isSecretVariable(word);

function split(arg: string): [string, string | undefined] {
  const at = arg.indexOf('=');
  return at === -1 ? [arg, undefined] : [arg.slice(0, at), arg.slice(at + 1)];
}
