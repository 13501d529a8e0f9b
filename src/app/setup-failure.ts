/** Why a switchboard cannot be put together as it is wanted: what kind of failure it is, for programs; words for people; what to do next. */
export class SetupFailure extends Error {
  override readonly name = 'SetupFailure';
  readonly code: 'CONFIG_INVALID' | 'POLICY_INVALID' | 'TOOL_INVALID' | 'RECORD_FILE' | 'LOOP';
  readonly hint: string | undefined;

  constructor(code: SetupFailure['code'], message: string, hint?: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}
