// Text that becomes a file of the person's, through the browser's own way of saving.
export function save(name: string, parts: readonly string[], type: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([...parts], { type }));
  link.download = name.replaceAll(/[^\w.-]/g, '_');
  link.click();
  URL.revokeObjectURL(link.href);
}
