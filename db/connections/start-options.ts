// What the server sets when a connection starts (PostgreSQL manual, 54.2.1 and 19.1.4).

/**
 * Ours besides those of the URL. node-postgres takes only one of the two, that of the URL, so it gets a URL without.
 * @param own of the service, `-c name=value`; later ones count, so they come behind the operator's
 */
export function startOptions(databaseUrl: string, own: readonly string[]): { url: string; options: string } {
  const url = new URL(databaseUrl);
  const given = url.searchParams.get('options') ?? '';
  const options = [given, ...own].filter((each) => each !== '').join(' ');
  if (given === '') return { url: databaseUrl, options };
  url.searchParams.delete('options');
  return { url: url.href, options };
}
