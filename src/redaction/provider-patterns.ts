// Keys with a recognizable form. Each pattern has a literal that every match contains; the pattern runs only where the literal occurs.

export type Pattern = { readonly literals: readonly string[]; readonly pattern: RegExp; readonly replacement: string };

/** The provider, the literal that every key contains, and the form. */
const FORMS: readonly (readonly [name: string, literal: string | readonly string[], form: string])[] = [
  ['anthropic', 'sk-ant-', 'sk-ant-[\\w-]{20,}'],
  ['openai', 'sk-', 'sk-(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{16,}'],
  ['github', ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], 'gh[pousr]_[A-Za-z0-9]{30,}'],
  ['github', 'github_pat_', 'github_pat_\\w{30,}'],
  ['gitlab', 'glpat-', 'glpat-[\\w-]{20,}'],
  ['google', 'AIza', 'AIza[\\w-]{30,}'],
  ['google', 'ya29.', 'ya29\\.[\\w-]{20,}'],
  ['google', 'GOCSPX-', 'GOCSPX-[\\w-]{20,}'],
  ['aws', ['AKIA', 'ASIA'], '(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])'],
  ['slack', ['xoxa-', 'xoxb-', 'xoxe-', 'xoxp-', 'xoxr-', 'xoxs-'], 'xox[abeprs]-[A-Za-z0-9-]{10,}'],
  ['slack', 'xapp-', 'xapp-\\d-[A-Za-z0-9-]{20,}'],
  ['slack', 'hooks.slack.com', 'hooks\\.slack\\.com/(?:services|workflows)/[\\w/+-]{20,}'],
  ['discord', 'discord', 'discord(?:app)?\\.com/api/webhooks/\\d+/[\\w-]{20,}'],
  ['stripe', ['k_live_', 'k_test_'], '[rsp]k_(?:live|test)_[A-Za-z0-9]{16,}'],
  ['stripe', 'whsec_', 'whsec_[A-Za-z0-9+/=]{20,}'],
  ['sendgrid', 'SG.', 'SG\\.[\\w-]{16,}\\.[\\w-]{16,}'],
  ['npm', 'npm_', 'npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])'],
  ['pypi', 'pypi-Ag', 'pypi-Ag[\\w-]{30,}'],
  ['huggingface', 'hf_', 'hf_[A-Za-z0-9]{30,}'],
  ['replicate', 'r8_', 'r8_[A-Za-z0-9]{30,}'],
  ['groq', 'gsk_', 'gsk_[A-Za-z0-9]{30,}'],
  ['xai', 'xai-', 'xai-[A-Za-z0-9]{40,}'],
  ['perplexity', 'pplx-', 'pplx-[A-Za-z0-9]{30,}'],
  ['jwt', 'eyJ', 'eyJ[\\w-]{10,}\\.[\\w-]{10,}\\.[\\w-]*'],
  ['telegram', ':AA', '\\d{8,10}:AA[\\w-]{33}'],
  ['digitalocean', ['dop_v1_', 'doo_v1_', 'dor_v1_'], 'do[opr]_v1_[a-f0-9]{60,}'],
  ['shopify', ['shpat_', 'shpca_', 'shppa_', 'shpss_'], 'shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}'],
  ['azure', 'AccountKey=', 'AccountKey=[A-Za-z0-9+/]{40,}={0,2}'],
  ['databricks', 'dapi', 'dapi[a-f0-9]{32}'],
  ['linear', 'lin_api_', 'lin_api_[A-Za-z0-9]{30,}'],
  ['notion', 'ntn_', 'ntn_[A-Za-z0-9]{40,}'],
  ['figma', 'figd_', 'figd_[\\w-]{30,}'],
  ['vault', ['hvs.', 'hvb.'], 'hv[sb]\\.[\\w-]{24,}'],
  ['doppler', ['dp.pt.', 'dp.st.', 'dp.ct.'], 'dp\\.(?:pt|st|ct)\\.[A-Za-z0-9._-]{30,}'],
  ['square', ['sq0atp-', 'sq0csp-', 'sq0idp-'], 'sq0(?:atp|csp|idp)-[\\w-]{22,}'],
  ['sentry', 'sntry', 'sntry[su]_[\\w+/=-]{30,}'],
  ['postman', 'PMAK-', 'PMAK-[a-f0-9]{24}-[a-f0-9]{34}'],
  ['supabase', 'sbp_', 'sbp_[a-f0-9]{40}'],
  ['atlassian', 'ATATT3', 'ATATT3[\\w=-]{40,}'],
  ['docker', 'dckr_pat_', 'dckr_pat_[\\w-]{20,}'],
  ['age', 'AGE-SECRET-KEY-1', 'AGE-SECRET-KEY-1[A-Z0-9]{50,}'],
  ['switchboard', 'sbmcp_', 'sbmcp_[\\w-]{40,}'], // session tokens of the host tools: mcp/transports/listeners.ts
  ['bearer', ['earer ', 'EARER '], '(?:Bearer|bearer|BEARER) +[\\w.~+/-]{16,}=*'],
  ['basic', 'Basic ', 'Basic +[A-Za-z0-9+/]{16,}={0,2}'],
];

