// Locates the members of a JSON object in its text: an independent check of src/wire, written without looking there.

export type Place = { readonly key: string; readonly start: number; readonly end: number };

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** The members of the object that begins at or behind `at`. */
export function membersOf(json: string, at = 0): Place[] {
  const found: Place[] = [];
  let depth = 0;
  let key: string | undefined;
  let start = -1;
  let end = -1;
  const finish = () => {
    if (key !== undefined && start >= 0) found.push({ key, start, end });
    key = undefined;
    start = -1;
  };
  TOKEN.lastIndex = json.indexOf('{', at);
  for (let token = TOKEN.exec(json); token; token = TOKEN.exec(json)) {
    const [text] = token;
    const closes = text === '}' || text === ']';
    if (closes) depth--;
    if (depth === 0) {
      if (closes) finish();
      if (closes) return found;
    } else if (depth === 1 && !closes) {
      if (text === ',') finish();
      else if (key === undefined) key = JSON.parse(text);
      else if (text !== ':') {
        if (start < 0) start = token.index;
        end = token.index + text.length;
      }
    } else end = token.index + text.length;
    if (text === '{' || text === '[') {
      depth++;
      end = token.index + 1;
    }
  }
  throw new Error(`not an object: ${json.slice(0, 100)}`);
}

/** The text of a member, in any spelling. */
export function tokenOf(json: string, ...path: readonly string[]): string | undefined {
  const place = placeOf(json, path);
  return place && json.slice(place.start, place.end);
}

export function withToken(json: string, path: readonly string[], token: string): string {
  const place = placeOf(json, path);
  return place ? json.slice(0, place.start) + token + json.slice(place.end) : json;
}

function placeOf(json: string, path: readonly string[]): Place | undefined {
  let at = 0;
  let place: Place | undefined;
  for (const key of path) {
    if (place && json[place.start] !== '{') return undefined;
    place = membersOf(json, at).find((member) => member.key === key);
    if (!place) return undefined;
    at = place.start;
  }
  return place;
}

/**
 * Replaces request ids by the index of the request in the conversation: the one thing that may differ behind a proxy. Ids of responses
 * stay, because they must return exactly as they were sent.
 */
export function withoutRequestIds(lines: readonly string[]): string[] {
  const ordinals = new Map<string, number>();
  let count = 0;
  return lines.map((line) => {
    const method = tokenOf(line, 'method');
    const id = tokenOf(line, 'id');
    if (method !== undefined && id !== undefined) {
      ordinals.set(id, count);
      return withToken(line, ['id'], `<request ${count++}>`);
    }
    const named = method && JSON.parse(method) === '$/cancel_request' ? tokenOf(line, 'params', 'requestId') : undefined;
    return named === undefined ? line : withToken(line, ['params', 'requestId'], `<request ${ordinals.get(named)}>`);
  });
}
