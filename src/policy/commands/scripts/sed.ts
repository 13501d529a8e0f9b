// sed scripts: addresses and the commands whose effects are certain.

export type ScriptEffect = { readonly kind: 'read' | 'write'; readonly path: string } | { readonly kind: 'environment' };
export type ScriptReading = { readonly effects: readonly ScriptEffect[] } | { readonly reason: string };

const ADDRESS = /(?:\d+(?:~\d+)?|\$|[+~]\d+)/y;

class Unclear extends Error {}

/** `s///e`, `e` and whatever GNU and BSD read differently are not understood. */
export function readSed(script: string): ScriptReading {
  try {
    return { effects: scan(script) };
  } catch (error) {
    if (error instanceof Unclear) return { reason: error.message };
    throw error;
  }
}

function scan(script: string): ScriptEffect[] {
  const effects: ScriptEffect[] = [];
  let at = 0;
  let depth = 0;
  const skip = (what: RegExp): string => {
    what.lastIndex = at;
    const found = what.exec(script)?.[0] ?? '';
    at += found.length;
    return found;
  };
  const line = (): string => skip(/[^\n]*/y);
  // Up to an unescaped delimiter. A delimiter in brackets ends the text for some implementations and not for others.
  const until = (delimiter: string, isPattern: boolean): void => {
    for (let isBracket = false; at < script.length; at++) {
      const character = script[at];
      if (character === '\\') {
        if (script[at + 1] === '\n' && isPattern) throw new Unclear('a line break in a pattern');
        at++;
      } else if (character === '\n' && isPattern) throw new Unclear('a line break in a pattern');
      else if (isBracket) {
        if (character === delimiter) throw new Unclear('a delimiter in brackets');
        if (character === ']') isBracket = false;
        else if (character === '[' && /[.:=]/.test(script[at + 1] ?? '')) {
          const name = skipClass(script, at);
          if (name === undefined || delimiter === ':') throw new Unclear('a class in brackets');
          at = name;
        }
      } else if (character === delimiter) {
        at++;
        return;
      } else if (isPattern && character === '[') {
        isBracket = true;
        if (script[at + 1] === '^') at++;
        if (script[at + 1] === ']') at++;
      }
    }
    throw new Unclear('a pattern that does not end');
  };
  const address = (): boolean => {
    if (script[at] === '/') {
      at++;
      until('/', true);
      skip(/[IM]*/y);
      return true;
    }
    if (script[at] === '\\') {
      const delimiter = script[at + 1] ?? '';
      if (!/[,|#@%!_:;]/.test(delimiter)) throw new Unclear('an address with its own delimiter');
      at += 2;
      until(delimiter, true);
      skip(/[IM]*/y);
      return true;
    }
    return skip(ADDRESS) !== '';
  };
  for (;;) {
    skip(/[\s;]*/y);
    if (at >= script.length) break;
    if (script[at] === '#') {
      line();
      continue;
    }
    if (address()) {
      skip(/[ \t]*/y);
      if (script[at] === ',') {
        at++;
        skip(/[ \t]*/y);
        if (!address()) throw new Unclear('half an address');
      }
    }
    skip(/[ \t]*/y);
    skip(/(?:![ \t]*)?/y);
    const command = script[at++] ?? '';
    if (command === '') throw new Unclear('an address without a command');
    if (command === '{') depth++;
    else if (command === '}') depth--;
    else if (/[=dDgGhHnNpPxzF]/.test(command)) skip(/[ \t]*/y);
    else if (/[lqQ]/.test(command)) skip(/[ \t]*\d*/y);
    else if (command === ':') skip(/[ \t]*[\w-]+/y);
    else if (/[btT]/.test(command)) skip(/[ \t]*[\w-]*/y);
    else if (command === 's' || command === 'y') {
      const delimiter = script[at++] ?? '';
      if (!/[^\s\\\w]/.test(delimiter)) throw new Unclear('an unusual delimiter');
      until(delimiter, command === 's');
      until(delimiter, false);
      if (command === 's') {
        skip(/[gpiIM0-9]*/y);
        if (script[at] === 'w') {
          at++;
          effects.push({ kind: 'write', path: fileName(line()) });
        } else if (script[at] === 'e') throw new Unclear('s///e runs a command');
      }
    } else if (/[rRwW]/.test(command)) effects.push({ kind: /[rR]/.test(command) ? 'read' : 'write', path: fileName(line()) });
    else if (/[aic]/.test(command)) {
      if (/\\\s*$/.test(script)) throw new Unclear('a text that does not end');
      // An even number of backslashes does not continue the text.
      for (let text = line(); /(?:^|[^\\])(?:\\\\)*\\$/.test(text); text = line()) at++;
    } else throw new Unclear(`the command "${command}"`);
    if (depth < 0) throw new Unclear('a bracket too many');
    if (command !== '{' && !/^[ \t]*([;\n}]|$)/.test(script.slice(at, at + 80))) throw new Unclear(`what follows "${command}"`);
  }
  if (depth !== 0) throw new Unclear('a bracket that is not closed');
  return effects;
}

/** The end of `[:space:]` inside of brackets; of other classes implementations find the end differently. */
function skipClass(script: string, start: number): number | undefined {
  const found = /^\[:[a-z]+:\]/.exec(script.slice(start, start + 16))?.[0];
  return found === undefined ? undefined : start + found.length - 1;
}

function fileName(text: string): string {
  const name = text.replace(/^[ \t]+/, '');
  if (name === '' || /[};]\s*$/.test(name)) throw new Unclear('a file name that implementations read differently');
  return name;
}
