// jq and yq programs: which of them read nothing but their input.
import type { ScriptReading } from './sed.ts';

/** Functions that reach beyond the input: modules, other files, the environment, other code. */
const BEYOND = /^(import|include|modulemeta|load\w*|strload\w*|eval|system|envsubst\w*|get_search_list)$/;
/** yq has several names for these, and takes `orload("x")` for `or` and `load("x")`. */
const CALL_BEYOND = /^[A-Za-z_]\w*(?:load|env|eval|system)|^(?:load|env|eval|system)/i;
const ENVIRONMENT = /^(\$ENV|env|strenv|\$__prog_args)$/;
const TOKEN = /"|\.?[A-Za-z_]\w*|\$[A-Za-z_]\w*|::|[^"]/gy;

export function readJq(program: string): ScriptReading {
  let isEnvironment = false;
  // For each open interpolation of a string, the depth of brackets in it.
  const open: number[] = [];
  let at = 0;
  while (at < program.length) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(program)?.[0] ?? '';
    if (token === '') return { reason: 'a character that is not understood' };
    at += token.length;
    if (token === '"') {
      const end = endOfString(program, at);
      if (end === undefined) return { reason: 'a string that does not end' };
      at = end.at;
      if (end.isInterpolation) open.push(0);
    } else if (token === '#') return { reason: 'a comment' };
    // `$ ENV` is a variable too.
    else if (token === '::' || token === '$' || BEYOND.test(token)) return { reason: `"${token}"` };
    else if (ENVIRONMENT.test(token)) isEnvironment = true;
    else if (CALL_BEYOND.test(token) && /^\s*\(/.test(program.slice(at, at + 80))) return { reason: `"${token}("` };
    else if (open.length > 0 && token === '(') open.push((open.pop() ?? 0) + 1);
    else if (open.length > 0 && token === ')') {
      const depth = open.pop() ?? 0;
      if (depth > 0) open.push(depth - 1);
      else {
        // The interpolation is over: on with its string.
        const end = endOfString(program, at);
        if (end === undefined) return { reason: 'a string that does not end' };
        at = end.at;
        if (end.isInterpolation) open.push(0);
      }
    }
  }
  return { effects: isEnvironment ? [{ kind: 'environment' }] : [] };
}

function endOfString(program: string, start: number): { readonly at: number; readonly isInterpolation: boolean } | undefined {
  for (let at = start; at < program.length; at++) {
    if (program[at] === '\\') {
      if (program[at + 1] === '(') return { at: at + 2, isInterpolation: true };
      at++;
    } else if (program[at] === '"') return { at: at + 1, isInterpolation: false };
  }
  return undefined;
}
