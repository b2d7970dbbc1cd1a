/** Whether a key is for a field, a dialog or the browser, and not for the page. */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return true;
  const target = event.target as HTMLElement | null;
  return target?.closest('input, textarea, select, [contenteditable], [role="dialog"], [role="menu"]') != null;
}
