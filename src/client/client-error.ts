/** The error that the peer answered with, or the one to answer the peer with. */
export class ClientError extends Error {
  override readonly name: string = 'ClientError';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The connection ended before the peer answered. */
export class ConnectionEnded extends ClientError {
  constructor() {
    super(-32603, 'the connection has ended');
  }
}

// Many agents answer "Internal error" and put the reason into `data`.
export const DETAIL_CHARACTERS = 500;

/** The message of an error, with the detail in its data unless the message has it. */
export function withDetail(message: string, data: unknown): string {
  const { details, message: inner } = (data ?? {}) as { readonly details?: unknown; readonly message?: unknown };
  const detail = [data, details, inner].find((one) => typeof one === 'string')?.trim();
  if (!detail || message.includes(detail)) return message;
  return `${message}: ${detail.length > DETAIL_CHARACTERS ? `${detail.slice(0, DETAIL_CHARACTERS)}…` : detail}`;
}
