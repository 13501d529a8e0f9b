// Paths that Windows reads as something other than files.

const RESERVED = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;

export function fileProblem(file: string): string | undefined {
  if (/^[\\/]{2}/.test(file)) return 'path must begin with a drive: shares and devices are not served';
  if (!/^[A-Za-z]:[\\/]/.test(file)) return 'path must begin with a drive';
  const inner = file
    .split(/[\\/]/)
    .slice(1)
    .filter((name) => name !== '' && name !== '.' && name !== '..');
  if (inner.some((name) => name.includes(':'))) return 'path names a stream of a file';
  if (inner.some((name) => /[ .]$/.test(name))) return 'path has a name that ends in a dot or a space';
  if (inner.some((name) => RESERVED.test(name.trimEnd()))) return 'path has the name of a device';
  return undefined;
}
