// awk programs: patterns, print, printf, fields and arithmetic. Whatever opens a file, a pipe or a program is not understood.
import type { ScriptReading } from './sed.ts';

const BEYOND = /^(getline|system|close|fflush|function|func|ARGV|ARGC|ARGIND|FUNCTAB|SYMTAB|PROCINFO|load|include|namespace|extension)$/;
const TOKEN = /\s*(?:"|[A-Za-z_]\w*|\d[\w.]*|\|\||&&|>=|<=|==|!=|!~|\n|[^\s])/gy;
const NUMBER = /^\d+\.?\d*(?:[eE]\d+)?$/;
/** After these a slash begins a pattern. */
const BEFORE_PATTERN = /^$|^[{(,;!~}&|?:=<>*%^\n]$|^(\|\||&&|!=|==|<=|>=|!~|print|printf|return|in|else|do|case)$/;
/** After these it divides. After anything else it may do either: `if (x) /y/`, `(x) / y`, `i++ / 2`, `exit /y/`. */
const BEFORE_DIVISION =
  /^(?:\]|"|\d[\w.]*|(?!(?:BEGIN|END|BEGINFILE|ENDFILE|if|while|for|exit|next|nextfile|delete|switch|default|break|continue)$)[A-Za-z_]\w*)$/;

export function readAwk(program: string): ScriptReading {
  let isEnvironment = false;
  let isPrinting = false;
  let before = '';
  let at = 0;
  while (at < program.length) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(program)?.[0];
    if (found === undefined) break;
    at += found.length;
    const token = found.trim();
    if (token === '"') {
      const end = endOf(program, at, '"');
      if (end === undefined) return { reason: 'a string that does not end' };
      at = end;
    } else if (token === '/' && BEFORE_PATTERN.test(before)) {
      const end = endOf(program, at, '/');
      if (end === undefined) return { reason: 'a pattern that does not end' };
      at = end;
    } else if (token === '/' && !BEFORE_DIVISION.test(before)) return { reason: 'a slash that may begin a pattern' };
    // awk reads `1system("id")` as a number and a call.
    else if (/^\d/.test(token) && !NUMBER.test(token)) return { reason: `the number "${token}"` };
    else if (/^[|@#`'\\]$/.test(token) || BEYOND.test(token)) return { reason: `"${token}"` };
    else if (token === '>' && isPrinting) return { reason: 'it prints to a file' };
    else if (token === 'ENVIRON') isEnvironment = true;
    else if (token === 'print' || token === 'printf') isPrinting = true;
    // A line break does not end it: after a comma the statement goes on.
    else if (/^[;{}]$/.test(token)) isPrinting = false;
    before = token;
  }
  return { effects: isEnvironment ? [{ kind: 'environment' }] : [] };
}

// A slash in brackets ends a pattern in some versions and not in others.
function endOf(program: string, start: number, quote: '"' | '/'): number | undefined {
  let isBracket = false;
  for (let at = start; at < program.length; at++) {
    const character = program[at];
    if (character === '\\') at++;
    else if (character === '\n') return undefined;
    else if (quote === '/' && character === '[') isBracket = true;
    else if (isBracket && character === ']') isBracket = false;
    else if (character === quote) return isBracket ? undefined : at + 1;
  }
  return undefined;
}
