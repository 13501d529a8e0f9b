// Secrets without a recognizable form. The preceding text identifies them: an option, a header, an address, an assignment.
import { BEGINNING, type Pattern } from './provider-patterns.ts';

const WORD = '(?:token|secret|passw(?:or)?d|passphrase|api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|account[_-]?key)';
/** Placeholders in the position of a secret: a variable, a masked value, an earlier redaction. */
const PLACEHOLDER = '(?![$<{[(*%]|x{4,}|\\.{3})';

function context(literals: readonly string[], before: string, secret: string, after = '', flags = 'gi'): Pattern {
  return {
    literals,
    pattern: new RegExp(`(${before})${PLACEHOLDER}(?:${secret})${after === '' ? '' : `(${after})`}`, flags),
    replacement: `$1[redacted]${after === '' ? '' : '$2'}`,
  };
}

const either = (...words: readonly string[]): string[] => words.flatMap((word) => [word, word.toUpperCase()]);

export const CONTEXT_PATTERNS: readonly Pattern[] = [
  // --token X, --api-key=X, also as elements of a list
  context(
    ['-token', '-key', '-secret', '-password', '-passwd', '-passphrase', '-apikey'],
    `(?:(?<![\\w-])|(?<=\\\\[nrtbf]))--?(?:[a-z0-9]+-)*${WORD}(?:\\s+|=|\\\\*["']\\s*,\\s*\\\\*["'])["']?`,
    '[^\\s"\'\\\\,-][^\\s"\'\\\\,]{3,}',
  ),
  // scheme://user:password@host, and a lone token before the @
  context(['://'], ':\\/\\/[^\\s\\/:@"\'<>]{0,200}:', '[^\\s\\/@"\'<>]{3,500}', '@'),
  context(['://'], ':\\/\\/', '[^\\s\\/:@"\'<>]{20,500}', '@'),
  // ?token=X, #access_token=X
  context(
    ['oken=', 'key=', 'Key=', 'ecret=', 'assword=', 'asswd=', 'pwd=', 'signature=', 'Signature=', 'sig=', 'jwt=', 'redential='],
    `[?&#;](?:[\\w.-]*[_-])?(?:[a-z]*${WORD}|key|sig|signature|jwt|pwd|credential)=`,
    '[^&\\s"\'#<>\\\\]{6,}',
  ),
  // ?code=X: the answer to a login. The short codes that people type in are no secrets for long, and needed by them.
  context(
    ['code=', 'session=', 'session_id=', 'sessionid=', 'sid=', 'ticket=', 'auth=', 'otp='],
    '[?&#;](?:code|auth_code|session|session_?id|sid|ticket|auth|otp)=',
    '[^&\\s"\'#<>\\\\]{16,}',
  ),
  // https://host/#X, a token alone: long hexadecimal digits, or capitals, small letters and digits. Headings and generated anchors differ.
  context(
    ['://'],
    ':\\/\\/[^\\s"\'<>#]{1,500}#',
    '(?:[0-9a-f]{40,}|(?=[^\\s"\'<>]*\\d)(?=[^\\s"\'<>]*[A-Z])(?=[^\\s"\'<>]*[a-z])[\\w~+/.-]{32,}={0,2})(?![\\w=&-])',
  ),
  // Authorization: X, Cookie: X, X-Api-Key: X
  context(
    either('uthorization'),
    '(?:proxy-)?authorization\\\\*["\']?\\s*[:=]\\s*\\\\*["\']?(?:(?:basic|token|digest)\\s+)?',
    '[^\\s"\',;\\\\]{12,}',
  ),
  context(either('ookie: '), '(?:set-)?cookie: ', '[^\\r\\n"\'\\\\]*=[^\\r\\n"\'\\\\]{8,}'),
  context(either('-key', '-token', '-secret'), 'x-(?:[a-z]+-)*(?:key|token|secret)\\\\*["\']?\\s*:\\s*\\\\*["\']?', '[^\\s"\',\\\\]{8,}'),
  // API_KEY=X in a shell, a .env file or a log; upper case only, because source code is full of token=…
  context(
    ['KEY', 'TOKEN', 'SECRET', 'PASSWORD', 'PASSWD', '_PASS', '_PAT', 'CREDENTIALS'],
    `${BEGINNING}[A-Z][A-Z0-9_]*(?:_KEY|APIKEY|TOKEN|SECRET|PASSWORD|PASSWD|_PASS|_PAT|CREDENTIALS)=\\\\*["']?`,
    '(?=[^\\s"\'\\\\]*[\\d!-/:-@])[^\\s"\'&;|<>$(){}\\\\,]{8,}',
    '',
    'g',
  ),
  // "api_key": "X" in JSON inside a string, at any escaping depth
  context(
    ['token', 'Token', 'ecret', 'assword', 'asswd', 'passphrase', 'key', 'Key'].flatMap((word) => [`${word}"`, `${word}\\`]),
    `\\\\*"(?:[\\w-]*[_-])?${WORD}\\\\*"\\s*:\\s*\\\\*"`,
    '(?=[^"\\\\]*\\d)[^"\\\\\\s]{12,}',
  ),
  // aws_secret_access_key = X
  context(
    ['ecret_access_key', 'SECRET_ACCESS_KEY', 'ecretAccessKey'],
    'secret_?access_?key\\\\*["\']?\\s*[:=]\\s*\\\\*["\']?',
    '[A-Za-z0-9+/]{40}',
  ),
];
