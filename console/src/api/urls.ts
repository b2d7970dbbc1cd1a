// The server sets the base of the page to where the console is (`https://host/some/path/console/`); the API is one step
// up.
const base = new URL('.', document.baseURI);

/** Where the console is. */
export const consoleUrl = base.href;
/** Where the console is, as a path without its last slash. */
export const consolePath = base.pathname.replace(/\/$/, '');
/** Where the API is, without its last slash. */
export const apiUrl = new URL('..', base).href.replace(/\/$/, '');

/** Whether the host is of this machine or of a private network. */
export function isPrivate(url: string): boolean {
  const { hostname } = new URL(url);
  return /^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|\[(::1|f[cd]|fe80))/.test(hostname);
}
