// Saves text as a file through the browser.
export function save(name: string, parts: readonly string[], type: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([...parts], { type }));
  link.download = name.replaceAll(/[^\w.-]/g, '_');
  link.click();
  URL.revokeObjectURL(link.href);
}
