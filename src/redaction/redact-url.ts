// Addresses carry secrets in their userinfo, query and fragment. Where a field is an address, every value there counts as one.

const REDACTED = '[redacted]';
const ADDRESS = /^([a-z][a-z0-9+.-]*:\/\/)(?:([^/?#\s]*)@)?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/is;
/** Of a heading or of lines: page#usage, file#L10-L20. */
const ANCHOR = /^(?:[A-Za-z_.-]*|L\d+(?:-L?\d+)?)$/;

/** The address with its values replaced; a text that is no address stays as it is. */
export function redactUrl(text: string): string {
  const [, scheme, userinfo, place, query, fragment] = ADDRESS.exec(text) ?? [];
  if (scheme === undefined || (userinfo === undefined && query === undefined && fragment === undefined)) return text;
  const user = userinfo === undefined || userinfo === '' ? '' : `${REDACTED}@`;
  const search = query === undefined ? '' : `?${values(query)}`;
  const hash = fragment === undefined ? '' : `#${ANCHOR.test(fragment) ? fragment : values(fragment)}`;
  return `${scheme}${user}${place}${search}${hash}`;
}

/** `a=1&b` becomes `a=[redacted]&[redacted]`. */
function values(pairs: string): string {
  return pairs
    .split('&')
    .map((pair) => {
      const [name = '', value] = splitOnce(pair);
      if (value === undefined) return name === '' ? '' : REDACTED;
      return value === '' ? pair : `${name}=${REDACTED}`;
    })
    .join('&');
}

function splitOnce(pair: string): readonly [string, string | undefined] {
  const at = pair.indexOf('=');
  return at === -1 ? [pair, undefined] : [pair.slice(0, at), pair.slice(at + 1)];
}