/** Not in the middle of a word. An escape (`\n`, `%3D`, `\u003d`) before the key does not count as a part of the word. */
export const BEGINNING = '(?:(?<![A-Za-z0-9])|(?<=\\\\[nrtbf])|(?<=%[0-9A-Fa-f]{2})|(?<=\\\\u[0-9A-Fa-f]{4}))';

/** Also matches a truncated key. Inside JSON the lines end in `\n`, inside JSON in JSON in `\\n`. */
const PRIVATE_KEY: Pattern = {
  literals: ['PRIVATE KEY'],
  pattern:
    /-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----(?:[\w\s+/=:,.-]|\\+[nr])*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|(?=[^\w\s+/=:,.\\-])|$)/g,
  replacement: '[redacted:private-key]',
};

/** Not at the start of a key, or too common to identify one. */
const INNER = new Set([
  'hooks.slack.com',
  'discord',
  'k_live_',
  'k_test_',
  ':AA',
  'AccountKey=',
  'dapi',
  'sntry',
  'earer ',
  'EARER ',
  'Basic ',
]);
const BEGINNINGS = FORMS.flatMap(([, literal]) => literal).filter((literal) => !INNER.has(literal));

/** All key prefixes, for a regular expression. */
export const ANY_BEGINNING = BEGINNINGS.map((literal) => literal.replaceAll('.', '\\.')).join('|');
const BEGINNING_OF_KEY = `((?:^|[^A-Za-z0-9]))(?:${ANY_BEGINNING})`;

/** The start of a key at the end of a truncated text, and a start long enough to be nothing but a key. */
export const CUT_FORM = new RegExp(`${BEGINNING_OF_KEY}[\\w.+/=-]*$`);
export const LONG_CUT_FORM = new RegExp(`${BEGINNING_OF_KEY}[\\w.+/=-]{8,}$`);

/** The provider whose keys start like this. */
export const nameOfBeginning = (beginning: string): string | undefined =>
  FORMS.find(([, literal]) => [literal].flat().includes(beginning))?.[0];

export const PROVIDER_PATTERNS: readonly Pattern[] = [
  PRIVATE_KEY,
  ...FORMS.map(([name, literal, form]) => ({
    literals: typeof literal === 'string' ? [literal] : literal,
    // The first letters again as a lookahead: the engine then skips quickly to where they occur.
    pattern: new RegExp(`(?=${/^\w{0,2}/.exec(form)?.[0]})${BEGINNING}(?:${form})`, 'g'),
    replacement: `[redacted:${name}]`,
  })),
];
