// The buffer at hand, for reading several bytes at once. There is one at a time: a chunk is worked through before the next one comes.
import { forgetStrings } from './long-strings.ts';

const NOTHING = Buffer.alloc(0);
const NO_VIEW = new DataView(new ArrayBuffer(0));
let viewed: Buffer = NOTHING;
let view: DataView = NO_VIEW;

export function viewOf(bytes: Buffer): DataView {
  if (viewed !== bytes) {
    viewed = bytes;
    view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }
  return view;
}

/** Lets go of the buffer looked at last; worth a call after a large one. */
export function forgetView(): void {
  viewed = NOTHING;
  view = NO_VIEW;
  forgetStrings();
}
