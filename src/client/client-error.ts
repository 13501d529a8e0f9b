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
