/** Saves something as a file. Its type keeps it from being opened in the browser, where it could run as a page. */
export function save(content: BlobPart, name: string): void {
  const url = URL.createObjectURL(new Blob([content], { type: 'application/octet-stream' }));
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  // Some browsers read it only later.
  setTimeout(() => URL.revokeObjectURL(url), 0);
}
