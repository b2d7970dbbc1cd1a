// `host:port`, with an IPv6 address in brackets.

export interface HostAndPort {
  /** In lower case, an IPv6 address without its brackets. */
  host: string;
  port: number;
}

/** Null when the text is nothing like it, or the port is none. */
export function hostAndPort(text: string): HostAndPort | null {
  const [, host, digits] = /^(\[[0-9a-f:.%]+\]|[^\s:/@[\]]+):(\d{1,5})$/i.exec(text) ?? [];
  const port = Number(digits);
  if (host === undefined || port < 1 || port > 65_535) return null;
  return { host: host.replace(/^\[|\]$/g, '').toLowerCase(), port };
}

/** Whether an entry of HOOKYARD_DELIVERY_ALLOW, `!host:port`, keeps destinations from one port. */
export const isDenied = (entry: string): boolean => entry.startsWith('!');
