// A short hash of a text, for caches. Loading Node's crypto module takes a tenth of the start-up time. Collisions can be constructed, so
// trust decisions use SHA-256 instead.

/** 106 bits, as letters and digits. */
export function fingerprint(text: string): string {
  return mix(text, 0x9e3779b9) + mix(text, 0x51ed270b);
}

/** Two multiplications per character, in two halves that are mixed at the end; 53 bits fit into a number. */
function mix(text: string, seed: number): string {
  let a = 0xdeadbeef ^ seed;
  let b = 0x41c6ce57 ^ seed;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    a = Math.imul(a ^ c, 0x9e3779b1);
    b = Math.imul(b ^ c, 0x5f356495);
  }
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  return ((b >>> 11) * 2 ** 32 + (a >>> 0)).toString(36).padStart(11, '0');
}
