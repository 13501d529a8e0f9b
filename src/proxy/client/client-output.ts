// Writes to the client. Lines that can wait are written before anything else is.
import type { Frame } from '../../wire/frame.ts';
import type { FrameBatch } from '../../wire/scanner/frame-batch.ts';
import { inOrder, type Patch, type Writer } from '../../wire/writer.ts';

export class ClientOutput {
  readonly #writer: Writer;
  #delayed: (() => string)[] | undefined;

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  frame(frame: Frame, patches: readonly Patch[]): void {
    if (this.#delayed !== undefined) this.flush();
    this.#writer.frame(frame, patches.length > 1 ? inOrder(patches) : patches);
  }

  batch(batch: FrameBatch): void {
    if (this.#delayed !== undefined) this.flush();
    this.#writer.batch(batch);
  }

  line(line: string): void {
    if (this.#delayed !== undefined) this.flush();
    this.#writer.line(line);
  }

  /** True for the first line that waits. */
  later(make: () => string): boolean {
    this.#delayed?.push(make);
    if (this.#delayed) return false;
    this.#delayed = [make];
    return true;
  }

  flush(): void {
    const lines = this.#delayed ?? [];
    this.#delayed = undefined;
    for (const make of lines) this.#writer.line(make());
  }
}
