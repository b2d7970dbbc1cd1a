// The one-time code of a sign-in link, `#code=...`: a fragment is never sent to a server, nor to the next page.

/** Takes the code out of the address, so that it stays in no history. */
export function takeCode(): string | null {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  if (code !== null) history.replaceState(null, '', location.pathname + location.search);
  return code;
}
