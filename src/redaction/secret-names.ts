// Decides by its name whether a value is secret: environment variables, JSON keys, headers, command options.

/** Normalizes a name to words between underscores: `apiKey`, `X-Api-Key` and `API_KEY` become one. */
const words = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .toLowerCase();

const SECRET =
  /(?:^|_)(?:(?:api|access|secret|private|signing|encryption|account|auth|master|service|deploy|shared|ssh|license|storage)_?keys?(?:_id)?|[a-z0-9]*token|[a-z0-9]*secret|passw(?:or)?d|passwd|passphrase|pass|pat|pwd|credentials?|authorization|auth|cookies?|jwt|bearer|dsn|connection_?string|webhook_?url|otp)(?:_(?:base64|b64|value|raw|header|string|\d+))?$/;
/** A variable with this ending usually holds a secret, and redacting its value costs nothing. */
const VARIABLE = /(?:^|_)(?:key|cert|signature|session)$/;
const HARMLESS =
  /(?:^|_)(?:progress|page|continuation|next|eos|bos|pad|stop|end|start)_?token$|^(?:old|o)_?pwd$|^pwd$|^xauthority$|^ssh_auth_sock$/;

/** Messages repeat the same keys. */
const secretByName = new Map<string, boolean>();
const MAX_CACHED_NAMES = 2000;

/** Whether a JSON key, header or option of this name holds a secret. */
export function isSecretName(name: string): boolean {
  if (name.length > 100) return false;
  const before = secretByName.get(name);
  if (before !== undefined) return before;
  const normal = words(name);
  const isSecret = SECRET.test(normal) && !HARMLESS.test(normal);
  if (secretByName.size < MAX_CACHED_NAMES) secretByName.set(name, isSecret);
  return isSecret;
}

/** Whether an environment variable of this name holds a secret; stricter than for keys. */
export function isSecretVariable(name: string): boolean {
  return isSecretName(name) || VARIABLE.test(words(name));
}

const COMMON_VARIABLE =
  /^(?:PATH|HOME|PWD|OLDPWD|SHELL|USER|USERNAME|LOGNAME|HOST|HOSTNAME|LANG|LANGUAGE|LC_\w+|TERM|TERM_\w+|COLORTERM|TZ|TMP|TEMP|TMPDIR|EDITOR|VISUAL|PAGER|DISPLAY|NODE_ENV|NODE_OPTIONS|RUST_LOG|DEBUG|LOG_LEVEL|XDG_\w+|APPDATA|LOCALAPPDATA|\w+_(?:HOME|DIR|PATH|ROOT|FILE|FOLDER))$/i;
const COMMON_VALUE = /^(?:true|false|null|none|undefined|enabled|disabled|redacted|production|development|staging|localhost|[\d.,:_-]+)$/i;

/** A setting: its name says so, and its value is up to three plain words, such as `openai-compatible`. */
const SETTING = /(?:^|_)(?:provider|model|mode|type|kind|level|region|backend|engine|format|theme|channel|environment)$/i;
const PLAIN_WORDS = /^[A-Za-z]?[a-z]{1,13}(?:[-_ ][A-Za-z]?[a-z]{1,13}){0,2}$/;

/** A value that ordinary text contains all the time: redacting it would ruin the text and protect nothing. */
export function isCommonValue(name: string, value: string): boolean {
  if (COMMON_VALUE.test(value)) return true;
  return COMMON_VARIABLE.test(name) ? !isSecretName(name) : SETTING.test(name) && PLAIN_WORDS.test(value);
}
