// Params that are no object. The proxy does not guess what they mean where it acts on them.
import { failure, type ProxyError } from '../errors.ts';
import type { Frame } from '../wire/frame.ts';
import { briefOf } from '../wire/scanner/large-frame.ts';

const OPEN_BRACE = 0x7b;
/** The first letter of null, which counts as none. */
const NULL = 0x6e;

export function hasNonObjectParams(frame: Frame): boolean {
  const { bytes, body } = briefOf(frame);
  const first = body && bytes[body.start];
  return first !== undefined && first !== OPEN_BRACE && first !== NULL;
}

export const paramsMustBeObject = (method: string): ProxyError => failure('PARAMS', [method, 'params must be an object']);
