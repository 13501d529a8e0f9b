/** Why the registry, an archive or an installation was refused, and what to do next. */
export class RegistryError extends Error {
  override readonly name = 'RegistryError';
  readonly next: string;
  /** For programs. */
  readonly code: RegistryCode;

  constructor(code: RegistryCode, message: string, next: string) {
    super(message);
    this.code = code;
    this.next = next;
  }
}

export type RegistryCode =
  | 'REGISTRY_UNREACHABLE'
  | 'REGISTRY_INVALID'
  | 'NOT_INSTALLABLE'
  | 'UNVERIFIED'
  | 'CHECKSUM'
  | 'ARCHIVE_UNSAFE'
  | 'INSTALL_FAILED';
