// CRC-32 as zip and gzip use it; Node 20 has none.
const TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

export function createCrc32() {
  let state = 0xffffffff;
  return {
    update(bytes: Uint8Array): void {
      for (let at = 0; at < bytes.length; at++) state = (TABLE[(state ^ (bytes[at] as number)) & 0xff] as number) ^ (state >>> 8);
    },
    value: (): number => (state ^ 0xffffffff) >>> 0,
  };
}
