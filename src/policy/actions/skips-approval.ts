// Whether an agent's own words about a mode or an option say that it no longer asks. Unknown agents describe such modes in much the same words;
// a wrong guess costs one question to the user.

const SKIPS: readonly RegExp[] = [
  /\bauto(?:matic(?:ally)?)?[\s_-]*(?:approv|accept|allow|confirm|run)/i,
  /\b(?:approv|accept|allow|grant|permit)(?:s|es|ed|ing)?\s+(?:all|every|any)/i,
  /\ballow[\s_-]?all\b/i,
  /\b(?:skip|bypass|ignor|disabl|suppress|omit)\w*\s+(?:\w+\s+){0,3}(?:approv|permission|confirm|prompt|check|safety|review)/i,
  /\bbypass[\s_-]?permissions?\b/i,
  /\b(?:without|no)\s+(?:\w+\s+){0,3}(?:asking|approv|permission|confirm|prompt|user interaction|human)/i,
  /\b(?:never|don'?t|do(?:es)? not|no longer|stops?|won'?t|not)\s+(?:\w+\s+)?(?:ask|prompt|confirm|request)/i,
  /\b(?:handles?|makes?|takes?|decides?)\s+(?:\w+\s+){0,2}(?:permission|approval)s?\b/i,
  /\bonly\s+asks?\b/i,
  /\byolo\b/i,
  /\bfull[\s_-]?(?:access|auto)\b/i,
  /\bunrestricted\b/i,
  /\bdanger(?:ous|ously)?[\s_-]/i,
];

/** Sentences that deny it: "Does not skip approval", "ask before…" alone. */
const KEEPS = /\b(?:never|not|doesn'?t|don'?t|without)\s+(?:\w+\s+)?(?:skip|bypass|auto)/i;

export function skipsApproval(...texts: readonly (string | undefined)[]): boolean {
  return texts.some((text) => text !== undefined && !KEEPS.test(text) && SKIPS.some((pattern) => pattern.test(text)));
}
